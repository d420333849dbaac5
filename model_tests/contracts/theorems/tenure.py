"""Tenure: what began in an earlier period has no effect on a later one."""

from spec.group.tenure import Tenancy, TenureNumber, begin_tenure, end_tenure, is_effect_due


def new_tenure_fences_every_earlier_one(latest: int, effect: int, *, is_live: bool) -> bool:
    """After a new tenure began, effects of all earlier numbers are void, its own are due.

    clause: group.tenure.fence
    pre: 0 <= effect <= latest
    post: __return__
    """
    after = begin_tenure(Tenancy(TenureNumber(latest), is_live))
    return not is_effect_due(after, TenureNumber(effect)) and is_effect_due(after, after.latest)


def ended_tenure_has_no_effects(latest: int, effect: int) -> bool:
    """After the live tenure ended nothing is due, whatever its number.

    clause: group.tenure.fence
    pre: 1 <= latest
    pre: 0 <= effect
    post: __return__
    """
    after = end_tenure(Tenancy(TenureNumber(latest), is_live=True), TenureNumber(latest))
    return not is_effect_due(after, TenureNumber(effect))


def late_end_of_an_earlier_tenure_changes_nothing(latest: int, ended: int, *, is_live: bool) -> bool:
    """Ending a tenure that is over leaves the present one alone.

    clause: group.tenure.fence
    pre: 0 <= ended < latest
    post: __return__
    """
    before = Tenancy(TenureNumber(latest), is_live)
    return end_tenure(before, TenureNumber(ended)) == before


def at_most_one_tenure_is_live(latest: int, one: int, two: int, *, is_live: bool) -> bool:
    """Two different tenures are never both due.

    clause: group.tenure.one-live
    pre: 0 <= latest
    pre: one != two
    post: __return__
    """
    tenancy = Tenancy(TenureNumber(latest), is_live)
    return not (is_effect_due(tenancy, TenureNumber(one)) and is_effect_due(tenancy, TenureNumber(two)))


def tenure_numbers_rise(latest: int, *, is_live: bool) -> bool:
    """A number is never given out twice, also after an end.

    clause: group.tenure.number-rises
    pre: 0 <= latest
    post: __return__
    """
    before = Tenancy(TenureNumber(latest), is_live)
    return begin_tenure(end_tenure(before, before.latest)).latest > latest
