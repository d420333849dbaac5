"""The key-value table: the only thing a name server writes to disk.

It holds texts by namespace and key. A missing value is answered with "not found", and so is a
namespace that was never written. One that was written stays, even when its last key is deleted.
"""

from collections.abc import Mapping

from spec.wire.code import ResponseCode

Namespace = Mapping[str, str]


def put(table: Mapping[str, Namespace], namespace: str, key: str, value: str) -> dict[str, Namespace]:
    """The table with the value in place of any older one."""
    return {**table, namespace: {**table.get(namespace, {}), key: value}}


def delete(table: Mapping[str, Namespace], namespace: str, key: str) -> dict[str, Namespace]:
    """The table without the key; deleting what is not there changes nothing.

    Clause: nameserver.key-value.delete-is-idempotent
    """
    if namespace not in table:
        return dict(table)
    kept = {other: value for other, value in table[namespace].items() if other != key}
    return {**table, namespace: kept}


def list_namespace(table: Mapping[str, Namespace], namespace: str) -> tuple[ResponseCode, Namespace | None]:
    """The answer to a query for a whole namespace: its keys and values, or "not found".

    Clause: nameserver.key-value.namespace-stays
    """
    found = table.get(namespace)
    return (ResponseCode.QUERY_NOT_FOUND if found is None else ResponseCode.SUCCESS), found


def get(table: Mapping[str, Namespace], namespace: str, key: str) -> tuple[ResponseCode, str | None]:
    """The answer to a query: the value, or "not found".

    Clause: nameserver.key-value.missing-is-not-found
    """
    value = table.get(namespace, {}).get(key)
    return (ResponseCode.QUERY_NOT_FOUND if value is None else ResponseCode.SUCCESS), value
