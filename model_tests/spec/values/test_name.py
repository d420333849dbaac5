"""Names of topics and groups, and namespaces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.values.name import (
    SYSTEM_TOPICS,
    dead_letter_topic_of,
    is_group_legal,
    is_retry_topic,
    is_system_topic,
    is_topic_legal,
    retry_topic_of,
    unwrap_namespace,
    wrap_namespace,
)

WORDS = st.text(alphabet="abT_-1", min_size=1, max_size=6)
NAMES = st.builds(lambda prefix, word: prefix + word, st.sampled_from(["", "%RETRY%", "%DLQ%"]), WORDS)


@pytest.mark.clause("client.group.legal-name")
@pytest.mark.parametrize(
    ("name", "is_legal"),
    [
        ("g", True),
        ("%RETRY%g|1-_Z", True),
        ("", False),
        ("a b", False),
        ("gr\u00fcn", False),
        ("g\n", False),
        ("a.b", False),
    ],
)
def test_legal_characters(name: str, *, is_legal: bool) -> None:
    assert (is_group_legal(name), is_topic_legal(name)) == (is_legal, is_legal)


@pytest.mark.clause("client.group.legal-name")
def test_longest_names() -> None:
    assert [is_topic_legal("t" * length) for length in (127, 128)] == [True, False]
    assert [is_group_legal("g" * length) for length in (255, 256)] == [True, False]


def test_names_that_belong_to_a_group() -> None:
    assert (retry_topic_of("g"), dead_letter_topic_of("g")) == ("%RETRY%g", "%DLQ%g")
    assert (is_retry_topic("%RETRY%g"), is_retry_topic("%DLQ%g"), is_retry_topic("g")) == (True, False, False)


def test_system_topics_are_known_by_name_and_by_prefix() -> None:
    assert all(is_system_topic(topic) for topic in (*SYSTEM_TOPICS, "rmq_sys_anything"))
    assert not is_system_topic("TopicTest")


@pytest.mark.clause("client.namespace.wraps-once")
@pytest.mark.parametrize(
    ("namespace", "name", "wrapped"),
    [
        ("ns1", "T", "ns1%T"),
        ("ns1", "%RETRY%G", "%RETRY%ns1%G"),
        ("ns1", "%DLQ%G", "%DLQ%ns1%G"),
        ("ns1", "TBW102", "TBW102"),
        ("ns1", "CID_RMQ_SYS_X", "CID_RMQ_SYS_X"),
        ("ns1", "ns1%T", "ns1%T"),
        ("ns1", "ns2%T", "ns1%ns2%T"),
        ("", "T", "T"),
        ("ns1", "", ""),
    ],
)
def test_wrapped_names(namespace: str, name: str, wrapped: str) -> None:
    assert wrap_namespace(namespace, name) == wrapped


@pytest.mark.clause("client.namespace.wraps-once")
@given(st.sampled_from(["ns1", "n"]), NAMES)
def test_wrapping_twice_is_wrapping_once_and_unwrapping_undoes_it(namespace: str, name: str) -> None:
    wrapped = wrap_namespace(namespace, name)
    assert wrap_namespace(namespace, wrapped) == wrapped
    assert unwrap_namespace(namespace, wrapped) == name


@pytest.mark.clause("client.namespace.wraps-once")
def test_names_of_other_namespaces_stay_wrapped() -> None:
    assert unwrap_namespace("ns1", "ns2%T") == "ns2%T"
    assert unwrap_namespace("", "ns2%T") == "ns2%T"
