"""A subscription: which messages of a topic a group wants.

The text `A || B` asks for two tags. It is judged twice. The broker sees only the 32-bit hash
that lies in the index, so it lets collisions through; the client sees the tag itself and drops
them. Nothing wanted may be lost on the way: a message that passes the exact match always passes
the hash match, because both sides hash the tag alike.

Asking for everything is written `*`, the empty text, or no text at all. It is not the same as
asking for an empty set of tags: Apache's broker gives nothing for a text such as ` || `, while
its client would accept everything. The strict reference refuses such a text.

SQL92 expressions are carried and compared, never evaluated here: for them both matches answer
"not excluded", and the broker has the last word.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from spec.rejection import Rejection
from spec.values.java_text import java_hash
from spec.values.units import Milliseconds, TagCode

EVERYTHING: Final = "*"
"""The expression that every message matches, tagged or not."""

SEPARATOR: Final = "||"

_JAVA_BLANKS: Final = "".join(map(chr, range(0x21)))
"""What Java's `String.trim` removes: every character up to and including the space."""

_EMPTY_CLAUSE: Final = "group.subscription.names-a-tag"


class ExpressionType(Enum):
    """The language an expression is written in; the value is its name on the wire."""

    TAG = "TAG"
    SQL92 = "SQL92"


@dataclass(frozen=True, slots=True)
class Subscription:
    """What one member asks for, for one topic."""

    topic: str
    expression: str
    expression_type: ExpressionType
    tags: tuple[str, ...]
    """Wanted tags in the order of the text, each once; empty means that no tag is excluded."""
    codes: tuple[TagCode, ...]
    """Java hashes of the tags, each once."""
    version: Milliseconds
    """Creation time, raised at each change; the highest version of a group wins at the broker."""

    def has_same_interest(self, other: "Subscription") -> bool:
        """Whether both ask for the same messages, whatever their versions.

        Clause: group.subscription.same-in-group
        """
        return self.derive_interest() == other.derive_interest()

    def derive_interest(self) -> tuple[str, ExpressionType, frozenset[str], str]:
        """What is asked for, without order, spelling of the tag list, and version."""
        sql = self.expression if self.expression_type is ExpressionType.SQL92 else ""
        return (self.topic, self.expression_type, frozenset(self.tags), sql)


def parse_tags(expression: str | None, *, accept_no_tag: bool = False) -> tuple[str, ...]:
    """The tags that the text names, trimmed, each once; none for everything.

    Apache refuses a text of bare separators and accepts one of separators and blanks;
    `accept_no_tag` is that choice, the default refuses both.

    Clauses: group.subscription.tag-expression, group.subscription.names-a-tag
    """
    if not expression or expression == EVERYTHING:
        return ()
    pieces = expression.split(SEPARATOR)
    tags = tuple(dict.fromkeys(tag for piece in pieces if (tag := piece.strip(_JAVA_BLANKS))))
    if not tags and not (accept_no_tag and any(pieces)):
        raise Rejection(_EMPTY_CLAUSE, 0, f"{expression!r} names no tag; ask for everything with '*'")
    return tags


def subscribe_tags(
    topic: str, expression: str | None, version: Milliseconds, *, accept_no_tag: bool = False
) -> Subscription:
    """The subscription that a tag expression stands for; `None` and the empty text become `*`.

    Clause: group.subscription.tag-expression
    """
    tags = parse_tags(expression, accept_no_tag=accept_no_tag)
    codes = tuple(dict.fromkeys(TagCode(java_hash(tag)) for tag in tags))
    return Subscription(topic, expression or EVERYTHING, ExpressionType.TAG, tags, codes, version)


def subscribe_sql(topic: str, expression: str, version: Milliseconds) -> Subscription:
    """The subscription that carries an SQL92 expression, unread; an empty one is refused.

    Clause: group.subscription.sql-is-carried
    """
    if not expression:
        raise Rejection("group.subscription.sql-is-carried", 0, "an SQL92 expression is empty")
    return Subscription(topic, expression, ExpressionType.SQL92, (), (), version)


def is_tag_wanted(subscription: Subscription, tag: str | None) -> bool:
    """Whether the client hands a message with this tag to its listener: the exact match.

    Clause: group.subscription.exact-match-at-client
    """
    return not subscription.tags or tag in subscription.tags


def is_code_among(codes: tuple[int, ...], code: int | None) -> bool:
    """Whether a tag code can be a wanted one; an unknown code always can."""
    return code is None or code in codes


def is_code_wanted(subscription: Subscription, code: TagCode | None) -> bool:
    """Whether the broker sends a message with this tag code: the hash match.

    `None` is a code that is not known yet: a sweep over held pulls knows only that something came.

    Clause: group.subscription.hash-match-loses-nothing
    """
    if subscription.expression_type is ExpressionType.SQL92 or subscription.expression == EVERYTHING:
        return True
    return is_code_among(subscription.codes, code)
