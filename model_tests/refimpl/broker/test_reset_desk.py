"""Groups are moved, and their members told; and the members say how far they are."""

import pytest

from model_tests.dialogue import RefusedError
from model_tests.refimpl.broker.admin_world import GROUP, Administrator, AdminWorld, Member, dialect, queue
from refimpl.remoting.calls import derive_request
from refimpl.remoting.request import Reply
from spec.history.kind import Kind
from spec.values.units import Milliseconds, QueueOffset
from spec.wire.body.offset import (
    ConsumerStatusBody,
    ResetOffsetBody,
    ResetOffsetList,
    derive_reset_offset_list,
)
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.frame import Frame
from spec.wire.header.offset import ConsumerStatusHeader, ResetOffsetHeader
from spec.wire.language import Language

RESET = RequestCode.INVOKE_BROKER_TO_RESET_OFFSET
STATUS = RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS
PUSHED = RequestCode.RESET_CONSUMER_CLIENT_OFFSET
ASKED = RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT
END = Milliseconds(-1)


class Scene:
    """Two queues, with five messages stored a second apart and with two; the group is inside both."""

    def __init__(self) -> None:
        self.world = AdminWorld()
        self.admin = self.world.administrator()
        self.admin.create()
        for _ in range(5):
            self.admin.store(1)
            self.world.run_for(1_000)
        self.admin.store(2, queue_id=1)
        self.times_ms = [message.stored_at_ms for message in self.admin.pull_all("T", 0)]
        self.admin.commit(GROUP, "T", 0, 3)
        self.admin.commit(GROUP, "T", 1, 1)

    def reset(self, timestamp: int, *, is_force: bool = True) -> Frame:
        answer = self.admin.ask(RESET, ResetOffsetHeader("T", GROUP, Milliseconds(timestamp), is_force))
        self.world.run_for(20)
        return answer

    def offsets(self) -> list[int | None]:
        return [self.admin.consumer_offset(GROUP, "T", queue_id) for queue_id in (0, 1)]


def table(first: int, second: int) -> ResetOffsetBody:
    return ResetOffsetBody({queue(0): QueueOffset(first), queue(1): QueueOffset(second)})


@pytest.mark.clause(
    "broker.admin.reset-target", "broker.offset.reset-fences", "guarantee.off.decisions-stick"
)
def test_a_reset_moves_the_group_tells_its_members_and_stays() -> None:
    scene = Scene()
    members = [scene.world.member("c1"), scene.world.member("c2")]
    answer = scene.reset(scene.times_ms[1])
    assert (answer.code, answer.body) == (ResponseCode.SUCCESS, dialect(table(1, 0)))
    assert answer.body.startswith(b'{"offsetTable":{{"brokerName":"broker-a","queueId":0,"topic":"T"}:1,')
    fields = {"topic": "T", "group": GROUP, "timestamp": str(scene.times_ms[1]), "isForce": "false"}
    for member in members:
        told = member.take(PUSHED)
        assert (told.extension_fields, told.body) == (fields, dialect(table(1, 0)))
    assert scene.offsets() == [1, 0]
    with pytest.raises(RefusedError, match="before a reset"):
        members[0].commit(GROUP, "T", 0, 5)
    assert scene.offsets() == [1, 0]
    assert members[0].consumer_offset(GROUP, "T", 0) == 1
    members[0].commit(GROUP, "T", 0, 2)
    assert scene.offsets() == [2, 0]
    events = [(e.kind, e.queue, e.offset, e.status) for e in scene.world.kinds(Kind.RESET, Kind.STALE)]
    assert events == [
        (Kind.RESET, 0, 1, "begun"),
        (Kind.RESET, 1, 0, "begun"),
        (Kind.RESET, 0, 1, "done"),
        (Kind.RESET, 1, 0, "done"),
        (Kind.STALE, 0, 5, ""),
    ]
    scene.world.judge()


@pytest.mark.clause("guarantee.off.decisions-stick")
def test_a_reset_is_on_disk_before_it_is_answered() -> None:
    scene = Scene()
    scene.world.member()
    scene.world.run_for(20_000)
    assert scene.reset(0).code == ResponseCode.SUCCESS
    scene.world.crash()
    admin = scene.world.administrator()
    assert admin.consumer_offsets().offset_table == {"T@g": {0: 0, 1: 0}}
    scene.world.judge()


@pytest.mark.clause("broker.admin.reset-target")
@pytest.mark.parametrize(
    ("timestamp", "is_force", "expected"),
    [
        (-1, True, (5, 2)),
        (-1, False, (3, 1)),
        (0, False, (0, 0)),
        (-(2**63), True, (0, 0)),
        (2**63 - 1, True, (4, 1)),
    ],
)
def test_only_a_forced_reset_goes_forward(
    timestamp: int, *, is_force: bool, expected: tuple[int, int]
) -> None:
    scene = Scene()
    scene.world.member()
    answer = scene.reset(timestamp, is_force=is_force)
    assert (answer.code, answer.body) == (ResponseCode.SUCCESS, dialect(table(*expected)))
    assert scene.offsets() == list(expected)


@pytest.mark.clause("wire.body.reset-offset-forms")
def test_members_get_a_list_if_the_administrator_writes_c_plus_plus() -> None:
    scene = Scene()
    member = scene.world.member()
    fields = ResetOffsetHeader("T", GROUP, END, is_force=True).encode()
    frame = derive_request(RESET, 77, fields, b"", is_oneway=False)._replace(language=Language.CPP)
    scene.admin.caller.send(frame)
    answer = scene.admin.caller.await_reply(77)
    assert (answer.code, answer.body) == (ResponseCode.SUCCESS, dialect(table(5, 2)))
    scene.world.run_for(20)
    told = member.take(PUSHED)
    assert ResetOffsetList.decode(told.body) == derive_reset_offset_list(table(5, 2))


