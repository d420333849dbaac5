"""FIL: a small broker and client that filter rightly are never blamed, and each slip is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.spec.guarantees.lines import find_shown, judge_lines
from spec.guarantees.filter import TAGS_KEPT, Tail
from spec.guarantees.verdict import Verdict
from spec.values.java_text import java_hash

TAGS = ("Aa", "BB", "AaAa", "BBBB", "C", "")
"""Two pairs with equal hashes, one tag by itself, and no tag."""

OWN = "0s a own g T@x:0 tenure=1 offset=0 mode=concurrent"

EXPRESSIONS = st.one_of(
    st.just(("*", frozenset(TAGS))),
    st.sets(st.sampled_from(TAGS[:-1]), min_size=1).map(
        lambda tags: ("||".join(sorted(tags)), frozenset(tags))
    ),
)


def write_run(expression: str, stored: list[str], taken: list[int]) -> list[str]:
    """One pull over everything that is stored, and a start for each message that was taken."""
    lines = [f"0s a subscribe g topic=T expression={expression} version=1", OWN]
    for offset, tag in enumerate(stored):
        lines.append(f"1s x dispatch T@x:0 offset={offset} message=m{offset} position={offset} tag={tag}")
    offsets = ",".join(map(str, taken))
    lines.append(
        f"2s a pulled g T@x:0 tenure=1 offset=0 next={len(stored)} request=1 status=found offsets={offsets}"
    )
    starts = [
        f"3s a start g T@x:0 tenure=1 offset={offset} message=m{offset} attempt=0 request={offset} "
        f"tag={stored[offset]}"
        for offset in taken
    ]
    return [*lines, *starts]


@given(EXPRESSIONS, st.lists(st.sampled_from(TAGS), min_size=1, max_size=20))
def test_hash_then_exact_filter_is_right(expression: tuple[str, frozenset[str]], stored: list[str]) -> None:
    text, wanted = expression
    codes = {java_hash(tag) for tag in wanted}
    sent = [offset for offset, tag in enumerate(stored) if text == "*" or (tag and java_hash(tag) in codes)]
    taken = [offset for offset in sent if stored[offset] in wanted]
    lines = write_run(text, stored, taken)
    assert judge_lines("FIL-1", *lines).violations == 0
    assert judge_lines("FIL-2", *lines).violations == 0


@given(st.lists(st.sampled_from(("Aa", "BB", "C")), min_size=1, max_size=20))
def test_client_that_trusts_the_hash_is_found(stored: list[str]) -> None:
    taken = [offset for offset, tag in enumerate(stored) if tag != "C"]
    judgement = judge_lines("FIL-1", *write_run("Aa", stored, taken))
    assert judgement.violations == stored.count("BB")


@given(st.lists(st.sampled_from(("A", "B", "")), min_size=1, max_size=20))
def test_broker_that_passes_over_what_is_wanted_is_found(stored: list[str]) -> None:
    judgement = judge_lines("FIL-2", *write_run("A", stored, []))
    assert judgement.violations == stored.count("A")


@pytest.mark.clause("guarantee.fil.nothing-wanted-skipped")
def test_skipped_message_is_shown_with_subscription_and_pull() -> None:
    judgement = judge_lines("FIL-2", *write_run("A", ["B", "A"], []))
    assert find_shown(judgement) == [
        ("a pull of a passed over offset 1 of T x:0, tagged 'A' and wanted", [1, 5])
    ]


@pytest.mark.clause("guarantee.fil.nothing-wanted-skipped")
def test_members_that_differ_leave_it_open() -> None:
    other = "0s b subscribe g topic=T expression=B version=2"
    judgement = judge_lines("FIL-2", other, *write_run("A", ["B", "A"], []))
    assert (judgement.verdict, judgement.reason) == (
        Verdict.UNKNOWN,
        "a passed over offset 1 of T while b subscribes 'B': members of g differ (A3)",
    )


@pytest.mark.clause("guarantee.fil.nothing-wanted-skipped")
@pytest.mark.parametrize("status", ["moved", "error"])
def test_answer_that_looked_at_nothing_is_not_judged(status: str) -> None:
    lines = [line.replace("status=found", f"status={status}") for line in write_run("A", ["A"], [])]
    assert judge_lines("FIL-2", *lines).verdict is Verdict.NOT_EXERCISED


@pytest.mark.clause("guarantee.fil.listener-match")
def test_message_with_unknown_tag_is_not_judged() -> None:
    start = "1s a start g T@x:0 tenure=1 offset=0 message=m0 attempt=0 request=1"
    judgement = judge_lines("FIL-1", "0s a subscribe g topic=T expression=A version=1", OWN, start)
    assert judgement.verdict is Verdict.NOT_EXERCISED


@pytest.mark.clause("guarantee.fil.nothing-wanted-skipped")
def test_tail_forgets_the_oldest_and_begins_anew_after_a_gap() -> None:
    tail = Tail(0)
    for offset in range(2 * TAGS_KEPT + 1):
        tail.add(offset, "A")
    assert (tail.base, len(tail.tags)) == (TAGS_KEPT, TAGS_KEPT + 1)
    tail.add(9, "B")
    assert tail == Tail(9, ["B"])
