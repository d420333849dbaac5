"""The offset table as a whole."""

import pytest

from model_tests.refimpl.broker.admin_world import AdminWorld
from spec.broker.reset import NEVER
from spec.history.kind import Kind
from spec.values.units import QueueId, QueueOffset
from spec.wire.body.offset import CorrectionOffsetTable
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.header.offset import CloneGroupOffsetHeader, CorrectionOffsetHeader

CLONE = RequestCode.CLONE_GROUP_OFFSET


def test_all_offsets_are_listed_as_the_file_has_them() -> None:
    admin = AdminWorld().administrator()
    admin.commit("g", "T", 1, 5)
    admin.commit("g", "T", 0, 4)
    answer = admin.call(RequestCode.GET_ALL_CONSUMER_OFFSET)
    assert answer.body == b'{"offsetTable":{"T@g":{0:4,1:5}}}'


@pytest.mark.clause("broker.admin.correction-lowest")
def test_a_correction_is_the_lowest_offset_and_leaves_the_table_as_it_is() -> None:
    admin = AdminWorld().administrator()
    admin.create()
    for group, offsets in {"a": (7, 3), "b": (4, 9), "c": (1, 1), "d": (3, 9)}.items():
        for queue_id, offset in enumerate(offsets):
            admin.commit(group, "T", queue_id, offset)
    admin.commit("a", "U", 0, 0)
    before = admin.consumer_offsets()

    def ask(compare_group: str, filter_groups: str | None) -> CorrectionOffsetTable:
        header = CorrectionOffsetHeader("T", compare_group, filter_groups)
        return admin.fetch(RequestCode.QUERY_CORRECTION_OFFSET, CorrectionOffsetTable, header)

    zero, one = QueueId(0), QueueId(1)
    assert ask("nobody", None) == CorrectionOffsetTable({zero: QueueOffset(1), one: QueueOffset(1)})
    assert ask("nobody", "c,x") == CorrectionOffsetTable({zero: QueueOffset(3), one: QueueOffset(3)})
    assert ask("c", "c") == CorrectionOffsetTable({zero: NEVER, one: NEVER})
    assert ask("d", "c") == CorrectionOffsetTable({zero: QueueOffset(3), one: QueueOffset(3)})
    assert admin.consumer_offsets() == before


@pytest.mark.clause("broker.admin.correction-lowest")
def test_offsets_of_messages_that_are_gone_do_not_count() -> None:
    world = AdminWorld()
    admin = world.administrator()
    admin.create()
    admin.store(6)
    admin.commit("a", "T", 0, 5)
    admin.commit("b", "T", 0, 2)
    world.broker.parts.store.queue("T", 0).min_offset = QueueOffset(4)
    answer = admin.fetch(
        RequestCode.QUERY_CORRECTION_OFFSET, CorrectionOffsetTable, CorrectionOffsetHeader("T", "a")
    )
    assert answer == CorrectionOffsetTable({QueueId(0): QueueOffset(5)})


def test_a_group_goes_on_where_another_one_is() -> None:
    world = AdminWorld()
    admin = world.administrator()
    admin.create("T")
    admin.create("U")
    for topic, offset in (("T", 4), ("U", 5), ("GONE", 6)):
        admin.commit("g", topic, 0, offset)
    admin.commit("new", "T", 1, 9)
    admin.call(CLONE, CloneGroupOffsetHeader("g", "one", "T"))
    admin.call(CLONE, CloneGroupOffsetHeader("g", "new"))
    assert {
        key: dict(offsets)
        for key, offsets in admin.consumer_offsets().offset_table.items()
        if not key.endswith("@g")
    } == {"T@one": {0: 4}, "T@new": {0: 4, 1: 9}, "U@new": {0: 5}}
    events = [(e.group, e.topic, e.offset, e.status) for e in world.kinds(Kind.RESET)]
    assert events == [
        ("one", "T", 4, "begun"),
        ("one", "T", 4, "done"),
        ("new", "T", 4, "begun"),
        ("new", "U", 5, "begun"),
        ("new", "T", 4, "done"),
        ("new", "U", 5, "done"),
    ]
    world.judge()


@pytest.mark.parametrize(("offline", "cloned"), [(False, ["T@new"]), (True, ["T@new", "U@new"])])
def test_topics_that_an_online_source_does_not_subscribe_are_passed_over(
    *, offline: bool, cloned: list[str]
) -> None:
    world = AdminWorld()
    admin = world.administrator()
    admin.create("T")
    admin.create("U")
    world.member(group="g")
    admin.commit("g", "T", 0, 4)
    admin.commit("g", "U", 0, 5)
    admin.call(CLONE, CloneGroupOffsetHeader("g", "new", offline=offline))
    assert [key for key in admin.consumer_offsets().offset_table if key.endswith("@new")] == cloned


@pytest.mark.parametrize("target", ["g", "a@b", ""])
def test_nobody_takes_offsets_under_a_name_that_cannot_be(target: str) -> None:
    admin = AdminWorld().administrator()
    admin.create()
    admin.commit("g", "T", 0, 4)
    assert admin.refusal(CLONE, CloneGroupOffsetHeader("g", target)) == (
        ResponseCode.SYSTEM_ERROR,
        f"{target!r} cannot take the offsets of 'g'",
    )
    assert admin.consumer_offsets().offset_table == {"T@g": {0: 4}}
