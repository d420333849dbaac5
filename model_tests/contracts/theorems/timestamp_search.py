"""Theorems on the search by time: nearest in 4.9.x, first not older in 5.x."""

from spec.broker.timestamp_search import search_lower_bound, search_nearest


def answer_is_nearest(first: int, second: int, third: int, wanted: int) -> bool:
    """No unit is nearer to the time than the answer.

    clause: broker.search.nearest
    pre: 0 <= first <= second <= third <= 10**15
    pre: 0 <= wanted <= 10**15
    post: __return__
    """
    times = (first, second, third)
    found = search_nearest(times, wanted)
    if found is None:
        return False
    distance = abs(times[found] - wanted)
    return all(distance <= abs(time - wanted) for time in times)


def tie_goes_to_the_earlier(middle: int, distance: int) -> bool:
    """Of two units equally far from the time, the earlier one is the answer.

    clause: broker.search.tie-is-left
    pre: 1 <= distance <= middle <= 10**15
    post: __return__
    """
    return search_nearest((middle - distance, middle + distance), middle) == 0


def removed_unit_is_never_the_answer(first: int, second: int, third: int, wanted: int, removed: int) -> bool:
    """While a unit above the log's start is left, none below it is answered.

    clause: broker.search.removed-is-left
    pre: 0 <= first <= second <= third <= 10**15
    pre: 0 <= wanted <= 10**15
    pre: 0 <= removed <= 2
    post: __return__
    """
    found = search_nearest((first, second, third), wanted, removed)
    return found is not None and found >= removed


def lower_bound_splits_older_from_newer(first: int, second: int, third: int, wanted: int) -> bool:
    """Everything before the answer is older than the time, everything from it on is not.

    clause: broker.search.lower-bound
    pre: 0 <= first <= second <= third <= 10**15
    pre: 0 <= wanted <= 10**15
    post: __return__
    """
    times = (first, second, third)
    bound = search_lower_bound(times, wanted)
    return all((time < wanted) == (index < bound) for index, time in enumerate(times))
