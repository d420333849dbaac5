"""Filtering at the broker: by the hash of a tag, never by the tag.

The promise: a message that matches the group's expression is not skipped. The opposite is not
promised: two tags may share a hash, so the client compares the text again.

Why it can fail: the hash is Java's signed 32-bit one, kept in 64 bits; an implementation that
looks negative hashes up as unsigned, or treats them as "no tag", skips messages for good. And a
pull that is judged by an older subscription than its client has would skip what the client has
just subscribed, so it is refused instead.

What is allowed: one subscription for each topic and group. The one with the highest version
counts, so members that ask for different tags take turns in overwriting each other.
"""

from spec.values.subscription import Subscription, is_code_wanted
from spec.values.units import TagCode


def is_match(subscription: Subscription, tag_code: TagCode | None) -> bool:
    """Whether a queue unit may match; an unknown code (None) always may.

    Clauses: broker.filter.star-matches-all, broker.filter.signed-comparison, broker.filter.unknown-matches
    """
    return is_code_wanted(subscription, tag_code)


def is_subscription_fresh(known_version: int, requested_version: int) -> bool:
    """Whether the broker's copy of a subscription may judge the pull: it is not older than the client's.

    Clause: broker.filter.stale-subscription-refused
    """
    return known_version >= requested_version


def is_replaced(known_version: int, arrived_version: int) -> bool:
    """Whether an arriving subscription of a known topic takes the place of the one that is kept.

    Clause: broker.filter.highest-version-counts
    """
    return arrived_version > known_version
