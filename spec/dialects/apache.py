"""Apache's two dialects, clause by clause.

Where a release line changed its mind, the newest release of the line counts, and the text says
from when on. `SHARED` holds what 4.9.x and 5.x have in common.
"""

from collections.abc import Mapping
from typing import Final

from spec.dialects.hole import Hole

SHARED: Final[Mapping[str, str]] = {
    "broker.admin.group-limits": "any group is taken",
    "broker.admin.reset-refused": "members that are asked before one that is too old do reset",
    "broker.admin.setting-takes-effect": "unknown keys are dropped, and all keys are answered with success",
    "broker.admin.topic-limits": "any numbers are taken",
    "broker.offset.reset-fences": "any commit is applied; members pause for ten seconds (K3)",
    "broker.schedule.refused-is-diverted": "one refused message is tried for ever and its level waits",
    "broker.schedule.notice-is-found": "nothing is diverted, so there are no notices",
    "broker.transaction.checks-counted": "a deferral counts as a check",
    "broker.transaction.delay-is-ignored": "a half message with a level is discarded when its delay is over",
    "broker.transaction.operation-cursor": "passes the record of a deferred message and asks its producer",
    "client.consumer.timestamp-text": "the parser is lenient and carries 25 o'clock over to the next day",
    "client.shutdown.drain-persist-unlock": "unlocks first, then persists; waits 0 ms for listeners",
    "group.tenure.fence": "object identity instead of a number: one step of each thread may slip through",
    "guarantee.dly.no-level-stuck": "one refused message is tried for ever and its level waits",
    "nameserver.registration.farewell-removes-itself": "removes by broker name and id, whatever the address",
    "wire.frame.header-within": "checked from 4.9.4 on; 4.9.3 fails later on the same frame",
    "wire.binary-header.exact-length": "bytes behind the fields are ignored (4.9.3) or read as body (4.9.4)",
}

APACHE_4_9_DIFFERENCES: Final[Mapping[str, str]] = {
    **SHARED,
    "broker.access.account-file": "unknown keys are ignored",
    "broker.access.accounts-are-admin-only": "4.9.3 lets every account show and change accounts",
    "broker.access.bad-file-changes-nothing": "what was read before the mistake counts",
    "broker.access.batch-is-checked": "4.9.3 does not check SEND_BATCH_MESSAGE",
    "broker.access.reply-is-checked": "replies are not checked",
    "broker.access.secrets-stay": "secrets are shown to whoever may list accounts",
    "broker.reply.stored-as-sent": "the stored reply does not say how its body is compressed",
    "broker.admin.correction-lowest": "4.9.3 removes the offsets of filtered groups from its table",
    "broker.pull.overflow-to-maximum": "4.9.3 answers 0 when the minimum is 0; the maximum from 4.9.4 on",
    "broker.retry.dead-letter-is-not-delayed": "4.9.3 delays a message that the producer path gives up",
    "broker.schedule.saved-cursor": "4.9.3 saves one past the start of the batch; 4.9.4 each message",
    "broker.schedule.replica-trusts-cursor": "a replica cuts the cursor to its own queue",
    "broker.search.lower-bound": "the nearest message counts; later than everything is the last one",
    "group.orderly.broadcasting-takes-no-lock": "an ordered broadcast consumer takes the cluster lock",
    "group.rebalance.acquire-order": "before 4.9.5 the tenure is marked locked only at the next renewal",
    "group.start-position.error-is-not-none": "every error answer counts as not found",
    "recovery.load.empty-last-file": "an empty last file stops the broker from starting",
    "store.queue.emptied-goes-on": "a topic that was deleted begins again at offset 0",
    "store.record.second-version": "a 4.x reader does not know the second magic",
    "wire.binary-header.lengths": "4.9.3 believes every length; 4.9.4 checks some",
    "wire.reply.format": "4.9.3 answers in its configured format; 4.9.4 to 4.9.8 in that of the request",
    "wire.reply.unknown-code": "a 4.9 name server keeps silent; a broker answers",
    "wire.signature.all-fields": "a 4.9.3 client signs the fields of its header class only",
}

APACHE_5_DIFFERENCES: Final[Mapping[str, str]] = {
    **SHARED,
    "broker.search.nearest": "the first message stored at or after the time counts",
    "broker.transaction.operation-record": "one record may list several half messages, separated by commas",
    "wire.binary-header.empty-text": "an empty key or value is read as null",
    "wire.reply.format": "the server's configured format",
}

APACHE_4_9_HOLES: Final = frozenset(Hole)

APACHE_5_HOLES: Final = frozenset(Hole) - {Hole.K1}
"""5.x takes only an explicit not-found for no offset."""
