"""Arbitrary headers and bodies, built from the type hints that their codecs are built from."""

import types
from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from typing import Final, TypeVar, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from spec.values.java_literal import INT32_HIGHEST, INT32_LOWEST, INT64_HIGHEST, INT64_LOWEST, Long
from spec.values.units import CommitLogPosition, Milliseconds, QueueId, QueueOffset, TagCode
from spec.wire.body.domain import DOMAIN_RECORDS

_Record = TypeVar("_Record")

TEXTS: Final = st.text(st.characters(codec="utf-8"), max_size=8)
INT32: Final = st.integers(INT32_LOWEST, INT32_HIGHEST)
INT64: Final = st.integers(INT64_LOWEST, INT64_HIGHEST)

_SCALARS: Final[Mapping[object, st.SearchStrategy[object]]] = {
    str: TEXTS,
    bool: st.booleans(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    int: INT32,
    QueueId: INT32,
    Long: INT64,
    QueueOffset: INT64,
    CommitLogPosition: INT64,
    Milliseconds: INT64,
    TagCode: INT64,
}


def values_of(hint: object) -> st.SearchStrategy[object]:  # noqa: PLR0911 - one a kind of type
    if hint in _SCALARS:
        return _SCALARS[hint]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in {Union, types.UnionType}:
        return st.none() | values_of(next(part for part in arguments if part is not types.NoneType))
    if origin is tuple:
        return st.lists(values_of(arguments[0]), max_size=2).map(tuple)
    if origin is frozenset:
        return st.frozensets(values_of(arguments[0]), max_size=3)
    if origin is Mapping:
        return st.dictionaries(values_of(arguments[0]), values_of(arguments[1]), max_size=2)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return st.sampled_from(hint)
    assert isinstance(hint, type), hint
    return records_of(hint)


def records_of(record: type[_Record]) -> st.SearchStrategy[_Record]:
    """Any value of the dataclass, wide fields as wide as Java's."""
    wider = DOMAIN_RECORDS[record].wider if record in DOMAIN_RECORDS else {}
    hints = {**get_type_hints(record, include_extras=True), **wider}
    parts = {declared.name: values_of(hints[declared.name]) for declared in fields(record)}  # type: ignore[arg-type]  # always a dataclass
    return st.builds(record, **parts)
