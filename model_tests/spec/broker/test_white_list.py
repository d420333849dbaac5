import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.broker.access import is_address_trusted
from spec.broker.white_list import is_entry_legal


@pytest.mark.clause("broker.access.entry-is-legal")
@pytest.mark.parametrize(
    ("entry", "is_legal"),
    [
        ("", True),
        (" ", True),
        ("*", True),
        ("10.0.0.1", True),
        (" 10.0.0.1 ", True),
        ("::1", True),
        ("10.0.0.1,::1", True),
        ("10.0.0.1, 10.0.0.2", True),
        ("10.0.*.*", True),
        ("*.*.*.*", True),
        ("10.0.1-9.*", True),
        ("10.0.0.{1,2}", True),
        ("10.0.0.{1}", True),
        ("10.0.0.1,", False),
        ("10.0.0.*,10.0.0.1", False),
        ("10.0.0", False),
        ("10.0.0.0.1", False),
        ("10.0.0.256", False),
        ("10.0.0.9-1", False),
        ("10.0.0.1-", False),
        ("10.0.0.1-256", False),
        ("10.0.0.{1,}", False),
        ("10.0.0.{}", False),
        ("10.0.0.{1,300}", False),
        ("10.0.0.{1-2}", False),
        ("10.0.0.{*}", False),
        ("10.0.{1,2}.0", False),
        ("10.0.0.{1,2", False),
        ("::*", False),
        ("localhost", False),
    ],
)
def test_an_entry_says_whom_it_trusts_or_is_refused(entry: str, *, is_legal: bool) -> None:
    assert is_entry_legal(entry) is is_legal


PARTS = st.sampled_from(["0", "9", "10", "255", "*", "0-9", "200-255"])
ENTRIES = st.one_of(
    st.tuples(PARTS, PARTS, PARTS, PARTS).map(".".join),
    st.lists(st.ip_addresses().map(str), min_size=1, max_size=3).map(",".join),
    st.lists(st.integers(0, 255).map(str), min_size=1, max_size=3).map(
        lambda choices: "10.0.0.{" + ",".join(choices) + "}"
    ),
)


@pytest.mark.clause("broker.access.white-list", "broker.access.entry-is-legal")
@given(ENTRIES)
def test_every_legal_entry_trusts_somebody(entry: str) -> None:
    assert is_entry_legal(entry)
    inside = entry.split(",", maxsplit=1)[0].replace("*", "7").replace("{", "").replace("}", "")
    somebody = ".".join(part.partition("-")[0] for part in inside.split("."))
    assert is_address_trusted(entry, somebody)


@given(st.text(alphabet="0123456789.*-{}, :x", max_size=20))
def test_any_text_is_legal_or_not(entry: str) -> None:
    assert is_entry_legal(entry) in (True, False)
