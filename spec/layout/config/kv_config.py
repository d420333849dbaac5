"""`kvConfig.json`: the only thing that a name server keeps on disk."""

from collections.abc import Mapping
from dataclasses import field

from spec.wire.body.record import JsonRecord, json_record


@json_record
class KvConfigTable(JsonRecord):
    """Texts by namespace, then by key; a namespace stays when its last key is gone."""

    config_table: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
