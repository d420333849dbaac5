"""What a recorder declares about a run before its first event.

A guarantee can be judged only from events that the recorder could see, and only under terms that
are known: the intervals in force, the durability that was configured, which standing assumptions
the deployment keeps. The declaration says so; it travels in the `detail` column of `begin`.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields

from spec.history.kind import Kind
from spec.rejection import Rejection

CLAUSE = "history.run.declares-terms"


@dataclass(frozen=True, slots=True)
class Constants:
    """The intervals and limits that guarantees speak of; defaults are those of Apache 4.9.x."""

    rebalance_ms: int = 20_000
    heartbeat_ms: int = 30_000
    member_expiry_ms: int = 120_000
    member_scan_ms: int = 10_000
    route_poll_ms: int = 30_000
    broker_register_ms: int = 30_000
    broker_expiry_ms: int = 120_000
    broker_scan_ms: int = 10_000
    lock_renew_ms: int = 20_000
    lock_trust_ms: int = 30_000
    lock_lease_ms: int = 60_000
    unlock_delay_ms: int = 20_000
    offset_persist_ms: int = 5_000
    offset_flush_ms: int = 5_000
    replica_copy_ms: int = 10_000
    pull_expiry_ms: int = 120_000
    hold_limit_ms: int = 15_000
    hold_sweep_ms: int = 5_000
    request_limit_ms: int = 3_000
    """The longest a request and its answer are allowed to take in a calm interval."""
    scheduling_delay_ms: int = 1_000
    """How much later than decided a call may begin."""
    clock_skew_ms: int = 0
    """How far apart the clocks of two nodes may be; 0 if one clock stamped every event."""
    cursor_flush_ms: int = 10_000
    delay_bound_ms: int = 600_000
    """How long past its due time a delayed message may wait, before it is delivered or put aside."""
    retry_limit: int = 16
    half_check_ms: int = 60_000
    half_check_limit: int = 15


@dataclass(frozen=True, slots=True)
class Declaration:
    """The terms of one run."""

    observes: frozenset[Kind]
    """The kinds that the recorder would have seen. A tap on the wire cannot see a listener start."""
    assumes: frozenset[str] = frozenset({"A1", "A2", "A3", "A4", "A5"})
    """Which standing assumptions the deployment keeps (see the guarantees' introduction)."""
    dialect: str = "strict"
    durability: str = "sync"
    """What an acknowledgement promises: `sync` survives a crash, `async` does not."""
    constants: Constants = field(default_factory=Constants)


def encode_declaration(declaration: Declaration) -> str:
    """The declaration as one line of JSON, kinds and assumptions sorted."""
    return json.dumps(
        {
            "observes": sorted(declaration.observes),
            "assumes": sorted(declaration.assumes),
            "dialect": declaration.dialect,
            "durability": declaration.durability,
            "constants": asdict(declaration.constants),
        },
        separators=(",", ":"),
    )


def _decode_constants(value: object) -> Constants:
    if not isinstance(value, Mapping):
        raise Rejection(CLAUSE, 0, "constants must be an object")
    names = {constant.name for constant in fields(Constants)}
    chosen: dict[str, int] = {}
    for name, number in value.items():
        if name not in names:
            raise Rejection(CLAUSE, 0, f"unknown constant {name!r}; known are {', '.join(sorted(names))}")
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            raise Rejection(CLAUSE, 0, f"constant {name} must be a whole number, not {number!r}")
        chosen[name] = number
    return Constants(**chosen)


def _decode_words(value: object, name: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise Rejection(CLAUSE, 0, f"{name} must be a list of words")
    return value


def decode_declaration(text: str) -> Declaration:
    """The declaration in the text; what it leaves out has its default.

    Clause: history.run.declares-terms
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Rejection(CLAUSE, 0, f"the declaration is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise Rejection(CLAUSE, 0, "the declaration must be an object")
    unknown = value.keys() - {"observes", "assumes", "dialect", "durability", "constants"}
    if unknown:
        raise Rejection(CLAUSE, 0, f"unknown declaration {', '.join(sorted(unknown))}")
    words = _decode_words(value.get("observes", list(Kind)), "observes")
    try:
        observes = frozenset(map(Kind, words))
    except ValueError as error:
        raise Rejection(CLAUSE, 0, f"observes names an unknown kind: {error}") from error
    base = Declaration(observes)
    dialect, durability = value.get("dialect", base.dialect), value.get("durability", base.durability)
    if not isinstance(dialect, str) or durability not in ("sync", "async"):
        raise Rejection(CLAUSE, 0, "dialect must be a name, durability must be sync or async")
    return Declaration(
        observes=observes,
        assumes=frozenset(_decode_words(value.get("assumes", sorted(base.assumes)), "assumes")),
        dialect=dialect,
        durability=durability,
        constants=_decode_constants(value.get("constants", {})),
    )
