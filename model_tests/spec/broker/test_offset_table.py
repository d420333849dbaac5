import pytest

from spec.broker.offset_table import (
    Carrier,
    Commit,
    Explanation,
    answer_query,
    apply_commit,
    derive_key,
    explain_decrease,
    is_commit_of_pull,
    is_key_of_group,
)
from spec.values.units import QueueOffset


def commit(offset: int, carrier: Carrier = Carrier.UPDATE, client: str = "a", tenure: int = 1) -> Commit:
    return Commit(QueueOffset(offset), carrier, client, tenure)


@pytest.mark.clause("broker.offset.commit-overwrites")
def test_commit_is_applied_even_backwards() -> None:
    assert apply_commit(None, commit(5)) == commit(5)
    assert apply_commit(commit(9), commit(5)) == commit(5)


@pytest.mark.clause("broker.offset.decrease-explained")
@pytest.mark.parametrize(
    ("old", "new", "explanation"),
    [
        (None, commit(0), Explanation.NO_DECREASE),
        (commit(5), commit(5), Explanation.NO_DECREASE),
        (commit(5), commit(4, Carrier.RESET), Explanation.DECISION),
        (commit(5), commit(4, Carrier.CORRECTION), Explanation.DECISION),
        (commit(5), commit(4, Carrier.REPLICATION), Explanation.DECISION),
        (commit(5), commit(4, client="b"), Explanation.OTHER_TENURE),
        (commit(5), commit(4, tenure=2), Explanation.OTHER_TENURE),
        (commit(5), commit(4, Carrier.PULL), Explanation.OTHER_CARRIER),
        (commit(5), commit(4), Explanation.UNEXPLAINED),
    ],
)
def test_decrease_has_its_explanation(old: Commit | None, new: Commit, explanation: Explanation) -> None:
    assert explain_decrease(old, new) is explanation


@pytest.mark.clause(
    "broker.offset.query-stored", "broker.offset.young-queue-zero", "broker.offset.query-not-found"
)
@pytest.mark.parametrize(
    ("stored", "minimum", "is_on_disk", "answer"),
    [
        (7, 0, False, 7),
        (0, 100, True, 0),
        (None, 0, False, 0),
        (-1, 0, False, 0),
        (None, 0, True, None),
        (None, 1, False, None),
        (-1, 1, False, None),
    ],
)
def test_query_answers_a_value_zero_or_none(
    stored: int | None, minimum: int, *, is_on_disk: bool, answer: int | None
) -> None:
    assert answer_query(stored, minimum, is_first_message_on_disk=is_on_disk) == answer


@pytest.mark.clause("broker.offset.young-queue-zero")
def test_later_clients_may_ask_for_not_found_on_a_young_queue() -> None:
    assert answer_query(None, 0, is_first_message_on_disk=False, zero_for_young_queue=False) is None


@pytest.mark.clause("broker.offset.key", "broker.offset.delete-exact-group")
def test_deleting_a_group_spares_groups_with_similar_names() -> None:
    keys = [derive_key("T", group) for group in ("G", "MY_G", "G2")]
    assert keys == ["T@G", "T@MY_G", "T@G2"]
    assert [key for key in keys if is_key_of_group(key, "G")] == ["T@G"]
    assert not is_key_of_group("G", "G")
    assert not is_key_of_group("", "")


@pytest.mark.clause("broker.offset.delete-exact-group")
def test_group_of_a_key_is_all_that_follows_the_first_separator() -> None:
    assert not is_key_of_group("T@MY@G", "G")


@pytest.mark.clause("broker.offset.pull-commits-once")
def test_pull_commits_when_asked_on_a_master_in_its_first_pass() -> None:
    assert is_commit_of_pull(0b00001, is_slave=False, is_first_pass=True)
    assert not is_commit_of_pull(0b11110, is_slave=False, is_first_pass=True)
    assert not is_commit_of_pull(0b00001, is_slave=True, is_first_pass=True)
    assert not is_commit_of_pull(0b00001, is_slave=False, is_first_pass=False)
