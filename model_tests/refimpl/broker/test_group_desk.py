"""Groups by way of an administrator, and who is online in them."""

from dataclasses import replace

import pytest

from model_tests.refimpl.broker.admin_world import GROUP, AdminWorld, Member
from spec.broker.subscription_group import BUILT_IN_GROUPS, GroupConfig
from spec.group.consumption import ConsumeType, MessageModel
from spec.group.start_position import StartPolicy
from spec.history.kind import Kind
from spec.values.subscription import subscribe_tags
from spec.values.units import Milliseconds
from spec.wire.body.group import ClientConnection, ConsumerConnectionList, ProducerConnectionList
from spec.wire.body.record import RecordCodec
from spec.wire.body.subscription import derive_record
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.header.admin import DeleteGroupHeader
from spec.wire.header.client import ConsumerGroupHeader, ProducerGroupHeader
from spec.wire.language import Language

CODEC = RecordCodec(GroupConfig)
PUT = RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP


def test_a_group_is_made_changed_and_listed() -> None:
    world = AdminWorld()
    admin = world.administrator()
    group = GroupConfig("g", is_broadcast_enabled=False, retry_queue_count=3, retry_limit=-1)
    admin.call(PUT, None, CODEC.encode(group))
    admin.call(PUT, None, CODEC.encode(replace(group, retry_limit=2)))
    built_in = {name: GroupConfig(name) for name in BUILT_IN_GROUPS}
    table = admin.groups()
    assert table.subscription_group_table == {**built_in, "g": replace(group, retry_limit=2)}
    world.restart()
    assert world.administrator().groups() == table


@pytest.mark.clause("broker.admin.group-limits")
@pytest.mark.parametrize(
    ("body", "remark"),
    [
        (
            CODEC.encode(GroupConfig("a@b")),
            "the group 'a@b' is not legal: a name has 1 to 255 characters of ^[%|a-zA-Z0-9_-]+$",
        ),
        (
            CODEC.encode(GroupConfig("g", retry_queue_count=1_025)),
            "1025 retry queues are not within 0 to 1024",
        ),
        (b"{}", "at 0: groupName: the key is missing [wire.body.required-key]"),
    ],
)
def test_a_group_that_cannot_be_is_refused(body: bytes, remark: str) -> None:
    admin = AdminWorld().administrator()
    before = admin.groups()
    assert admin.refusal(PUT, None, body) == (ResponseCode.SYSTEM_ERROR, remark)
    assert admin.groups() == before


@pytest.mark.clause("broker.offset.delete-exact-group", "guarantee.off.decisions-stick")
@pytest.mark.parametrize(
    "header", [DeleteGroupHeader("g", remove_offset=True), DeleteGroupHeader("g", clean_offset=True)]
)
def test_a_group_is_deleted_with_its_offsets_for_good(header: DeleteGroupHeader) -> None:
    world = AdminWorld()
    admin = world.administrator()
    admin.create()
    admin.call(PUT, None, CODEC.encode(GroupConfig("g")))
    admin.commit("g", "T", 0, 5)
    admin.commit("my_g", "T", 0, 6)
    world.run_for(20_000)
    admin.call(RequestCode.DELETE_SUBSCRIPTIONGROUP, header)
    world.crash()
    admin = world.administrator()
    assert "g" not in admin.groups().subscription_group_table
    assert admin.consumer_offsets().offset_table == {"T@my_g": {0: 6}}
    (event,) = world.kinds(Kind.DELETE)
    assert (event.status, event.group) == ("group", "g")
    world.judge()


def test_a_group_that_is_deleted_without_its_offsets_goes_on_where_it_was() -> None:
    world = AdminWorld()
    admin = world.administrator()
    admin.call(PUT, None, CODEC.encode(GroupConfig("g")))
    admin.commit("g", "T", 0, 5)
    admin.call(RequestCode.DELETE_SUBSCRIPTIONGROUP, DeleteGroupHeader("g"))
    assert "g" not in admin.groups().subscription_group_table
    assert admin.consumer_offset("g", "T", 0) == 5
    assert world.kinds(Kind.DELETE) == []


def test_consumers_that_are_online_are_listed() -> None:
    world = AdminWorld()
    admin = world.administrator()
    world.member("c1")
    world.member("c2", version=401)
    code, header = RequestCode.GET_CONSUMER_CONNECTION_LIST, ConsumerGroupHeader(GROUP)
    clients = world.broker.parts.consumers.clients(GROUP)
    assert admin.fetch(code, ConsumerConnectionList, header) == ConsumerConnectionList(
        (
            ClientConnection("c1", str(clients[0].peer), Language.JAVA, 399),
            ClientConnection("c2", str(clients[1].peer), Language.JAVA, 401),
        ),
        {"T": derive_record(subscribe_tags("T", "*", Milliseconds(1)))},
        ConsumeType.PUSH,
        MessageModel.CLUSTERING,
        StartPolicy.LAST_OFFSET,
    )
    assert admin.refusal(code, ConsumerGroupHeader("other")) == (
        ResponseCode.CONSUMER_NOT_ONLINE,
        "no consumer of the group other is online",
    )


def test_producers_that_are_online_are_listed() -> None:
    world = AdminWorld()
    admin = world.administrator()
    producer = Member(world.world.connect(world.settings.host))
    producer.heartbeat("p1", topics=(), producer_group="pg")
    code = RequestCode.GET_PRODUCER_CONNECTION_LIST
    (client,) = world.broker.producers.clients("pg")
    assert admin.fetch(code, ProducerConnectionList, ProducerGroupHeader("pg")) == ProducerConnectionList(
        (ClientConnection("p1", str(client.peer), Language.JAVA, 399),)
    )
    assert admin.refusal(code, ProducerGroupHeader("other")) == (
        ResponseCode.SYSTEM_ERROR,
        "no producer of the group other is online",
    )
