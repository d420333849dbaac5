"""Transactions as a broker has them: the half topic, its decisions, its checks."""

from collections.abc import Mapping, Sequence

from refimpl.agenda import Agenda
from refimpl.broker.check_request import CheckRequest, Push
from refimpl.broker.end_transaction import EndTransactionDesk
from refimpl.broker.half_ledger import HalfLedger
from refimpl.broker.half_store import HalfStore
from refimpl.broker.parts import BrokerParts
from refimpl.broker.producer_registry import ProducerRegistry
from refimpl.broker.resume_check_desk import ResumeCheckDesk
from refimpl.broker.transaction_check import TransactionCheck
from refimpl.remoting.request import Handler
from refimpl.store.new_message import NewMessage
from spec.layout.record_head import RecordHead


class Transactions:
    """The rooms that half messages pass through."""

    def __init__(
        self, parts: BrokerParts, agenda: Agenda, producers: ProducerRegistry, push: Push
    ) -> None:
        ledger = HalfLedger()
        self._halves = HalfStore(parts.store, parts.recorder, parts.settings.host)
        self._decisions = EndTransactionDesk(parts, agenda, self._halves, ledger)
        self._resumptions = ResumeCheckDesk(parts)
        requests = CheckRequest(producers, push)
        self._checks = TransactionCheck(parts, agenda, self._halves, ledger, requests)

    def handlers(self) -> Mapping[int, Handler]:
        """By request code."""
        return {**self._decisions.handlers(), **self._resumptions.handlers()}

    def prepare(self, new: NewMessage, properties: Mapping[str, str]) -> NewMessage:
        """The half message that is stored in place of a prepared one."""
        return self._halves.prepare(new, properties)

    def start(self, now_ms: int) -> None:
        """Rounds of checks begin one period from now."""
        self._checks.start(now_ms)

    def on_arrivals(self, arrived: Sequence[RecordHead], now_ms: int) -> None:
        """The history knows what stands in the half topic."""
        self._halves.on_arrivals(arrived, now_ms)

    def persist(self, now_ms: int) -> None:
        """The offset table holds where the checks may go on; the table is saved with all others."""
        self._checks.persist(now_ms)
