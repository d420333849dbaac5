"""The history that a process records: what it declares, and where it goes on."""

import secrets

from refimpl.broker.recorder import OBSERVED
from refimpl.broker.settings import BrokerSettings
from refimpl.history_log import HistoryLog
from refimpl.nameserver.settings import NameServerSettings
from refimpl.real.history_file import HistoryError, HistoryFile
from spec.history.declaration import Constants, Declaration, encode_declaration
from spec.store.flush import FlushMode


def derive_declaration(
    broker: BrokerSettings,
    name_server: NameServerSettings = NameServerSettings(),  # noqa: B008 - it is frozen
) -> Declaration:
    """The terms of a run under these settings; one clock stamps all its events."""
    constants = Constants(
        member_expiry_ms=broker.member_expiry_ms,
        member_scan_ms=broker.member_scan_ms,
        broker_register_ms=broker.register_ms,
        broker_expiry_ms=name_server.expiry_ms,
        broker_scan_ms=name_server.scan_ms,
        lock_lease_ms=broker.lease_ms,
        offset_flush_ms=broker.offset_flush_ms,
        cursor_flush_ms=broker.cursor_flush_ms,
        half_check_ms=broker.check_period_ms,
        half_check_limit=broker.check_limit,
    )
    durability = "sync" if broker.store.flush_mode is FlushMode.SYNC else "async"
    return Declaration(OBSERVED, durability=durability, constants=constants)


def open_log(file: HistoryFile, declaration: Declaration, now_ms: int) -> HistoryLog:
    """The log that goes into the file: a new run, or the file's own run gone on with."""
    earlier = file.earlier
    if earlier is None:
        run = f"serve-{now_ms}-{secrets.token_hex(3)}"
        return HistoryLog(run, declaration, file.add, now_ms)
    if earlier.declaration != encode_declaration(declaration):
        # One run has one set of terms; under others its events would be judged wrongly.
        raise HistoryError(f"{file.path}: its run was recorded under other settings; move it away")
    return HistoryLog(
        earlier.run,
        declaration,
        file.add,
        now_ms,
        next_number=earlier.next_number,
        log_mark=earlier.log_mark,
    )
