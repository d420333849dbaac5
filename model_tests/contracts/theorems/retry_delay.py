"""Retry delay: waits grow, and every message is given up in the end."""

from spec.group.retry_delay import DeadLetter, Retry, derive_fallback_retry, derive_retry


def level_is_always_real(attempts: int, asked: int, limit: int) -> bool:
    """A retry waits at one of the eighteen levels.

    clause: group.retry.level-by-attempts
    pre: 0 <= attempts <= 64
    pre: -2 <= asked <= 64
    pre: 0 <= limit <= 64
    post: __return__
    """
    retry = derive_retry(attempts, asked, limit)
    return isinstance(retry, DeadLetter) or 1 <= retry.level <= 18


def default_level_follows_the_attempts(attempts: int) -> bool:
    """Attempt n waits at level 3 + n, up to the last.

    clause: group.retry.level-by-attempts
    pre: 0 <= attempts < 16
    post: __return__
    """
    retry = derive_retry(attempts, 0)
    return isinstance(retry, Retry) and retry.level == min(18, 3 + attempts)


def limit_gives_up(attempts: int, asked: int, limit: int) -> bool:
    """At the limit no level helps; below it only a negative level gives up.

    clause: group.retry.limit-to-dead-letter
    pre: 0 <= attempts <= 64
    pre: -2 <= asked <= 20
    pre: 0 <= limit <= 64
    post: __return__
    """
    is_given_up = isinstance(derive_retry(attempts, asked, limit), DeadLetter)
    return is_given_up == (attempts >= limit or asked < 0)


def waits_never_shrink(attempts: int) -> bool:
    """The next attempt waits at least as long as this one, or there is none.

    clause: group.retry.level-by-attempts
    pre: 0 <= attempts <= 20
    post: __return__
    """
    now, later = derive_retry(attempts, 0), derive_retry(attempts + 1, 0)
    if isinstance(now, DeadLetter):
        return isinstance(later, DeadLetter)
    return isinstance(later, DeadLetter) or now.delay_ms <= later.delay_ms


def fallback_gives_up_one_attempt_earlier(attempts: int, limit: int) -> bool:
    """A copy that the client sends is judged as the next attempt.

    clause: group.retry.fallback-one-earlier
    pre: 0 <= attempts <= 32
    pre: 0 <= limit <= 32
    post: __return__
    """
    fallback = isinstance(derive_fallback_retry(attempts, limit), DeadLetter)
    return fallback == isinstance(derive_retry(attempts + 1, 0, limit), DeadLetter)
