"""What the rooms of one broker share."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from refimpl.broker.config_table import Note
from refimpl.broker.consumer_registry import ConsumerRegistry
from refimpl.broker.group_table import GroupTable
from refimpl.broker.intake import Intake
from refimpl.broker.offset_table import OffsetTable
from refimpl.broker.recorder import Recorder
from refimpl.broker.settings import BrokerSettings
from refimpl.broker.statistics import Statistics
from refimpl.broker.topic_table import TopicTable
from refimpl.remoting.request import Reply, Request
from refimpl.store.message_store import MessageStore

Answer: TypeAlias = Callable[[Request, Reply], None]
"""Gives a request its one answer."""

Respond: TypeAlias = Callable[[Request, Callable[[], Reply | None]], None]
"""Answers a request with what an action says, or with why it failed."""


@dataclass(frozen=True, slots=True)
class BrokerParts:
    """The tables, the store, and the ways out."""

    settings: BrokerSettings
    store: MessageStore
    recorder: Recorder
    topics: TopicTable
    groups: GroupTable
    offsets: OffsetTable
    consumers: ConsumerRegistry
    statistics: Statistics
    intake: Intake
    entropy: Random
    answer: Answer
    respond: Respond
    note: Note
