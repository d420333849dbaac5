"""The account file: read at the start, read again when it changed, never half."""

import pytest

from refimpl.broker.account_store import AccountStore
from refimpl.effect import Severity
from refimpl.ports import Disk, DiskError, DiskReason
from refimpl.simulated.disk import SimulatedDisk
from refimpl.simulated.world import World
from spec.broker.account import AccountEntry, AccountTable
from spec.broker.topic import DataVersion
from spec.rejection import Rejection

EXPECTED = "expected DENY, PUB, SUB, PUB|SUB, SUB|PUB, or `name=PUB`"
PATH = "config/plain_acl.yml"
ENTRY = AccountEntry("RocketMQ", "12345678")
OTHER = AccountEntry("another1", "87654321", is_admin=True)


def text_of(*keys: str) -> bytes:
    accounts = "".join(f"- accessKey: {key}\n  secretKey: 12345678\n" for key in keys)
    return f"accounts:\n{accounts}".encode()


def write(disk: Disk, content: bytes, path: str = PATH) -> None:
    if disk.has(path):
        disk.remove(path)
    file = disk.create(path, len(content))
    file.write(0, content)
    file.start_sync().finish()
    file.close()
    disk.sync_folder(path.rpartition("/")[0])


class Office:
    """A disk with an account file, and the time."""

    def __init__(self, content: bytes | None = text_of("RocketMQ")) -> None:
        self.world = World(1)
        self.disk: SimulatedDisk = self.world.add_disk("b")
        self.notes: list[tuple[Severity, str]] = []
        if content is not None:
            write(self.disk, content)

    def open(self, path: str = PATH) -> AccountStore:
        return AccountStore(self.disk, path, lambda severity, text: self.notes.append((severity, text)))

    def edit(self, content: bytes) -> None:
        self.world.run_for(1_000)
        write(self.disk, content)

    def take_notes(self) -> list[tuple[Severity, str]]:
        notes, self.notes = self.notes, []
        return notes


def test_accounts_of_the_file_count_from_the_start() -> None:
    accounts = Office(b"globalWhiteRemoteAddresses:\n- 10.0.0.*\n" + text_of("RocketMQ")).open()
    assert accounts.table == AccountTable(("10.0.0.*",), (ENTRY,))
    assert accounts.trust.addresses == ("10.0.0.*",)
    assert accounts.trust.accounts == {"RocketMQ": ENTRY.derive_known()}


def test_a_broker_does_not_start_over_a_file_that_is_missing_or_cannot_be_read() -> None:
    with pytest.raises(DiskError) as missing:
        Office(None).open()
    assert (missing.value.reason, missing.value.path) == (DiskReason.MISSING, PATH)
    with pytest.raises(Rejection) as refused:
        Office(b"accounts:\n\t- x\n").open()
    assert refused.value == Rejection(
        "broker.access.account-file",
        2,
        f"{PATH}: line 2: expected spaces, not tabs, before the text; correct it, or start without access"
        " control",
    )


def test_a_changed_file_counts_from_the_next_look() -> None:
    office = Office()
    accounts = office.open()
    accounts.look(0)
    office.edit(text_of("RocketMQ", "another1"))
    assert set(accounts.trust.accounts) == {"RocketMQ"}
    accounts.look(0)
    accounts.look(0)
    assert set(accounts.trust.accounts) == {"RocketMQ", "another1"}
    assert office.take_notes() == [(Severity.INFO, f"{PATH}: 2 accounts count from now on")]


@pytest.mark.clause("broker.access.bad-file-changes-nothing", "broker.access.secrets-stay")
def test_a_bad_change_is_told_once_without_the_secret_and_the_accounts_from_before_count() -> None:
    office = Office()
    accounts = office.open()
    for content, reason in (
        (
            text_of("RocketMQ") + b"  topicPerms: [T=pub]\n",
            f"accessKey 'RocketMQ': 'T=pub' is no permission: {EXPECTED}",
        ),
        (b"secretKey: 12345678: x\n", "line 1: expected a plain text, or one in quotes"),
        (text_of("short"), "accessKey 'short': it and its secretKey need 7 characters at least"),
    ):
        office.edit(content)
        accounts.look(0)
        accounts.look(0)
        told = f"{PATH}: {reason}; the accounts from before go on counting"
        assert office.take_notes() == [(Severity.ERROR, told)]
        assert accounts.trust.accounts == {"RocketMQ": ENTRY.derive_known()}
    office.edit(text_of("another1"))
    accounts.look(0)
    assert set(accounts.trust.accounts) == {"another1"}


@pytest.mark.clause("broker.access.bad-file-changes-nothing")
def test_a_file_that_is_gone_changes_nothing() -> None:
    office = Office()
    accounts = office.open()
    office.disk.remove(PATH)
    accounts.look(0)
    accounts.look(0)
    ((severity, text),) = office.take_notes()
    assert (severity, text.endswith("the accounts from before go on counting")) == (Severity.ERROR, True)
    assert set(accounts.trust.accounts) == {"RocketMQ"}


@pytest.mark.clause("store.config.durable-write")
def test_a_change_is_on_disk_as_one_more_version_and_is_not_read_again() -> None:
    office = Office()
    accounts = office.open()
    accounts.replace(AccountTable((), (ENTRY, OTHER), DataVersion(1, 4)), 77)
    expected = AccountTable((), (ENTRY, OTHER), DataVersion(77, 5))
    assert accounts.table == expected
    assert set(accounts.trust.accounts) == {"RocketMQ", "another1"}
    accounts.look(0)
    assert office.take_notes() == []
    office.disk.crash()
    assert office.open().table == expected
    assert not office.disk.has(PATH + ".tmp")


def test_a_file_in_no_folder_is_found_too() -> None:
    office = Office(None)
    write(office.disk, text_of("RocketMQ"), "plain_acl.yml")
    accounts = office.open("plain_acl.yml")
    accounts.replace(AccountTable(), 1)
    assert office.open("plain_acl.yml").table == AccountTable(version=DataVersion(1, 1))
