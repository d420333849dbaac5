import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.broker.filter import is_match, is_replaced, is_subscription_fresh
from spec.values.java_text import java_hash
from spec.values.subscription import subscribe_tags
from spec.values.units import Milliseconds, TagCode

NOW = Milliseconds(1)
TAG = st.text("abcXYZ09", min_size=1, max_size=6)


@pytest.mark.clause("broker.filter.tag-code-is-java-hash")
@pytest.mark.parametrize(
    ("tag", "code"), [("TagA", 2598919), ("", 0), ("refund", -934813832), ("\U0001f600", 1772899)]
)
def test_tag_code_is_the_signed_java_hash(tag: str, code: int) -> None:
    assert java_hash(tag) == code


@pytest.mark.clause("broker.filter.star-matches-all")
def test_star_matches_tagged_and_untagged() -> None:
    everything = subscribe_tags("T", "*", NOW)
    assert is_match(everything, TagCode(0))
    assert is_match(everything, TagCode(java_hash("refund")))


@pytest.mark.clause("broker.filter.signed-comparison")
def test_negative_codes_are_compared_like_all_others() -> None:
    refunds = subscribe_tags("T", "refund", NOW)
    assert is_match(refunds, TagCode(-934813832))
    assert not is_match(refunds, TagCode(-934813832 % 2**32))
    assert not is_match(refunds, TagCode(-1))
    assert not is_match(refunds, TagCode(0))


@pytest.mark.clause("broker.filter.unknown-matches")
def test_unknown_code_matches_every_expression() -> None:
    assert is_match(subscribe_tags("T", "A || B", NOW), None)


@pytest.mark.clause("broker.filter.signed-comparison")
@given(wanted=st.lists(TAG, min_size=1, max_size=4), tag=TAG)
def test_a_wanted_tag_always_passes_the_hash(wanted: list[str], tag: str) -> None:
    subscription = subscribe_tags("T", " || ".join(wanted), NOW)
    if tag in wanted:
        assert is_match(subscription, TagCode(java_hash(tag)))


@pytest.mark.clause("broker.filter.highest-version-counts", "broker.filter.stale-subscription-refused")
def test_versions_decide_what_is_kept_and_who_is_judged() -> None:
    assert [is_replaced(5, version) for version in (4, 5, 6)] == [False, False, True]
    assert [is_subscription_fresh(5, version) for version in (4, 5, 6)] == [True, True, False]
