"""Tenures: a number a period, and a fence between them."""

import pytest

from spec.group.tenure import NO_TENURE, Tenancy, TenureNumber, begin_tenure, end_tenure, is_effect_due


@pytest.mark.clause("group.tenure.fence", "group.tenure.one-live")
def test_pull_answer_of_the_previous_tenure_is_void_after_the_queue_was_regained() -> None:
    first = begin_tenure(Tenancy())
    second = begin_tenure(end_tenure(first, first.latest))
    assert not is_effect_due(second, first.latest)
    assert is_effect_due(second, second.latest)


@pytest.mark.clause("group.tenure.fence")
def test_late_removal_of_an_old_tenure_does_not_end_the_new_one() -> None:
    second = begin_tenure(begin_tenure(Tenancy()))
    assert end_tenure(second, TenureNumber(1)) == second


@pytest.mark.clause("group.tenure.fence")
def test_nothing_is_due_before_the_first_tenure() -> None:
    assert not is_effect_due(Tenancy(), NO_TENURE)


@pytest.mark.clause("group.tenure.number-rises")
def test_numbers_are_never_given_out_twice() -> None:
    tenancy, numbers = Tenancy(), []
    for _ in range(3):
        tenancy = begin_tenure(tenancy)
        numbers.append(tenancy.latest)
        tenancy = end_tenure(tenancy, tenancy.latest)
    assert numbers == [1, 2, 3]


@pytest.mark.clause("group.tenure.fence")
def test_late_removal_of_an_old_tenure_does_not_revive_the_one_that_ended() -> None:
    second = begin_tenure(begin_tenure(Tenancy()))
    over = end_tenure(second, second.latest)
    assert over == Tenancy(TenureNumber(2), is_live=False)
    assert end_tenure(over, TenureNumber(1)) == over
