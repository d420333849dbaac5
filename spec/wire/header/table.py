"""Which record a request and its answer carry, by request code.

Every code of 4.9.3 that the reference serves is here; an operation without fields of its own
maps to the empty record. An answer's record stands for the answer that did what was asked: for
sends every result that means stored, for pulls the results 0, 19, 20 and 21. An error reply of a
pull has no fields at all, that of a send has the marks for tracing.
"""

from collections.abc import Mapping
from typing import Final

from spec.wire.code import LaterRequestCode, RequestCode
from spec.wire.header import access, admin, client, nameserver, offset, pull, send, transaction
from spec.wire.header.codec import CustomHeader, HeaderCodec

NO_FIELDS: Final = HeaderCodec(CustomHeader)
_CONSUMER_GROUP: Final = HeaderCodec(client.ConsumerGroupHeader)
_QUEUE: Final = HeaderCodec(offset.QueueHeader)
_PULL: Final = HeaderCodec(pull.PullMessageHeader)
_TOPIC: Final = HeaderCodec(admin.TopicHeader)
_OFFSET_ANSWER: Final = HeaderCodec(offset.OffsetResponseHeader)
_SEND_ANSWER: Final = HeaderCodec(send.SendMessageResponseHeader)
_PULL_ANSWER: Final = HeaderCodec(pull.PullMessageResponseHeader)

