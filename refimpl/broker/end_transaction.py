"""The end of a transaction: Apache's EndTransactionProcessor.

A commit stores the final message and right behind it the operation record. The order in the log is
the order of durability, so a record that survives a crash has its message before it.

A half message that is being decided, or appended again, is busy: what is said about it meanwhile
is heard afterwards. The same decision once more changes nothing, the opposite one is refused.
"""

from collections.abc import Mapping
from functools import partial
from typing import Final

from refimpl.agenda import Agenda
from refimpl.broker.half_ledger import Decided, HalfLedger
from refimpl.broker.half_store import (
    HalfStore,
    derive_family,
    derive_final,
    derive_half_identity,
    derive_operation,
    derive_place,
)
from refimpl.broker.intake import is_stored
from refimpl.broker.parts import BrokerParts
from refimpl.effect import Severity
from refimpl.remoting.request import OK, Handler, Reply, Request, refuse
from refimpl.store.message_store import Appended
from spec.broker.send import PutStatus, derive_code
from spec.broker.transaction import Decision, Resolution, check_decision, derive_resolution
from spec.history.kind import Kind
from spec.layout.stored_message import StoredMessage
from spec.rejection import Rejection
from spec.values.system_flag import TransactionType
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.header.transaction import EndTransactionHeader

RETRY_MS: Final = 1_000
"""Pause before an operation record is tried again whose final message is stored."""


class _Pending:
    """A decision on its way into the store."""

    def __init__(self, request: Request, half: StoredMessage, kind: int) -> None:
        self.request = request
        self.half = half
        self.kind = kind
        self.family = derive_family(half)
        self.is_answered = False


class EndTransactionDesk:
    """Takes the decisions of producers."""

    def __init__(self, parts: BrokerParts, agenda: Agenda, halves: HalfStore, ledger: HalfLedger) -> None:
        self._parts = parts
        self._agenda = agenda
        self._halves = halves
        self._ledger = ledger

    def handlers(self) -> Mapping[int, Handler]:
        """By request code."""
        return {RequestCode.END_TRANSACTION: self.on_end}

    def on_end(self, request: Request) -> Reply | None:
        """The decision is on its way into the store, or ignored, or the answer says why not.

        Clauses: broker.transaction.decision-matches-half, broker.transaction.slave-refuses,
        broker.transaction.unknown-is-ignored
        """
        header = request.header(EndTransactionHeader)
        kind = header.commit_or_rollback
        decision = Decision(
            header.producer_group, header.tran_state_table_offset, header.commit_log_offset, kind
        )
        half = self._halves.read(header.commit_log_offset)
        place = None if half is None else derive_place(half)
        code = check_decision(decision, place, is_slave=self._parts.settings.broker_id != 0)
        resolution = derive_resolution(kind)
        if code is not None:
            return refuse(code, self._explain(code, header))
        if resolution is None:
            return refuse(ResponseCode.SYSTEM_ERROR, f"{kind} is no decision: 0, 8 and 12 are")
        if resolution is not Resolution.IGNORE and half is not None:
            self._decide(_Pending(request, half, kind), request.now_ms)
        return None

    def _explain(self, code: ResponseCode, header: EndTransactionHeader) -> str:
        if code is ResponseCode.SLAVE_NOT_AVAILABLE:
            return "this broker is a replica: tell the master"
        return (
            f"no half message of group {header.producer_group[:255]} has queue offset"
            f" {header.tran_state_table_offset} and log position {header.commit_log_offset}"
        )

    def _decide(self, pending: _Pending, now_ms: int) -> None:
        family, ledger = pending.family, self._ledger
        if ledger.is_busy(family):
            ledger.wait(family, partial(self._decide, pending))
            return
        earlier = ledger.decided(family)
        if earlier is None:
            ledger.begin(family)
            self._carry_out(pending, now_ms)
        elif earlier.kind == pending.kind:
            self._answer(pending, OK)
        else:
            self._answer(pending, refuse(ResponseCode.SYSTEM_ERROR, "the opposite was decided already"))

    def _carry_out(self, pending: _Pending, now_ms: int) -> None:
        """What the decision makes the broker store is on its way.

        Clause: broker.transaction.commit-stores-first
        """
        if derive_resolution(pending.kind) is Resolution.STORE_THEN_FINISH:
            try:
                final = derive_final(pending.half)
            except Rejection as refusal:
                self._refuse(pending, ResponseCode.SYSTEM_ERROR, str(refusal), now_ms)
                return
            self._parts.intake.put(final, now_ms, partial(self._on_final, pending))
        if not pending.is_answered:
            self._finish(pending, now_ms)

    def _on_final(self, pending: _Pending, status: PutStatus, appended: Appended, now_ms: int) -> None:
        if not is_stored(status):
            self._refuse(pending, derive_code(status), appended.detail or status.value, now_ms)

    def _finish(self, pending: _Pending, now_ms: int) -> None:
        """The operation record is on its way; it names the newest place of the half message.

        Clause: broker.transaction.operation-record
        """
        offset = self._ledger.newest(pending.family, pending.half.queue_offset)
        record = derive_operation(pending.half, offset, pending.kind, self._parts.settings.host, now_ms)
        self._parts.intake.put(record, now_ms, partial(self._on_operation, pending))

    def _on_operation(self, pending: _Pending, status: PutStatus, appended: Appended, now_ms: int) -> None:
        if is_stored(status):
            is_promised = status is PutStatus.PUT_OK
            self._ledger.decide(pending.family, Decided(pending.kind, is_promised))
            if is_promised:
                self._record(pending, now_ms)
            self._answer(pending, OK)
            self._ledger.end(pending.family, now_ms)
        elif pending.kind == TransactionType.COMMIT:
            # The message is out: the half message stays busy, or it could be committed twice.
            text = f"a committed message is stored, its operation record is not: {appended.detail}"
            self._parts.note(Severity.WARNING, f"{text}; it is tried again")
            self._answer(pending, OK)
            self._agenda.at(now_ms + RETRY_MS, partial(self._finish, pending))
        else:
            self._refuse(pending, derive_code(status), appended.detail or status.value, now_ms)

    def _refuse(self, pending: _Pending, code: ResponseCode, remark: str, now_ms: int) -> None:
        """Nothing was stored, and the half message is as open as before."""
        self._answer(pending, refuse(code, remark))
        self._ledger.end(pending.family, now_ms)

    def _answer(self, pending: _Pending, reply: Reply) -> None:
        if not pending.is_answered:
            pending.is_answered = True
            self._parts.answer(pending.request, reply)

    def _record(self, pending: _Pending, now_ms: int) -> None:
        recorder = self._parts.recorder
        if recorder.is_on:
            is_commit = pending.kind == TransactionType.COMMIT
            event = recorder.event(Kind.RESOLVE, now_ms)._replace(
                group=derive_place(pending.half).producer_group,
                offset=self._ledger.newest(pending.family, pending.half.queue_offset),
                message=derive_half_identity(pending.half),
                status="commit" if is_commit else "rollback",
            )
            recorder.add(event)
