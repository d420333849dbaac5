"""How a typed body becomes JSON, and back.

Bodies are Java beans: their keys are field names in alphabetical order, nulls are left out,
enums go by name, and maps may have integers or queues as keys. Each body here is a frozen
record; `json_record` looks at its type hints once, at import, and keeps a plan, in the manner
of the headers.

Writing is exact. Reading follows fastjson where real clients need it: an integer may come as a
decimal text, a boolean as a text or as 0 and 1, an enum as its place in Java's list, a text as
a number. A key that is absent or null takes the field's default, and is refused where there is
none; keys that nobody knows are ignored. Everything else that is not of the field's type is
refused, with the path to it.

A few records of the domain (a queue, a topic's or a group's configuration) exist without
knowing the wire; `spec.wire.body.domain` gives their wire names.
"""

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from enum import Enum
from typing import (
    ClassVar,
    Generic,
    NamedTuple,
    Self,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from spec.rejection import Rejection
from spec.values.message_queue import MessageQueue
from spec.wire.body.domain import DOMAIN_RECORDS
from spec.wire.body.scalar import SCALARS, Conversion, derive_enum_conversion, refuse
from spec.wire.fastjson import JsonKey, JsonTree, JsonValue, ObjectKey, encode_fastjson, parse_fastjson
from spec.wire.header.codec import Spelling, derive_wire_name


class _FieldPlan(NamedTuple):
    wire_name: str
    attribute: str
    decode: Callable[[JsonValue], object]
    encode: Callable[[object], JsonTree]
    default: Callable[[], object] | None


def _within(path: str, refusal: Rejection) -> Rejection:
    return Rejection(refusal.clause, refusal.position, f"{path[:80]}: {refusal.reason}")


def _derive_conversion(hint: object) -> Conversion:
    scalar = SCALARS.get(hint)
    if scalar is not None:
        return scalar
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in {Union, types.UnionType}:
        return _derive_conversion(next(part for part in arguments if part is not types.NoneType))
    if origin is tuple or origin is frozenset:
        return _derive_list_conversion(origin, _derive_conversion(arguments[0]))
    if origin is Mapping:
        return _derive_map_conversion(arguments[0], _derive_conversion(arguments[1]))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return derive_enum_conversion(hint)
    if isinstance(hint, type) and is_dataclass(hint):
        return _derive_record_conversion(hint)
    raise TypeError(f"no JSON form for {hint}")


def _derive_list_conversion(collect: Callable[[list[object]], object], item: Conversion) -> Conversion:
    """A list as a tuple, or as a set that is written in sorted order."""

    def decode(value: JsonValue) -> object:
        if not isinstance(value, list):
            raise refuse("a list", value)
        items: list[object] = []
        for index, element in enumerate(value):
            try:
                items.append(item.decode(element))
            except Rejection as refusal:
                raise _within(f"[{index}]", refusal) from None
        return collect(items)

    def encode(value: object) -> JsonTree:
        if isinstance(value, frozenset):
            return [item.encode(element) for element in sorted(value)]
        return [item.encode(element) for element in value] if isinstance(value, tuple) else None

    return Conversion(decode, encode)


def _derive_map_conversion(key_hint: object, item: Conversion) -> Conversion:
    """A map; the order of its keys is kept, as Java keeps none that could be relied on."""
    decode_key, encode_key = _derive_key_conversion(key_hint)

    def decode(value: JsonValue) -> object:
        if not isinstance(value, dict):
            raise refuse("an object", value)
        table: dict[object, object] = {}
        for key, element in value.items():
            try:
                table[decode_key(key)] = item.decode(element)
            except Rejection as refusal:
                raise _within(key, refusal) from None
        return table

    def encode(value: object) -> JsonTree:
        table = value if isinstance(value, Mapping) else {}
        return {encode_key(key): item.encode(element) for key, element in table.items()}

    return Conversion(decode, encode)


def _derive_key_conversion(hint: object) -> tuple[Callable[[str], object], Callable[[object], JsonKey]]:
    """From the text of a key, and to a key; an object key is the JSON of its record.

    Clause: wire.body.map-keys
    """
    conversion = _derive_conversion(hint)

    def decode_queue(text: str) -> object:
        return conversion.decode(parse_fastjson(text.encode()))

    def encode(key: object) -> JsonKey:
        tree = conversion.encode(key)
        if isinstance(tree, Mapping):
            return ObjectKey((str(name), part) for name, part in tree.items() if isinstance(part, str | int))
        return tree if isinstance(tree, str | int) else str(tree)

    return decode_queue if hint is MessageQueue else conversion.decode, encode


def _derive_field_plan(declared: Field[object], hint: object, name: str) -> _FieldPlan:
    conversion = _derive_conversion(hint)
    default: Callable[[], object] | None = None
    if declared.default is not MISSING:
        fixed = declared.default
        default = lambda: fixed  # noqa: E731 - the shape of a default factory
    elif declared.default_factory is not MISSING:
        default = declared.default_factory
    return _FieldPlan(name, declared.name, conversion.decode, conversion.encode, default)


def _derive_plan(
    record: type, names: Mapping[str, str], wider: Mapping[str, object]
) -> tuple[_FieldPlan, ...]:
    """The fields in alphabetical order of their wire names.

    Clause: wire.body.java-names
    """
    hints = {**get_type_hints(record, include_extras=True), **wider}
    plans: list[_FieldPlan] = []
    for declared in fields(record):
        stated = names.get(declared.name) or declared.metadata.get(Spelling.LONG.value)
        wire_name = stated or derive_wire_name(declared.name)
        plans.append(_derive_field_plan(declared, hints[declared.name], wire_name))
    return tuple(sorted(plans, key=lambda plan: plan.wire_name))


def _plan_of(record: type) -> tuple[_FieldPlan, ...]:
    if issubclass(record, JsonRecord):
        return record._plan  # noqa: SLF001 - compiled by the decorator below
    return _derive_plan(record, *DOMAIN_RECORDS[record])


def _derive_record_conversion(record: type) -> Conversion:
    plan = _plan_of(record)

    def decode(value: JsonValue) -> object:
        return _decode(record, plan, value)

    def encode(value: object) -> JsonTree:
        return _encode(plan, value)

    return Conversion(decode, encode)


_Built = TypeVar("_Built")


def _decode(construct: Callable[..., _Built], plan: tuple[_FieldPlan, ...], value: JsonValue) -> _Built:
    """The record that the object spells.

    Clauses: wire.body.field-type, wire.body.required-key, wire.body.unknown-keys
    """
    if not isinstance(value, dict):
        raise refuse("an object", value)
    members: dict[str, object] = {}
    for wire_name, attribute, decode, _, default in plan:
        member = value.get(wire_name)
        if member is not None:
            try:
                members[attribute] = decode(member)
            except Rejection as refusal:
                raise _within(wire_name, refusal) from None
        elif default is None:
            raise Rejection("wire.body.required-key", 0, f"{wire_name}: the key is missing")
        else:
            members[attribute] = default()
    return construct(**members)


def _encode(plan: tuple[_FieldPlan, ...], record: object) -> Mapping[JsonKey, JsonTree]:
    tree: dict[JsonKey, JsonTree] = {}
    for wire_name, attribute, _, encode, _ in plan:
        value = getattr(record, attribute)
        if value is not None:
            tree[wire_name] = encode(value)
    return tree


@dataclass(frozen=True, slots=True)
class JsonRecord:
    """A body, or a part of one."""

    _plan: ClassVar[tuple[_FieldPlan, ...]] = ()

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """The record that the bytes spell, in standard JSON or in the dialect."""
        return cls.decode_tree(parse_fastjson(data))

    @classmethod
    def decode_tree(cls, tree: JsonValue) -> Self:
        """The record that a JSON value spells."""
        return _decode(cls, cls._plan, tree)

    def encode(self, *, is_dialect: bool = False, is_pretty: bool = False) -> bytes:
        """The record as standard JSON; in the dialect, or on lines with tabs, when asked."""
        return encode_fastjson(self.encode_tree(), is_dialect=is_dialect, is_pretty=is_pretty)

    def encode_tree(self) -> Mapping[JsonKey, JsonTree]:
        """The record as a JSON value that is not yet spelled."""
        return _encode(self._plan, self)


_Record = TypeVar("_Record", bound=JsonRecord)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def json_record(declared: type[_Record]) -> type[_Record]:
    """The class as a frozen record whose plan is compiled."""
    record = dataclass(frozen=True, slots=True)(declared)
    record._plan = _derive_plan(record, {}, {})  # noqa: SLF001 - the decorator completes the class
    return record


_Value_co = TypeVar("_Value_co", covariant=True)


class RecordCodec(Generic[_Value_co]):
    """The JSON form of a record, whether it is a body of its own or one of the domain's."""

    __slots__ = ("_plan", "record")

    def __init__(self, record: type[_Value_co]) -> None:
        """Take the record's plan, or compile it."""
        self.record = record
        self._plan = _plan_of(record)

    def decode(self, data: bytes) -> _Value_co:
        """The record that the bytes spell, in standard JSON or in the dialect."""
        return _decode(self.record, self._plan, parse_fastjson(data))

    def encode(self, value: object, *, is_dialect: bool = False, is_pretty: bool = False) -> bytes:
        """The record as JSON, in the form asked for."""
        return encode_fastjson(_encode(self._plan, value), is_dialect=is_dialect, is_pretty=is_pretty)
