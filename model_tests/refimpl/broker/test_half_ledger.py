from refimpl.broker import half_ledger
from refimpl.broker.half_ledger import Decided, HalfLedger
from spec.values.units import CommitLogPosition, QueueOffset

FAMILY = CommitLogPosition(7)


def test_the_newest_copy_counts_whatever_place_is_asked_for() -> None:
    ledger = HalfLedger()
    assert ledger.newest(FAMILY, QueueOffset(3)) == 3
    ledger.move(FAMILY, QueueOffset(5))
    assert (ledger.newest(FAMILY, QueueOffset(3)), ledger.newest(FAMILY, QueueOffset(5))) == (5, 5)
    ledger.forget(FAMILY)
    assert ledger.newest(FAMILY, QueueOffset(3)) == 3


def test_who_waits_for_a_busy_half_message_comes_in_turn_and_one_at_a_time() -> None:
    ledger = HalfLedger()
    heard: list[str] = []

    def take(name: str) -> None:
        heard.append(name)
        ledger.begin(FAMILY)

    ledger.begin(FAMILY)
    ledger.wait(FAMILY, lambda now_ms: heard.append(f"a {now_ms}"))
    ledger.wait(FAMILY, lambda _: take("b"))
    ledger.wait(FAMILY, lambda now_ms: heard.append(f"c {now_ms}"))
    ledger.end(FAMILY, 10)
    assert (heard, ledger.is_busy(FAMILY)) == (["a 10", "b"], True)
    ledger.end(FAMILY, 20)
    assert (heard, ledger.is_busy(FAMILY)) == (["a 10", "b", "c 20"], False)


def test_decisions_that_are_remembered_are_bounded() -> None:
    ledger = HalfLedger()
    decided = Decided(8, is_recorded=True)
    for number in range(half_ledger.REMEMBERED + 1):
        ledger.decide(CommitLogPosition(number), decided)
    assert ledger.decided(CommitLogPosition(0)) is None
    assert ledger.decided(CommitLogPosition(1)) == decided
    ledger.forget(CommitLogPosition(1))
    assert ledger.decided(CommitLogPosition(1)) is None


def test_checks_that_were_counted_and_not_sent_are_known_until_a_copy_has_the_right_number() -> None:
    ledger = HalfLedger()
    ledger.count_unsent(FAMILY)
    ledger.count_unsent(FAMILY)
    assert ledger.unsent(FAMILY) == 2
    ledger.clear_unsent(FAMILY)
    assert ledger.unsent(FAMILY) == 0
