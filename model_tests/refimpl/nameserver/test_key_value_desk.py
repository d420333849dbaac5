"""The key-value table: 100, 101, 102 and 219, and what a restart or a crash leaves of it."""

import pytest

from model_tests.refimpl.nameserver.office import START, Office, reply
from refimpl.effect import Note, Send, Severity
from refimpl.nameserver.settings import NameServerSettings
from refimpl.ports import DiskError, DiskReason
from refimpl.simulated.disk import SimulatedDisk
from spec.override import override
from spec.rejection import Rejection
from spec.wire.code import RequestCode

FILE = "namesrv/kvConfig.json"
KEY = {"namespace": "N", "key": "k"}


def content(disk: SimulatedDisk, path: str = FILE) -> bytes:
    handle = disk.open(path)
    return handle.read(0, handle.size)


def damage(disk: SimulatedDisk, path: str) -> None:
    disk.flip_bit(path, 0, 3)


@pytest.mark.clause("nameserver.key-value.missing-is-not-found", "nameserver.key-value.delete-is-idempotent")
def test_a_value_is_put_read_and_deleted() -> None:
    office = Office()
    missing = reply(22, "No config item, Namespace: N Key: k")
    assert office.ask(RequestCode.GET_KV_CONFIG, KEY) == missing
    assert office.put("N", "k", "v") == reply()
    assert office.ask(RequestCode.GET_KV_CONFIG, KEY) == reply(fields={"value": "v"})
    assert office.put("N", "k", "") == reply()
    assert office.ask(RequestCode.GET_KV_CONFIG, KEY) == reply(fields={"value": ""})
    for _ in range(2):
        assert office.ask(RequestCode.DELETE_KV_CONFIG, KEY) == reply()
    assert office.ask(RequestCode.GET_KV_CONFIG, KEY) == missing


@pytest.mark.clause("nameserver.key-value.namespace-stays")
def test_a_namespace_is_listed_sorted_and_stays_when_it_is_empty() -> None:
    office = Office()
    ask = (RequestCode.GET_KVLIST_BY_NAMESPACE, {"namespace": "N"})
    assert office.ask(*ask) == reply(22, "No config item, Namespace: N")
    office.put("N", "k", "v")
    office.put("N", "a", "w")
    assert office.ask(*ask) == reply(body=b'{"table":{"a":"w","k":"v"}}')
    for key in "ak":
        office.ask(RequestCode.DELETE_KV_CONFIG, {"namespace": "N", "key": key})
    assert office.ask(*ask) == reply(body=b'{"table":{}}')


def test_a_put_without_its_namespace_is_refused() -> None:
    remark = "at 0: namespace: the field is missing [wire.header-fields.required]"
    assert Office().ask(RequestCode.PUT_KV_CONFIG, {"key": "k", "value": "v"}) == reply(1, remark)


def test_the_table_does_not_grow_beyond_its_limit_but_can_shrink() -> None:
    office = Office(NameServerSettings(key_value_limit=10))
    assert office.put("N", "k", "12345678") == reply()
    remark = "the key-value table would have 11 characters, over 10 (keyValueLimit)"
    assert office.put("N", "k", "123456789") == reply(1, remark)
    assert office.value("N", "k") == "12345678"
    assert office.put("N", "k", "1") == reply()
    assert office.put("N", "l", "2345") == reply()
    office.ask(RequestCode.UPDATE_NAMESRV_CONFIG, body=b"keyValueLimit=1")
    assert office.put("N", "l", "6789") == reply()
    assert office.put("N", "l", "67890") == reply(
        1, "the key-value table would have 9 characters, over 1 (keyValueLimit)"
    )


@pytest.mark.clause("store.config.safe-write", "store.config.durable-write")
def test_the_table_is_on_disk_before_the_answer() -> None:
    office = Office()
    office.put("N", "k", "v")
    assert content(office.disk) == b'{"configTable":{"N":{"k":"v"}}}'
    office.disk.crash()
    assert office.restart().value("N", "k") == "v"


def test_a_restarted_name_server_has_its_table_and_no_routes() -> None:
    office = Office()
    office.put("N", "k", "v")
    office.register()
    again = office.restart()
    assert again.value("N", "k") == "v"
    assert again.core.broker_count == 0


