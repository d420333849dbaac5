"""Consumer groups: configurations, members, connections.

The configuration table is at once a body (GET_ALL_SUBSCRIPTIONGROUP_CONFIG) and a file
(`subscriptionGroup.json`). A single configuration is the body of
UPDATE_AND_CREATE_SUBSCRIPTIONGROUP.
"""

from collections.abc import Mapping
from dataclasses import field

from spec.broker.subscription_group import GroupConfig
from spec.broker.topic import DataVersion
from spec.group.consumption import ConsumeType, MessageModel
from spec.group.start_position import StartPolicy
from spec.wire.body.record import JsonRecord, json_record
from spec.wire.body.subscription import SubscriptionRecord
from spec.wire.language import Language


@json_record
class GroupConfigTable(JsonRecord):
    """All groups of a broker, by name."""

    subscription_group_table: Mapping[str, GroupConfig] = field(default_factory=dict)
    data_version: DataVersion = DataVersion()


@json_record
class GroupList(JsonRecord):
    """Names of groups."""

    group_list: frozenset[str] = frozenset()


@json_record
class ConsumerIdList(JsonRecord):
    """The members of a group, one id per connection, so an id may stand twice."""

    consumer_id_list: tuple[str, ...] = ()


@json_record
class ClientConnection(JsonRecord):
    """One client of a group."""

    client_id: str
    client_addr: str
    language: Language | None = None
    version: int = 0


@json_record
class ProducerConnectionList(JsonRecord):
    """The clients of a producer group."""

    connection_set: tuple[ClientConnection, ...] = ()


@json_record
class ConsumerConnectionList(JsonRecord):
    """The clients of a consumer group, and how the last heartbeat said that it consumes."""

    connection_set: tuple[ClientConnection, ...] = ()
    subscription_table: Mapping[str, SubscriptionRecord] = field(default_factory=dict)
    consume_type: ConsumeType | None = None
    message_model: MessageModel | None = None
    consume_from_where: StartPolicy | None = None
