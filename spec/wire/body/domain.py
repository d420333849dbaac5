"""The wire names of records that belong to the domain and know no wire.

Their fields have the domain's words; Apache's are given here, together with the types of those
fields that are wider in Java than the domain's type says.

Clause: wire.body.java-names
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from spec.broker.subscription_group import GroupConfig
from spec.broker.topic import DataVersion, TopicConfig
from spec.nameserver.registration import BrokerEntry
from spec.nameserver.route import QueueData
from spec.values.java_literal import Long
from spec.values.message_queue import MessageQueue


class DomainRecord(NamedTuple):
    """How a record travels."""

    names: Mapping[str, str]
    wider: Mapping[str, object] = {}


DOMAIN_RECORDS: Final[Mapping[type, DomainRecord]] = {
    MessageQueue: DomainRecord({}),
    TopicConfig: DomainRecord(
        {
            "name": "topicName",
            "read_queue_count": "readQueueNums",
            "write_queue_count": "writeQueueNums",
            "permission": "perm",
            "topic_filter": "topicFilterType",
            "system_flag": "topicSysFlag",
            "is_ordered": "order",
        }
    ),
    DataVersion: DomainRecord(
        {"timestamp_ms": "timestamp"},
        {"timestamp_ms": Long, "counter": Long, "state_version": Long | None},
    ),
    GroupConfig: DomainRecord(
        {
            "name": "groupName",
            "is_consume_enabled": "consumeEnable",
            "is_consume_from_minimum_enabled": "consumeFromMinEnable",
            "is_broadcast_enabled": "consumeBroadcastEnable",
            "retry_queue_count": "retryQueueNums",
            "retry_limit": "retryMaxTimes",
            "slow_broker_id": "whichBrokerWhenConsumeSlowly",
            "is_change_notified": "notifyConsumerIdsChangedEnable",
        },
        {"broker_id": Long, "slow_broker_id": Long},
    ),
    QueueData: DomainRecord(
        {
            "read_queue_count": "readQueueNums",
            "write_queue_count": "writeQueueNums",
            "permission": "perm",
            "system_flag": "topicSysFlag",
        }
    ),
    BrokerEntry: DomainRecord(
        {"name": "brokerName", "addresses": "brokerAddrs"},
        {"addresses": Mapping[Long, str]},
    ),
}
