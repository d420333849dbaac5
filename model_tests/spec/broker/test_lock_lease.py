import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.broker.lock_lease import LEASE_MS, Lease, grant, is_expired, is_held_by, release

REQUESTS = st.lists(
    st.tuples(st.sampled_from(["lock", "unlock"]), st.sampled_from("abc"), st.integers(0, 40_000)),
    max_size=30,
)


@pytest.mark.clause("broker.lock.one-holder", "broker.lock.renewal")
def test_lock_request_of_another_is_refused_and_of_the_holder_renews() -> None:
    entry = Lease("a", 1_000)
    assert grant(entry, "b", 61_000) == entry
    assert grant(entry, "a", 61_000) == Lease("a", 61_000)


@pytest.mark.clause("broker.lock.expiry-is-strict", "broker.lock.expired-is-taken-over")
def test_lease_ends_one_millisecond_after_sixty_seconds() -> None:
    entry = Lease("a", 1_000)
    assert not is_expired(entry, 61_000)
    assert is_expired(entry, 61_001)
    assert grant(entry, "b", 61_001) == Lease("b", 61_001)


@pytest.mark.clause("broker.lock.expiry-is-strict", "broker.lock.one-holder")
def test_lease_is_held_by_its_client_alone_and_until_it_expires() -> None:
    entry = Lease("a", 1_000)
    assert [is_held_by(entry, "a", now_ms) for now_ms in (1_000, 61_000, 61_001)] == [True, True, False]
    assert not is_held_by(entry, "b", 1_000)
    assert not is_held_by(None, "a", 1_000)


@pytest.mark.clause("broker.lock.expiry-is-strict", "broker.lock.expired-is-taken-over")
def test_lease_of_another_length_ends_after_that_length() -> None:
    entry = Lease("a", 1_000)
    assert [is_held_by(entry, "a", now_ms, lease_ms=10) for now_ms in (1_010, 1_011)] == [True, False]
    assert grant(entry, "b", 1_010, lease_ms=10) == entry
    assert grant(entry, "b", 1_011, lease_ms=10) == Lease("b", 1_011)


@pytest.mark.clause("broker.lock.unlock-by-holder")
def test_expired_holder_may_still_unlock_until_somebody_else_asks() -> None:
    entry = Lease("a", 0)
    assert is_expired(entry, 10**9)
    assert release(entry, "a") is None
    assert release(entry, "b") == entry
    assert release(None, "a") is None


@pytest.mark.clause("broker.lock.one-holder", "broker.lock.unlock-by-holder")
@given(REQUESTS)
def test_a_change_of_holder_always_follows_an_unlock_or_an_expiry(
    requests: list[tuple[str, str, int]],
) -> None:
    entry: Lease | None = None
    now_ms = 0
    for kind, client, pause_ms in requests:
        now_ms += pause_ms
        before = entry
        entry = grant(entry, client, now_ms) if kind == "lock" else release(entry, client)
        if before is not None and entry is not None and before.client != entry.client:
            assert now_ms - before.renewed_at_ms > LEASE_MS
        if before is not None and entry is None:
            assert before.client == client
        holders = [name for name in "abc" if is_held_by(entry, name, now_ms)]
        assert len(holders) <= 1