REQUEST_HEADERS: Final[Mapping[int, HeaderCodec[CustomHeader]]] = {
    RequestCode.SEND_MESSAGE: send.SEND_LONG,
    RequestCode.SEND_MESSAGE_V2: send.SEND_SHORT,
    RequestCode.SEND_BATCH_MESSAGE: send.SEND_SHORT,
    RequestCode.SEND_REPLY_MESSAGE: send.SEND_LONG,
    RequestCode.SEND_REPLY_MESSAGE_V2: send.SEND_SHORT,
    RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT: HeaderCodec(send.ReplyMessageHeader),
    RequestCode.END_TRANSACTION: HeaderCodec(transaction.EndTransactionHeader),
    RequestCode.CHECK_TRANSACTION_STATE: HeaderCodec(transaction.CheckTransactionStateHeader),
    RequestCode.RESUME_CHECK_HALF_MESSAGE: HeaderCodec(transaction.ResumeCheckHeader),
    RequestCode.PULL_MESSAGE: _PULL,
    LaterRequestCode.LITE_PULL_MESSAGE: _PULL,
    RequestCode.VIEW_MESSAGE_BY_ID: HeaderCodec(pull.ViewMessageHeader),
    RequestCode.QUERY_MESSAGE: HeaderCodec(pull.QueryMessageHeader),
    RequestCode.QUERY_CONSUMER_OFFSET: HeaderCodec(offset.QueryConsumerOffsetHeader),
    RequestCode.UPDATE_CONSUMER_OFFSET: HeaderCodec(offset.UpdateConsumerOffsetHeader),
    RequestCode.SEARCH_OFFSET_BY_TIMESTAMP: HeaderCodec(offset.SearchOffsetHeader),
    RequestCode.GET_MAX_OFFSET: _QUEUE,
    RequestCode.GET_MIN_OFFSET: _QUEUE,
    RequestCode.GET_EARLIEST_MSG_STORETIME: _QUEUE,
    RequestCode.RESET_CONSUMER_CLIENT_OFFSET: HeaderCodec(offset.ResetOffsetHeader),
    RequestCode.INVOKE_BROKER_TO_RESET_OFFSET: HeaderCodec(offset.ResetOffsetHeader),
    RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT: HeaderCodec(offset.ConsumerStatusHeader),
    RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS: HeaderCodec(offset.ConsumerStatusHeader),
    RequestCode.QUERY_CORRECTION_OFFSET: HeaderCodec(offset.CorrectionOffsetHeader),
    RequestCode.CLONE_GROUP_OFFSET: HeaderCodec(offset.CloneGroupOffsetHeader),
    RequestCode.UNREGISTER_CLIENT: HeaderCodec(client.UnregisterClientHeader),
    RequestCode.CONSUMER_SEND_MSG_BACK: HeaderCodec(client.SendBackHeader),
    RequestCode.GET_CONSUMER_LIST_BY_GROUP: _CONSUMER_GROUP,
    RequestCode.NOTIFY_CONSUMER_IDS_CHANGED: _CONSUMER_GROUP,
    RequestCode.GET_CONSUMER_CONNECTION_LIST: _CONSUMER_GROUP,
    RequestCode.GET_PRODUCER_CONNECTION_LIST: HeaderCodec(client.ProducerGroupHeader),
    RequestCode.GET_CONSUMER_RUNNING_INFO: HeaderCodec(client.ConsumerRunningInfoHeader),
    RequestCode.CONSUME_MESSAGE_DIRECTLY: HeaderCodec(client.ConsumeDirectlyHeader),
    RequestCode.PUT_KV_CONFIG: HeaderCodec(nameserver.PutKvConfigHeader),
    RequestCode.GET_KV_CONFIG: HeaderCodec(nameserver.KvKeyHeader),
    RequestCode.DELETE_KV_CONFIG: HeaderCodec(nameserver.KvKeyHeader),
    RequestCode.GET_KVLIST_BY_NAMESPACE: HeaderCodec(nameserver.NamespaceHeader),
    RequestCode.REGISTER_BROKER: HeaderCodec(nameserver.RegisterBrokerHeader),
    RequestCode.UNREGISTER_BROKER: HeaderCodec(nameserver.BrokerIdentityHeader),
    RequestCode.QUERY_DATA_VERSION: HeaderCodec(nameserver.BrokerIdentityHeader),
    RequestCode.GET_ROUTEINFO_BY_TOPIC: HeaderCodec(nameserver.RouteHeader),
    RequestCode.DELETE_TOPIC_IN_NAMESRV: HeaderCodec(nameserver.DeleteRouteHeader),
    RequestCode.WIPE_WRITE_PERM_OF_BROKER: HeaderCodec(nameserver.BrokerNameHeader),
    RequestCode.ADD_WRITE_PERM_OF_BROKER: HeaderCodec(nameserver.BrokerNameHeader),
    RequestCode.GET_TOPICS_BY_CLUSTER: HeaderCodec(nameserver.ClusterHeader),
    RequestCode.UPDATE_AND_CREATE_TOPIC: HeaderCodec(admin.CreateTopicHeader),
    RequestCode.DELETE_TOPIC_IN_BROKER: _TOPIC,
    RequestCode.GET_TOPIC_STATS_INFO: _TOPIC,
    RequestCode.QUERY_TOPIC_CONSUME_BY_WHO: _TOPIC,
    RequestCode.DELETE_SUBSCRIPTIONGROUP: HeaderCodec(admin.DeleteGroupHeader),
    RequestCode.GET_CONSUME_STATS: HeaderCodec(admin.ConsumeStatsHeader),
    RequestCode.QUERY_CONSUME_TIME_SPAN: HeaderCodec(admin.TopicGroupHeader),
    RequestCode.VIEW_BROKER_STATS_DATA: HeaderCodec(admin.BrokerStatsHeader),
    RequestCode.GET_BROKER_CONSUME_STATS: HeaderCodec(admin.BrokerConsumeStatsHeader),
    RequestCode.QUERY_CONSUME_QUEUE: HeaderCodec(admin.ConsumeQueueHeader),
    RequestCode.REGISTER_FILTER_SERVER: HeaderCodec(admin.FilterServerHeader),
    RequestCode.UPDATE_AND_CREATE_ACL_CONFIG: HeaderCodec(access.ChangeAccountHeader),
    RequestCode.DELETE_ACL_CONFIG: HeaderCodec(access.DeleteAccountHeader),
    RequestCode.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG: HeaderCodec(access.ChangeWhiteListHeader),
    RequestCode.GET_BROKER_CLUSTER_ACL_INFO: NO_FIELDS,
    RequestCode.GET_BROKER_CLUSTER_ACL_CONFIG: NO_FIELDS,
    RequestCode.HEART_BEAT: NO_FIELDS,
    RequestCode.LOCK_BATCH_MQ: NO_FIELDS,
    RequestCode.UNLOCK_BATCH_MQ: NO_FIELDS,
    RequestCode.CHECK_CLIENT_CONFIG: NO_FIELDS,
    RequestCode.GET_ALL_TOPIC_CONFIG: NO_FIELDS,
    RequestCode.UPDATE_BROKER_CONFIG: NO_FIELDS,
    RequestCode.GET_BROKER_CONFIG: NO_FIELDS,
    RequestCode.GET_BROKER_RUNTIME_INFO: NO_FIELDS,
    RequestCode.GET_ALL_CONSUMER_OFFSET: NO_FIELDS,
    RequestCode.GET_ALL_DELAY_OFFSET: NO_FIELDS,
    RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP: NO_FIELDS,
    RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: NO_FIELDS,
    RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER: NO_FIELDS,
    RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE: NO_FIELDS,
    RequestCode.CLEAN_UNUSED_TOPIC: NO_FIELDS,
    RequestCode.GET_BROKER_CLUSTER_INFO: NO_FIELDS,
    RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER: NO_FIELDS,
    RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS: NO_FIELDS,
    RequestCode.GET_UNIT_TOPIC_LIST: NO_FIELDS,
    RequestCode.GET_HAS_UNIT_SUB_TOPIC_LIST: NO_FIELDS,
    RequestCode.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST: NO_FIELDS,
    RequestCode.UPDATE_NAMESRV_CONFIG: NO_FIELDS,
    RequestCode.GET_NAMESRV_CONFIG: NO_FIELDS,
}
"""By request code, LITE_PULL_MESSAGE of 5.x included."""

