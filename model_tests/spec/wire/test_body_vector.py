"""Bodies in the exact shape of Apache 4.9.3: read, compared whole, and written back byte for byte."""

from typing import Final

import pytest

from spec.broker.subscription_group import GroupConfig
from spec.broker.topic import DataVersion, TopicConfig
from spec.group.consumption import ConsumeType, MessageModel
from spec.group.start_position import StartPolicy
from spec.nameserver.registration import BrokerEntry
from spec.nameserver.route import QueueData
from spec.values.message_queue import MessageQueue
from spec.values.units import Milliseconds, QueueId, QueueOffset
from spec.wire.body.group import (
    ClientConnection,
    ConsumerConnectionList,
    ConsumerIdList,
    GroupConfigTable,
    GroupList,
    ProducerConnectionList,
)
from spec.wire.body.heartbeat import CheckClientConfigBody, ConsumerData, HeartbeatData, ProducerData
from spec.wire.body.lock import LockBatchBody, LockBatchResponseBody
from spec.wire.body.offset import (
    ConsumerOffsetTable,
    ConsumerStatusBody,
    CorrectionOffsetTable,
    DelayOffsetTable,
    OffsetMovedEvent,
    ResetOffsetBody,
    derive_reset_offset_list,
)
from spec.wire.body.record import JsonRecord, RecordCodec
from spec.wire.body.registration import RegisterBrokerBody
from spec.wire.body.route import ClusterInfo, KvTable, TopicRouteData
from spec.wire.body.running_info import (
    ConsumeDirectlyResult,
    ConsumePace,
    ConsumeResult,
    ConsumerRunningInfo,
    ProcessQueueInfo,
)
from spec.wire.body.statistic import (
    BrokerConsumeStats,
    BrokerStatsData,
    BrokerStatsItem,
    ConsumeProgress,
    ConsumeQueueBody,
    ConsumeQueueUnit,
    ConsumeStats,
    ConsumeTimeSpanBody,
    QueueTimeSpan,
    TopicOffset,
    TopicStatsTable,
)
from spec.wire.body.subscription import SubscriptionRecord
from spec.wire.body.topic import TopicConfigTable, TopicList
from spec.wire.language import Language

QUEUE: Final = MessageQueue("T", "b", QueueId(0))
MQ: Final = '{"brokerName":"b","queueId":0,"topic":"T"}'
SUBSCRIPTION: Final = SubscriptionRecord(
    "T", "TagA", frozenset({"TagA"}), frozenset({2598919}), Milliseconds(1794980810476)
)
SUBSCRIPTION_TEXT: Final = (
    '{"classFilterMode":false,"codeSet":[2598919],"expressionType":"TAG","subString":"TagA",'
    '"subVersion":1794980810476,"tagsSet":["TagA"],"topic":"T"}'
)
TOPIC_TEXT: Final = (
    '{"order":false,"perm":6,"readQueueNums":4,"topicFilterType":"SINGLE_TAG","topicName":"T1",'
    '"topicSysFlag":0,"writeQueueNums":4}'
)
TOPICS: Final = TopicConfigTable({"T1": TopicConfig("T1", 4, 4)}, DataVersion(timestamp_ms=7, counter=0))
TOPICS_TEXT: Final = (
    '{"dataVersion":{"counter":0,"timestamp":7},"topicConfigTable":{"T1":' + TOPIC_TEXT + "}}"
)
GROUP_TEXT: Final = (
    '{"brokerId":0,"consumeBroadcastEnable":true,"consumeEnable":true,"consumeFromMinEnable":true,'
    '"groupName":"G","notifyConsumerIdsChangedEnable":true,"retryMaxTimes":16,"retryQueueNums":1,'
    '"whichBrokerWhenConsumeSlowly":1}'
)
CONNECTION: Final = ClientConnection("c", "ip:1", Language.JAVA, 399)
CONNECTION_TEXT: Final = '{"clientAddr":"ip:1","clientId":"c","language":"JAVA","version":399}'
BROKER: Final = BrokerEntry("DefaultCluster", "broker-a", {0: "127.0.0.1:10911"})
BROKER_TEXT: Final = (
    '{"brokerAddrs":{0:"127.0.0.1:10911"},"brokerName":"broker-a","cluster":"DefaultCluster"}'
)

