import pytest

from spec.nameserver.key_value import delete, get, list_namespace, put
from spec.wire.code import ResponseCode


@pytest.mark.clause("nameserver.key-value.missing-is-not-found")
def test_value_is_found_after_it_was_put_and_only_there() -> None:
    table = put(put({}, "N", "k", "old"), "N", "k", "new")
    assert table == {"N": {"k": "new"}}
    assert get(table, "N", "k") == (ResponseCode.SUCCESS, "new")
    assert get(table, "N", "other") == (ResponseCode.QUERY_NOT_FOUND, None)
    assert get(table, "M", "k") == (ResponseCode.QUERY_NOT_FOUND, None)
    assert get(put({}, "N", "k", ""), "N", "k") == (ResponseCode.SUCCESS, "")


@pytest.mark.clause("nameserver.key-value.delete-is-idempotent")
def test_deleting_twice_is_deleting_once() -> None:
    once = delete({"N": {"k": "v", "l": "w"}}, "N", "k")
    assert once == {"N": {"l": "w"}}
    assert delete(once, "N", "k") == once
    assert delete(once, "M", "k") == once


@pytest.mark.clause("nameserver.key-value.namespace-stays")
def test_namespace_is_listed_once_something_was_put_into_it_even_when_it_is_empty_again() -> None:
    table = put(put({}, "N", "k", "v"), "N", "l", "w")
    assert list_namespace({}, "N") == (ResponseCode.QUERY_NOT_FOUND, None)
    assert list_namespace(table, "N") == (ResponseCode.SUCCESS, {"k": "v", "l": "w"})
    assert list_namespace(delete(delete(table, "N", "k"), "N", "l"), "N") == (ResponseCode.SUCCESS, {})
