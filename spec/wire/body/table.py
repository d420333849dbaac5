"""Which JSON body a request and its answer carry, by request code.

Codes that are absent carry none, or one that is not JSON: messages, `key=value` text. Two
bodies have more forms than the code tells and functions of their own: a registration (plain,
compressed, or of an old broker) and a reset (table or list).
"""

from collections.abc import Mapping
from typing import Final

from spec.broker.subscription_group import GroupConfig
from spec.broker.topic import DataVersion
from spec.wire.body.access import AccountList
from spec.wire.body.group import (
    ConsumerConnectionList,
    ConsumerIdList,
    GroupConfigTable,
    GroupList,
    ProducerConnectionList,
)
from spec.wire.body.heartbeat import CheckClientConfigBody, HeartbeatData
from spec.wire.body.lock import LockBatchBody, LockBatchResponseBody
from spec.wire.body.offset import (
    ConsumerOffsetTable,
    ConsumerStatusBody,
    CorrectionOffsetTable,
    DelayOffsetTable,
    ResetOffsetBody,
)
from spec.wire.body.record import RecordCodec
from spec.wire.body.registration import RegisterBrokerBody
from spec.wire.body.route import ClusterInfo, KvTable, TopicRouteData
from spec.wire.body.running_info import ConsumeDirectlyResult, ConsumerRunningInfo
from spec.wire.body.statistic import (
    BrokerConsumeStats,
    BrokerStatsData,
    ConsumeQueueBody,
    ConsumeStats,
    ConsumeTimeSpanBody,
    TopicStatsTable,
)
from spec.wire.body.topic import TopicConfigTable, TopicList
from spec.wire.code import RequestCode

REQUEST_BODIES: Final[Mapping[int, RecordCodec[object]]] = {
    RequestCode.HEART_BEAT: RecordCodec(HeartbeatData),
    RequestCode.LOCK_BATCH_MQ: RecordCodec(LockBatchBody),
    RequestCode.UNLOCK_BATCH_MQ: RecordCodec(LockBatchBody),
    RequestCode.CHECK_CLIENT_CONFIG: RecordCodec(CheckClientConfigBody),
    RequestCode.REGISTER_BROKER: RecordCodec(RegisterBrokerBody),
    RequestCode.QUERY_DATA_VERSION: RecordCodec(DataVersion),
    RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP: RecordCodec(GroupConfig),
    RequestCode.RESET_CONSUMER_CLIENT_OFFSET: RecordCodec(ResetOffsetBody),
}
"""REGISTER_BROKER and the reset stand for their usual form."""

RESPONSE_BODIES: Final[Mapping[int, RecordCodec[object]]] = {
    RequestCode.REGISTER_BROKER: RecordCodec(KvTable),
    RequestCode.GET_ROUTEINFO_BY_TOPIC: RecordCodec(TopicRouteData),
    RequestCode.GET_BROKER_CLUSTER_INFO: RecordCodec(ClusterInfo),
    RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER: RecordCodec(TopicList),
    RequestCode.GET_TOPICS_BY_CLUSTER: RecordCodec(TopicList),
    RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS: RecordCodec(TopicList),
    RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER: RecordCodec(TopicList),
    RequestCode.GET_UNIT_TOPIC_LIST: RecordCodec(TopicList),
    RequestCode.GET_HAS_UNIT_SUB_TOPIC_LIST: RecordCodec(TopicList),
    RequestCode.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST: RecordCodec(TopicList),
    RequestCode.GET_KVLIST_BY_NAMESPACE: RecordCodec(KvTable),
    RequestCode.QUERY_DATA_VERSION: RecordCodec(DataVersion),
    RequestCode.GET_CONSUMER_LIST_BY_GROUP: RecordCodec(ConsumerIdList),
    RequestCode.LOCK_BATCH_MQ: RecordCodec(LockBatchResponseBody),
    RequestCode.GET_ALL_TOPIC_CONFIG: RecordCodec(TopicConfigTable),
    RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: RecordCodec(GroupConfigTable),
    RequestCode.GET_ALL_CONSUMER_OFFSET: RecordCodec(ConsumerOffsetTable),
    RequestCode.GET_ALL_DELAY_OFFSET: RecordCodec(DelayOffsetTable),
    RequestCode.GET_BROKER_RUNTIME_INFO: RecordCodec(KvTable),
    RequestCode.GET_BROKER_CLUSTER_ACL_CONFIG: RecordCodec(AccountList),
    RequestCode.GET_TOPIC_STATS_INFO: RecordCodec(TopicStatsTable),
    RequestCode.GET_CONSUMER_CONNECTION_LIST: RecordCodec(ConsumerConnectionList),
    RequestCode.GET_PRODUCER_CONNECTION_LIST: RecordCodec(ProducerConnectionList),
    RequestCode.GET_CONSUME_STATS: RecordCodec(ConsumeStats),
    RequestCode.INVOKE_BROKER_TO_RESET_OFFSET: RecordCodec(ResetOffsetBody),
    RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS: RecordCodec(ConsumerStatusBody),
    RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT: RecordCodec(ConsumerStatusBody),
    RequestCode.GET_CONSUMER_RUNNING_INFO: RecordCodec(ConsumerRunningInfo),
    RequestCode.CONSUME_MESSAGE_DIRECTLY: RecordCodec(ConsumeDirectlyResult),
    RequestCode.QUERY_TOPIC_CONSUME_BY_WHO: RecordCodec(GroupList),
    RequestCode.QUERY_CONSUME_TIME_SPAN: RecordCodec(ConsumeTimeSpanBody),
    RequestCode.QUERY_CORRECTION_OFFSET: RecordCodec(CorrectionOffsetTable),
    RequestCode.VIEW_BROKER_STATS_DATA: RecordCodec(BrokerStatsData),
    RequestCode.GET_BROKER_CONSUME_STATS: RecordCodec(BrokerConsumeStats),
    RequestCode.QUERY_CONSUME_QUEUE: RecordCodec(ConsumeQueueBody),
}
"""By the code of the request that is answered."""
