"""The requests about the key-value table: 100, 101, 102 and 219."""

from collections.abc import Mapping

from refimpl.nameserver.configuration import Configuration
from refimpl.nameserver.key_value_table import KeyValueTable
from refimpl.remoting.request import OK, Handler, Reply, Request, refuse, succeed
from spec.wire.body.route import KvTable
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.header.nameserver import (
    KvKeyHeader,
    KvValueResponseHeader,
    NamespaceHeader,
    PutKvConfigHeader,
)


class KeyValueDesk:
    """Serves the table to administrators."""

    def __init__(self, table: KeyValueTable, configuration: Configuration) -> None:
        self._table = table
        self._configuration = configuration

    def handlers(self) -> Mapping[int, Handler]:
        """What is served here."""
        return {
            RequestCode.PUT_KV_CONFIG: self.on_put,
            RequestCode.GET_KV_CONFIG: self.on_get,
            RequestCode.DELETE_KV_CONFIG: self.on_delete,
            RequestCode.GET_KVLIST_BY_NAMESPACE: self.on_list,
        }

    def on_put(self, request: Request) -> Reply:
        """The value is in the table and on disk."""
        header = request.header(PutKvConfigHeader)
        limit = self._configuration.settings.key_value_limit
        refusal = self._table.put(header.namespace, header.key, header.value, limit)
        return OK if refusal is None else refuse(ResponseCode.SYSTEM_ERROR, refusal)

    def on_get(self, request: Request) -> Reply:
        """The value, or "not found".

        Clause: nameserver.key-value.missing-is-not-found
        """
        header = request.header(KvKeyHeader)
        code, value = self._table.get(header.namespace, header.key)
        if value is None:
            place = f"Namespace: {header.namespace[:255]} Key: {header.key[:255]}"
            return refuse(code, f"No config item, {place}")
        return succeed(KvValueResponseHeader(value))

    def on_delete(self, request: Request) -> Reply:
        """The key is not in the table, nor on disk."""
        header = request.header(KvKeyHeader)
        self._table.delete(header.namespace, header.key)
        return OK

    def on_list(self, request: Request) -> Reply:
        """All keys and values of a namespace, or "not found".

        Clause: nameserver.key-value.namespace-stays
        """
        namespace = request.header(NamespaceHeader).namespace
        code, found = self._table.list_namespace(namespace)
        if found is None:
            return refuse(code, f"No config item, Namespace: {namespace[:255]}")
        return succeed(body=KvTable(found))