VECTORS: Final[list[tuple[JsonRecord, str]]] = [
    (KvTable({"k": "v"}), '{"table":{"k":"v"}}'),
    (TopicList(frozenset({"T1"})), '{"topicList":["T1"]}'),
    (TopicList(frozenset({"T1"}), "h:1"), '{"brokerAddr":"h:1","topicList":["T1"]}'),
    (
        ClusterInfo({"broker-a": BROKER}, {"C": frozenset({"broker-a"})}),
        '{"brokerAddrTable":{"broker-a":' + BROKER_TEXT + '},"clusterAddrTable":{"C":["broker-a"]}}',
    ),
    (
        TopicRouteData((BROKER,), (QueueData("broker-a", 4, 4, 6),)),
        '{"brokerDatas":[' + BROKER_TEXT + '],"filterServerTable":{},"queueDatas":[{"brokerName":"broker-a",'
        '"perm":6,"readQueueNums":4,"topicSysFlag":0,"writeQueueNums":4}]}',
    ),
    (
        TopicRouteData(order_topic_conf="broker-a:4;broker-b:4"),
        '{"brokerDatas":[],"filterServerTable":{},"orderTopicConf":"broker-a:4;broker-b:4","queueDatas":[]}',
    ),
    (TOPICS, TOPICS_TEXT),
    (
        RegisterBrokerBody(TOPICS),
        '{"filterServerList":[],"topicConfigSerializeWrapper":' + TOPICS_TEXT + "}",
    ),
    (
        GroupConfigTable({"G": GroupConfig("G")}, DataVersion(timestamp_ms=9, counter=4)),
        '{"dataVersion":{"counter":4,"timestamp":9},"subscriptionGroupTable":{"G":' + GROUP_TEXT + "}}",
    ),
    (
        HeartbeatData(
            "ip@pid#nano",
            (ProducerData("PG"),),
            (
                ConsumerData(
                    "G", ConsumeType.PUSH, MessageModel.CLUSTERING, StartPolicy.LAST_OFFSET, (SUBSCRIPTION,)
                ),
            ),
        ),
        '{"clientID":"ip@pid#nano","consumerDataSet":[{"consumeFromWhere":"CONSUME_FROM_LAST_OFFSET",'
        '"consumeType":"CONSUME_PASSIVELY","groupName":"G","messageModel":"CLUSTERING","subscriptionDataSet":['
        + SUBSCRIPTION_TEXT
        + '],"unitMode":false}],"producerDataSet":[{"groupName":"PG"}]}',
    ),
    (
        CheckClientConfigBody("c", "G", SUBSCRIPTION),
        '{"clientId":"c","group":"G","subscriptionData":' + SUBSCRIPTION_TEXT + "}",
    ),
    (ConsumerIdList(("c1",)), '{"consumerIdList":["c1"]}'),
    (
        LockBatchBody("c", "g", frozenset({QUEUE})),
        '{"clientId":"c","consumerGroup":"g","mqSet":[' + MQ + "]}",
    ),
    (LockBatchResponseBody(frozenset({QUEUE})), '{"lockOKMQSet":[' + MQ + "]}"),
    (LockBatchResponseBody(), '{"lockOKMQSet":[]}'),
    (
        ConsumerOffsetTable({"T@G": {QueueId(0): QueueOffset(4), QueueId(1): QueueOffset(3)}}),
        '{"offsetTable":{"T@G":{0:4,1:3}}}',
    ),
    (DelayOffsetTable({1: QueueOffset(10)}), '{"offsetTable":{1:10}}'),
    (CorrectionOffsetTable({QueueId(0): QueueOffset(2)}), '{"correctionOffsets":{0:2}}'),
    (ResetOffsetBody({QUEUE: QueueOffset(25)}), '{"offsetTable":{' + MQ + ":25}}"),
    (
        derive_reset_offset_list(ResetOffsetBody({QUEUE: QueueOffset(25)})),
        '{"offsetTable":[{"brokerName":"b","offset":25,"queueId":0,"topic":"T"}]}',
    ),
    (
        ConsumerStatusBody({QUEUE: QueueOffset(5)}),
        '{"consumerTable":{},"messageQueueTable":{' + MQ + ":5}}",
    ),
    (
        ConsumerStatusBody(consumer_table={"clientId": {QUEUE: QueueOffset(5)}}),
        '{"consumerTable":{"clientId":{' + MQ + ':5}},"messageQueueTable":{}}',
    ),
    (
        OffsetMovedEvent("G", QUEUE, QueueOffset(9), QueueOffset(0)),
        '{"consumerGroup":"G","messageQueue":' + MQ + ',"offsetNew":0,"offsetRequest":9}',
    ),
    (
        TopicStatsTable({QUEUE: TopicOffset(QueueOffset(0), QueueOffset(1), Milliseconds(3))}),
        '{"offsetTable":{' + MQ + ':{"lastUpdateTimestamp":3,"maxOffset":1,"minOffset":0}}}',
    ),
    (
        ConsumeStats({QUEUE: ConsumeProgress(QueueOffset(25), QueueOffset(5), Milliseconds(3))}),
        '{"consumeTps":0.0,"offsetTable":{'
        + MQ
        + ':{"brokerOffset":25,"consumerOffset":5,"lastTimestamp":3}}}',
    ),
    (
        BrokerConsumeStats(({"G": (ConsumeStats(),)},), "h:1", 20),
        '{"brokerAddr":"h:1","consumeStatsList":[{"G":[{"consumeTps":0.0,"offsetTable":{}}]}],"totalDiff":20}',
    ),
    (
        BrokerStatsData(BrokerStatsItem(60, 1.0, 0.5)),
        (
            '{"statsDay":{"avgpt":0.0,"sum":0,"tps":0.0},"statsHour":{"avgpt":0.0,"sum":0,"tps":0.0},'
            '"statsMinute":{"avgpt":0.5,"sum":60,"tps":1.0}}'
        ),
    ),
    (
        ConsumerConnectionList(
            (CONNECTION,),
            {"T": SUBSCRIPTION},
            ConsumeType.PUSH,
            MessageModel.CLUSTERING,
            StartPolicy.LAST_OFFSET,
        ),
        '{"connectionSet":['
        + CONNECTION_TEXT
        + '],"consumeFromWhere":"CONSUME_FROM_LAST_OFFSET","consumeType":"CONSUME_PASSIVELY",'
        '"messageModel":"CLUSTERING","subscriptionTable":{"T":' + SUBSCRIPTION_TEXT + "}}",
    ),
    (ProducerConnectionList((CONNECTION,)), '{"connectionSet":[' + CONNECTION_TEXT + "]}"),
    (GroupList(frozenset({"g"})), '{"groupList":["g"]}'),
    (
        ConsumeTimeSpanBody((QueueTimeSpan(QUEUE, *map(Milliseconds, (1, 2, 3, 4))),)),
        '{"consumeTimeSpanSet":[{"consumeTimeStamp":3,"delayTime":4,"maxTimeStamp":2,"messageQueue":'
        + MQ
        + ',"minTimeStamp":1}]}',
    ),
    (
        ConsumeQueueBody((ConsumeQueueUnit(physic_size=90, tags_code=2598919),), QueueOffset(8)),
        (
            '{"maxQueueIndex":8,"minQueueIndex":0,"queueData":[{"eval":false,"physicOffset":0,"physicSize":90,'
            '"tagsCode":2598919}]}'
        ),
    ),
    (
        ConsumerRunningInfo(
            {"PROP_CONSUMEORDERLY": "false"},
            (SUBSCRIPTION,),
            {QUEUE: ProcessQueueInfo()},
            {"T": ConsumePace()},
        ),
        '{"mqTable":{' + MQ + ':{"cachedMsgCount":0,"cachedMsgMaxOffset":0,"cachedMsgMinOffset":0,'
        '"cachedMsgSizeInMiB":0,"commitOffset":0,"droped":false,"lastConsumeTimestamp":0,"lastLockTimestamp":0,'
        '"lastPullTimestamp":0,"locked":false,"transactionMsgCount":0,"transactionMsgMaxOffset":0,'
        '"transactionMsgMinOffset":0,"tryUnlockTimes":0}},"properties":{"PROP_CONSUMEORDERLY":"false"},'
        '"statusTable":{"T":{"consumeFailedMsgs":0,"consumeFailedTPS":0.0,"consumeOKTPS":0.0,"consumeRT":0.0,'
        '"pullRT":0.0,"pullTPS":0.0}},"subscriptionSet":[' + SUBSCRIPTION_TEXT + "]}",
    ),
    (
        ConsumeDirectlyResult(ConsumeResult.SUCCESS),
        '{"autoCommit":true,"consumeResult":"CR_SUCCESS","order":false,"spentTimeMills":0}',
    ),
]


