"""The fields by which the fate of a half message is decided and asked for."""

from spec.values.units import CommitLogPosition, QueueOffset
from spec.wire.header.codec import CustomHeader, wire_header


@wire_header
class EndTransactionHeader(CustomHeader):
    """What becomes of a half message, as transaction bits; said unasked, or because the broker asked."""

    producer_group: str
    tran_state_table_offset: QueueOffset
    commit_log_offset: CommitLogPosition
    commit_or_rollback: int
    msg_id: str
    from_transaction_check: bool = False
    transaction_id: str | None = None


@wire_header
class CheckTransactionStateHeader(CustomHeader):
    """The broker asks a producer what became of a half message."""

    tran_state_table_offset: QueueOffset
    commit_log_offset: CommitLogPosition
    msg_id: str | None = None
    transaction_id: str | None = None
    offset_msg_id: str | None = None


@wire_header
class ResumeCheckHeader(CustomHeader):
    """Check a half message again that had been given up."""

    msg_id: str | None = None