RESPONSE_HEADERS: Final[Mapping[int, HeaderCodec[CustomHeader]]] = {
    **dict.fromkeys(REQUEST_HEADERS, NO_FIELDS),
    RequestCode.SEND_MESSAGE: _SEND_ANSWER,
    RequestCode.SEND_MESSAGE_V2: _SEND_ANSWER,
    RequestCode.SEND_BATCH_MESSAGE: _SEND_ANSWER,
    RequestCode.SEND_REPLY_MESSAGE: _SEND_ANSWER,
    RequestCode.SEND_REPLY_MESSAGE_V2: _SEND_ANSWER,
    RequestCode.PULL_MESSAGE: _PULL_ANSWER,
    LaterRequestCode.LITE_PULL_MESSAGE: _PULL_ANSWER,
    RequestCode.QUERY_MESSAGE: HeaderCodec(pull.QueryMessageResponseHeader),
    RequestCode.QUERY_CONSUMER_OFFSET: _OFFSET_ANSWER,
    RequestCode.SEARCH_OFFSET_BY_TIMESTAMP: _OFFSET_ANSWER,
    RequestCode.GET_MAX_OFFSET: _OFFSET_ANSWER,
    RequestCode.GET_MIN_OFFSET: _OFFSET_ANSWER,
    RequestCode.GET_EARLIEST_MSG_STORETIME: HeaderCodec(offset.TimestampResponseHeader),
    RequestCode.HEART_BEAT: HeaderCodec(client.HeartbeatResponseHeader),
    RequestCode.GET_KV_CONFIG: HeaderCodec(nameserver.KvValueResponseHeader),
    RequestCode.REGISTER_BROKER: HeaderCodec(nameserver.RegisterBrokerResponseHeader),
    RequestCode.QUERY_DATA_VERSION: HeaderCodec(nameserver.DataVersionResponseHeader),
    RequestCode.WIPE_WRITE_PERM_OF_BROKER: HeaderCodec(nameserver.WipeResponseHeader),
    RequestCode.ADD_WRITE_PERM_OF_BROKER: HeaderCodec(nameserver.AddResponseHeader),
    RequestCode.GET_BROKER_CONFIG: HeaderCodec(admin.ConfigResponseHeader),
    RequestCode.REGISTER_FILTER_SERVER: HeaderCodec(admin.FilterServerResponseHeader),
    RequestCode.GET_BROKER_CLUSTER_ACL_INFO: HeaderCodec(access.AccountVersionResponseHeader),
}
"""By the code of the request that is answered."""

SEND_REFUSAL: Final = HeaderCodec(send.SendRefusalHeader)
"""The fields of a send's error reply."""
