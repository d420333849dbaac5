"""How a typed header becomes extension fields, and back.

Every operation has its own few fields. In Java each header is a class, its fields are found by
reflection, and their values are written as texts under the fields' names. Here each header is a
frozen record; `wire_header` looks at its type hints once, at import, and keeps a plan: which
wire name, which conversion, what if the field is absent. Reading and writing then walk the plan.

- A field whose type has no None is written always; one that may be None is left out when it is.
- A field without a default is required. The reference refuses a request that lacks one. Apache
  4.9.x logs it and goes on with null or zero, to fail later in its own way; `Reading.APACHE_4_9`
  does the same with the zero of the type.
- What is not in the plan is ignored: signatures, marks of later clients, anybody's extras.

The wire name is the field's name in camel case unless the metadata says otherwise. A header may
have a second, short spelling (the letters of SEND_MESSAGE_V2); it is another plan for the same
record.
"""

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from enum import Enum
from typing import (
    ClassVar,
    Final,
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
from spec.values.java_literal import Long, decode_boolean, decode_int32, decode_int64, encode_boolean
from spec.values.units import CommitLogPosition, Milliseconds, QueueId, QueueOffset


class Reading(Enum):
    """What a missing or unreadable field means."""

    STRICT = "refused"
    APACHE_4_9 = "its default, or the zero of its type"


class Spelling(Enum):
    """Which of a record's wire names are meant; the value is the key of the field's metadata."""

    LONG = "long"
    SHORT = "short"


class _Conversion(NamedTuple):
    decode: Callable[[str], object]
    encode: Callable[[object], str]
    zero: object


class _FieldPlan(NamedTuple):
    wire_name: str
    decode: Callable[[str], object]
    is_required: bool
    fallback: object
    attribute: str
    encode: Callable[[object], str]


class _Plan(NamedTuple):
    """All fields of a record, and what reading the usual request needs of them: no loop over what is text."""

    fields: tuple[_FieldPlan, ...]
    names: tuple[str, ...]
    required_count: int
    """Fields without a default stand first."""
    conversions: tuple[tuple[int, Callable[[str], object]], ...]
    """Where a value is more than a text."""
    fallbacks: tuple[tuple[int, object], ...]
    """Where an absent value is not None."""


def _encode_flag(value: object) -> str:
    return encode_boolean(value is True)


_INT32: Final = _Conversion(decode_int32, str, 0)
_INT64: Final = _Conversion(decode_int64, str, 0)
_CONVERSIONS: Final[Mapping[object, _Conversion]] = {
    str: _Conversion(str, str, ""),
    bool: _Conversion(decode_boolean, _encode_flag, zero=False),
    int: _INT32,
    QueueId: _INT32,
    Long: _INT64,
    QueueOffset: _INT64,
    CommitLogPosition: _INT64,
    Milliseconds: _INT64,
}


def _derive_enum_conversion(members: type[Enum]) -> _Conversion:
    """By name, as Java's `valueOf`.

    Clause: wire.header-fields.enumeration
    """
    table = {member.name: member for member in members}

    def decode(text: str) -> Enum:
        found = table.get(text)
        if found is None:
            known = ", ".join(table)
            raise Rejection("wire.header-fields.enumeration", 0, f"{text[:40]!r} is none of {known}")
        return found

    def encode(value: object) -> str:
        return value.name if isinstance(value, members) else str(value)

    return _Conversion(decode, encode, next(iter(members)))


def _derive_conversion(hint: object) -> _Conversion:
    if get_origin(hint) in {Union, types.UnionType}:
        return _derive_conversion(next(part for part in get_args(hint) if part is not types.NoneType))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _derive_enum_conversion(hint)
    return _CONVERSIONS[hint]


def derive_wire_name(attribute: str) -> str:
    """The Java field name: `queue_offset` is `queueOffset`.

    Clause: wire.header-fields.java-names
    """
    first, *rest = attribute.split("_")
    return first + "".join(word.capitalize() for word in rest)


def wire_name(long: str = "", *, short: str = "") -> Mapping[str, str]:
    """Field metadata: wire names that do not follow from the field's own."""
    return {Spelling.LONG.value: long, Spelling.SHORT.value: short}


def _derive_field_plan(declared: Field[object], hint: object, spelling: Spelling) -> _FieldPlan:
    conversion = _derive_conversion(hint)
    is_required = declared.default is MISSING
    return _FieldPlan(
        wire_name=declared.metadata.get(spelling.value) or derive_wire_name(declared.name),
        decode=conversion.decode,
        is_required=is_required,
        fallback=conversion.zero if is_required else declared.default,
        attribute=declared.name,
        encode=conversion.encode,
    )


@dataclass(frozen=True, slots=True)
class CustomHeader:
    """The record of an operation's own fields; by itself, that of one that has none."""

    _plan: ClassVar[_Plan] = _Plan((), (), 0, (), ())

    @classmethod
    def decode(cls, fields: Mapping[str, str] | None, *, reading: Reading = Reading.STRICT) -> Self:
        """The record that the extension fields spell by their long names.

        Clauses: wire.header-fields.required, wire.header-fields.unknown-ignored
        """
        return _decode(cls, cls._plan, fields or {}, reading)

    def encode(self) -> dict[str, str]:
        """The extension fields that spell the record by their long names.

        Clause: wire.header-fields.null-omitted
        """
        return _encode(self, self._plan)


_Header = TypeVar("_Header", bound=CustomHeader)
_Header_co = TypeVar("_Header_co", bound=CustomHeader, covariant=True)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def wire_header(declared: type[_Header]) -> type[_Header]:
    """The class as a frozen record whose plan is compiled."""
    record = dataclass(frozen=True, slots=True)(declared)
    record._plan = _derive_plan(record, Spelling.LONG)  # noqa: SLF001 - the decorator completes the class
    return record


def _derive_plan(header: type[CustomHeader], spelling: Spelling) -> _Plan:
    hints = get_type_hints(header, include_extras=True)
    plans = [_derive_field_plan(declared, hints[declared.name], spelling) for declared in fields(header)]
    return _Plan(
        fields=tuple(plans),
        names=tuple(plan.wire_name for plan in plans),
        required_count=sum(plan.is_required for plan in plans),
        conversions=tuple((at, plan.decode) for at, plan in enumerate(plans) if plan.decode is not str),
        fallbacks=tuple(
            (at, plan.fallback)
            for at, plan in enumerate(plans)
            if not plan.is_required and plan.fallback is not None
        ),
    )


class HeaderCodec(Generic[_Header_co]):
    """One spelling of one record: what a table of operations refers to.

    The short spelling is exacting. 4.9.3 decodes it by hand and answers with an error when a
    field is missing, so every reading refuses it.

    Clauses: wire.header-fields.short-names, wire.header-fields.short-names-exacting
    """

    __slots__ = ("_plan", "header", "spelling")

    def __init__(self, header: type[_Header_co], spelling: Spelling = Spelling.LONG) -> None:
        """Compile the plan of that spelling."""
        self.header = header
        self.spelling = spelling
        self._plan = _derive_plan(header, spelling)

    def decode(self, fields: Mapping[str, str] | None, *, reading: Reading = Reading.STRICT) -> _Header_co:
        """The record that the extension fields spell."""
        applied = reading if self.spelling is Spelling.LONG else Reading.STRICT
        return _decode(self.header, self._plan, fields or {}, applied)

    def encode(self, header: CustomHeader) -> dict[str, str]:
        """The extension fields that spell the record."""
        return _encode(header, self._plan)


def _decode(
    construct: Callable[..., _Header], plan: _Plan, fields: Mapping[str, str], reading: Reading
) -> _Header:
    """The record that the fields spell under the names of the plan.

    Clauses: wire.header-fields.required, wire.header-fields.apache-fills-in
    """
    values: list[object] = list(map(fields.get, plan.names))
    if not all(values[: plan.required_count]):
        return _decode_one_by_one(construct, plan, fields, reading)
    try:
        for at, decode in plan.conversions:
            text = values[at]
            if isinstance(text, str):
                values[at] = decode(text)
    except Rejection:
        return _decode_one_by_one(construct, plan, fields, reading)
    for at, fallback in plan.fallbacks:
        if values[at] is None:
            values[at] = fallback
    return construct(*values)


def _decode_one_by_one(
    construct: Callable[..., _Header], plan: _Plan, fields: Mapping[str, str], reading: Reading
) -> _Header:
    """What `_decode` says of fields of which one is missing, empty or wrong: the first such decides."""
    values: list[object] = []
    for wire, decode, is_required, fallback, _, _ in plan.fields:
        text = fields.get(wire)
        if text is not None:
            try:
                values.append(decode(text))
            except Rejection as refusal:
                if reading is Reading.STRICT:
                    raise Rejection(refusal.clause, 0, f"{wire}: {refusal.reason}") from None
                values.append(fallback)
        elif is_required and reading is Reading.STRICT:
            raise Rejection("wire.header-fields.required", 0, f"{wire}: the field is missing")
        else:
            values.append(fallback)
    return construct(*values)


def _encode(header: CustomHeader, plan: _Plan) -> dict[str, str]:
    spelled: dict[str, str] = {}
    for wire, _, _, _, attribute, encode in plan.fields:
        value = getattr(header, attribute)
        if value is not None:
            spelled[wire] = encode(value)
    return spelled
