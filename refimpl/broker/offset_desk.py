"""Committed offsets as a whole: copied by slaves, compared, given from one group to another."""

from collections.abc import Mapping

from refimpl.broker.group_move import GroupMove
from refimpl.broker.parts import BrokerParts
from refimpl.broker.queue_view import QueueView
from refimpl.remoting.request import OK, Handler, Reply, Request, refuse, succeed
from spec.broker.reset import derive_corrections
from spec.values.name import is_group_legal
from spec.values.units import QueueId, QueueOffset
from spec.wire.body.offset import CorrectionOffsetTable
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.header.offset import CloneGroupOffsetHeader, CorrectionOffsetHeader


class OffsetDesk:
    """Looks after the offset table."""

    def __init__(self, parts: BrokerParts) -> None:
        self._parts = parts
        self._queues = QueueView(parts.store, parts.settings.name)

    def handlers(self) -> Mapping[int, Handler]:
        """By request code."""
        return {
            RequestCode.GET_ALL_CONSUMER_OFFSET: self.on_list,
            RequestCode.QUERY_CORRECTION_OFFSET: self.on_correction,
            RequestCode.CLONE_GROUP_OFFSET: self.on_clone,
        }

    def on_list(self, _request: Request) -> Reply:
        """All offsets, as the file has them."""
        return succeed(None, self._parts.offsets.table())

    def on_correction(self, request: Request) -> Reply:
        """The lowest offset of each queue over all groups that are not filtered out.

        Clause: broker.admin.correction-lowest
        """
        header = request.header(CorrectionOffsetHeader)
        offsets = self._parts.offsets
        filtered = frozenset((header.filter_groups or "").split(","))
        counted = [
            self._keep_stored(header.topic, offsets.offsets(group, header.topic))
            for group in offsets.groups_of(header.topic)
            if group not in filtered
        ]
        compared = offsets.offsets(header.compare_group, header.topic)
        return succeed(None, CorrectionOffsetTable(derive_corrections(counted, compared)))

    def _keep_stored(self, topic: str, offsets: Mapping[QueueId, QueueOffset]) -> dict[QueueId, QueueOffset]:
        """Without the offsets of messages that are gone."""
        return {
            queue_id: offset
            for queue_id, offset in offsets.items()
            if offset >= self._queues.bounds(topic, queue_id).minimum
        }

    def on_clone(self, request: Request) -> Reply:
        """One group goes on where another one is, in one topic or in all that both may consume.

        Topics that are missing are passed over, and unless the source is said to be offline those that it
        does not subscribe any more.
        """
        header = request.header(CloneGroupOffsetHeader)
        source, target, parts = header.src_group, header.dest_group, self._parts
        if not is_group_legal(target) or source == target:
            return refuse(
                ResponseCode.SYSTEM_ERROR, f"{target[:40]!r} cannot take the offsets of {source[:40]!r}"
            )
        topic = (header.topic or "").strip()
        online = parts.consumers.find(source)
        subscribed = None if online is None or header.offline else {one.topic for one in online.subscriptions}
        moves: list[GroupMove] = []
        for name in (topic,) if topic else parts.offsets.topics_of(source):
            if parts.topics.find(name) is None or (subscribed and name not in subscribed):
                continue
            moves.append(GroupMove(target, name, parts.offsets.offsets(source, name)))
        for move in moves:
            move.record(parts.recorder, "begun", request.now_ms)
            parts.offsets.clone(source, target, move.topic, request.now_ms)
        parts.offsets.persist()
        for move in moves:
            move.record(parts.recorder, "done", request.now_ms)
        return OK