@pytest.mark.clause("wire.body.java-names", "wire.fastjson.writes-both-forms")
@pytest.mark.parametrize(("body", "text"), VECTORS, ids=lambda value: type(value).__name__)
def test_body_has_exactly_the_bytes_that_apache_writes(body: JsonRecord, text: str) -> None:
    assert body.encode(is_dialect=True) == text.encode()
    assert type(body).decode(text.encode()) == body


@pytest.mark.clause("wire.body.java-names")
@pytest.mark.parametrize(
    ("record", "text"),
    [
        (GroupConfig("G"), GROUP_TEXT),
        (TopicConfig("T1", 4, 4), TOPIC_TEXT),
        (DataVersion(1794981141102, 4), '{"counter":4,"timestamp":1794981141102}'),
        (DataVersion(1, 2, 3), '{"counter":2,"stateVersion":3,"timestamp":1}'),
    ],
)
def test_records_of_the_domain_travel_alone_too(
    record: GroupConfig | TopicConfig | DataVersion, text: str
) -> None:
    codec = RecordCodec(type(record))
    assert codec.encode(record) == text.encode()
    assert codec.decode(text.encode()) == record


def test_java_derived_time_texts_are_passed_over() -> None:
    text = '{"messageQueue":' + MQ + ',"minTimeStamp":1,"minTimeStampStr":"1970-01-01 08:00:00,001"}'
    assert QueueTimeSpan.decode(text.encode()) == QueueTimeSpan(QUEUE, Milliseconds(1))