@pytest.mark.clause("store.config.load-falls-back")
def test_a_damaged_file_falls_back_to_its_copy_and_that_is_told() -> None:
    office = Office()
    office.put("N", "k", "old")
    office.put("N", "k", "new")
    damage(office.disk, FILE)
    again = office.restart()
    (told,) = again.core.take_effects()
    assert isinstance(told, Note)
    assert told.severity is Severity.WARNING
    assert told.text.startswith("namesrv/kvConfig.json is not usable, its saved copy counts: at 0: ")
    assert again.value("N", "k") == "old"
    again.put("N", "l", "more")
    assert content(again.disk, FILE + ".bak") == b'{"configTable":{"N":{"k":"old"}}}'


@pytest.mark.clause("store.config.unreadable-is-not-absent")
def test_a_name_server_does_not_start_over_a_table_that_cannot_be_read() -> None:
    office = Office()
    office.put("N", "k", "old")
    office.put("N", "k", "new")
    damage(office.disk, FILE)
    damage(office.disk, FILE + ".bak")
    with pytest.raises(Rejection, match=r"cannot be read .*: repair one of them, or move both away"):
        office.restart()


def test_a_disk_that_fails_is_told_and_the_old_table_stays() -> None:
    office = Office()
    office.put("N", "k", "old")
    office.disk.fail_syncs(1)
    note, send = office.talk(RequestCode.PUT_KV_CONFIG, {**KEY, "value": "new"})
    assert note == Note(
        Severity.ERROR,
        "namesrv/kvConfig.json is not written, the old table stays: "
        "namesrv/kvConfig.json.tmp: the disk failed (this sync was to fail)",
    )
    assert isinstance(send, Send)
    assert (send.frame.code, send.frame.remark) == (
        1,
        "namesrv/kvConfig.json.tmp: the disk failed (this sync was to fail)",
    )
    assert office.value("N", "k") == "old"
    assert office.put("N", "k", "newer") == reply()
    assert office.restart().value("N", "k") == "newer"


class LateDisk(SimulatedDisk):
    """A disk on which the second sync of a folder fails: the new file has its name already."""

    folder_syncs: int | None = None

    @override
    def sync_folder(self, folder: str) -> None:
        if self.folder_syncs is not None:
            self.folder_syncs += 1
            if self.folder_syncs == 2:
                raise DiskError(DiskReason.BROKEN, folder)
        super().sync_folder(folder)


def test_a_value_whose_write_failed_late_does_not_come_back_after_its_deletion() -> None:
    disk = LateDisk(1, clock=lambda: START)
    office = Office(disk=disk)
    office.put("N", "a", "v")
    disk.folder_syncs = 0
    assert [type(effect) for effect in office.talk(RequestCode.PUT_KV_CONFIG, {**KEY, "value": "v"})] == [
        Note,
        Send,
    ]
    assert content(disk) == b'{"configTable":{"N":{"a":"v","k":"v"}}}'
    assert office.value("N", "k") is None
    office.ask(RequestCode.DELETE_KV_CONFIG, KEY)
    assert office.restart().value("N", "k") is None


class WatchedDisk(SimulatedDisk):
    """A disk that keeps every image that a crash before a sync may leave."""

    images: list[SimulatedDisk]

    @override
    def check_failure(self, kind: str, path: str) -> None:
        if kind == "sync":
            self.keep()
        super().check_failure(kind, path)

    def keep(self) -> None:
        count = len(self.pending())
        for chosen in range(1 << count):
            kept = [number for number in range(count) if chosen >> number & 1]
            self.images.append(self.image(kept))


@pytest.mark.clause("store.config.durable-write")
def test_a_crash_at_any_moment_of_a_write_leaves_the_old_table_or_the_new() -> None:
    disk = WatchedDisk(1, clock=lambda: START)
    disk.images = []
    office = Office(disk=disk)
    office.put("N", "k", "first")
    office.put("N", "k", "second")
    disk.images.clear()
    office.put("N", "k", "third")
    disk.keep()
    found = [Office(disk=image).value("N", "k") for image in disk.images]
    assert len(found) > 20
    assert set(found) == {"second", "third"}
    assert found[-1] == "third"