def _refused(scene: Scene, header: ResetOffsetHeader) -> tuple[int, str | None]:
    before = scene.offsets()
    refusal = scene.admin.refusal(RESET, header)
    assert scene.offsets() == before
    assert scene.world.kinds(Kind.RESET) == []
    scene.world.run_for(20)
    return refusal


@pytest.mark.clause("broker.admin.reset-refused")
def test_a_reset_of_nobody_is_refused() -> None:
    scene = Scene()
    assert _refused(scene, ResetOffsetHeader("T", GROUP, END, is_force=True)) == (
        ResponseCode.CONSUMER_NOT_ONLINE,
        "g on T is not reset: no consumer of the group is online",
    )


@pytest.mark.clause("broker.admin.reset-refused")
def test_a_reset_of_a_missing_topic_is_refused() -> None:
    scene = Scene()
    scene.world.member()
    assert _refused(scene, ResetOffsetHeader("U", GROUP, END, is_force=True)) == (
        ResponseCode.SYSTEM_ERROR,
        "g on U is not reset: the topic is not on this broker",
    )


@pytest.mark.clause("broker.admin.reset-refused")
def test_a_reset_of_a_group_that_has_not_been_everywhere_is_refused() -> None:
    scene = Scene()
    scene.world.member(group="h")
    scene.admin.commit("h", "T", 0, 1)
    assert _refused(scene, ResetOffsetHeader("T", "h", END, is_force=True)) == (
        ResponseCode.SYSTEM_ERROR,
        "h on T is not reset: the group has committed no offset of queue 1",
    )


@pytest.mark.clause("broker.admin.reset-refused", "wire.version.consumer-operations")
def test_a_reset_that_one_member_would_not_understand_tells_none() -> None:
    scene = Scene()
    young = scene.world.member("c1")
    scene.world.member("c2", version=27)
    assert _refused(scene, ResetOffsetHeader("T", GROUP, END, is_force=True)) == (
        ResponseCode.SYSTEM_ERROR,
        "g on T is not reset: a consumer of the group has version 27, which is too old",
    )
    assert [frame.code for frame in young.caller.pushes if frame.code == PUSHED] == []


# How far members are


class Round:
    """A question about two members, which have not answered yet."""

    def __init__(self, client_addr: str | None = None) -> None:
        self.world = AdminWorld()
        self.admin: Administrator = self.world.administrator()
        self.first, self.second = self.world.member("c1"), self.world.member("c2")
        self.opaque = self.admin.caller.request(STATUS, ConsumerStatusHeader("T", GROUP, client_addr))
        self.world.run_for(100)

    def says(self, member: Member, offset: int) -> None:
        body = ConsumerStatusBody({queue(0): QueueOffset(offset)})
        member.answer(member.take(ASKED), Reply(body=dialect(body)))

    def answer(self) -> bytes:
        answer = self.admin.caller.await_reply(self.opaque)
        assert answer.code == ResponseCode.SUCCESS
        return answer.body


def status(**clients: int) -> bytes:
    told = {client: {queue(0): QueueOffset(offset)} for client, offset in clients.items()}
    return dialect(ConsumerStatusBody(consumer_table=told))


def test_every_member_says_how_far_it_is() -> None:
    asked = Round()
    assert asked.opaque not in asked.admin.caller.replies
    question = asked.first.caller.pushes[-1]
    assert (question.code, question.extension_fields) == (ASKED, {"topic": "T", "group": GROUP})
    asked.says(asked.second, 7)
    asked.says(asked.first, 5)
    assert asked.answer() == status(c1=5, c2=7)


def test_one_member_may_be_named() -> None:
    asked = Round("c2")
    asked.says(asked.second, 7)
    assert asked.answer() == status(c2=7)
    assert [frame.code for frame in asked.first.caller.pushes if frame.code == ASKED] == []


def test_a_member_that_nobody_has_heard_of_says_nothing() -> None:
    assert Round("c3").answer() == status()


@pytest.mark.clause("wire.connection.call-expiry")
def test_who_does_not_answer_is_left_out() -> None:
    asked = Round()
    asked.says(asked.second, 7)
    begun_ms = asked.world.world.now_ms
    assert asked.answer() == status(c2=7)
    assert 4_000 <= asked.world.world.now_ms - begun_ms <= 7_000


def test_who_leaves_refuses_or_talks_nonsense_is_left_out() -> None:
    asked = Round()
    asked.first.answer(asked.first.take(ASKED), Reply(body=b"nonsense"))
    asked.second.caller.close()
    assert asked.answer() == status()
    asked = Round()
    asked.first.answer(asked.first.take(ASKED), Reply(ResponseCode.SYSTEM_ERROR, "no"))
    asked.says(asked.second, 7)
    assert asked.answer() == status(c2=7)


@pytest.mark.clause("wire.version.consumer-operations")
def test_a_group_that_cannot_say_is_refused() -> None:
    world = AdminWorld()
    admin = world.administrator()
    assert admin.refusal(STATUS, ConsumerStatusHeader("T", GROUP)) == (
        ResponseCode.SYSTEM_ERROR,
        "no consumer of the group g is online",
    )
    world.member("old", version=27)
    assert admin.refusal(STATUS, ConsumerStatusHeader("T", GROUP)) == (
        ResponseCode.SYSTEM_ERROR,
        "a consumer of the group cannot say how far it is: old has version 27",
    )
