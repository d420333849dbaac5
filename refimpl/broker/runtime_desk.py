"""What a broker tells of its running: the figures that mqadmin's clusterList and brokerStatus read.

Tools split and parse these texts without looking, so every one that Apache sends is sent. Some
speak of things that a core does not have, such as thread pools and the time a call takes; they say
that nothing waits there and that no time passes.
"""

from collections.abc import Callable, Mapping
from typing import Final

from refimpl.broker.parts import BrokerParts
from refimpl.broker.traffic import Rates, Totals, Traffic
from refimpl.remoting.request import Handler, Reply, Request, succeed
from spec.values.units import QueueOffset
from spec.wire.body.route import KvTable
from spec.wire.code import RequestCode
from spec.wire.version import REFERENCE_VERSION, derive_version_name

DelayProgress = Callable[[], Mapping[int, tuple[QueueOffset, QueueOffset]]]
"""By delay level: the next message to deliver, and the end of the level's queue."""

_ABSENT: Final[Mapping[str, str]] = {
    "putMessageEntireTimeMax": "0",
    "getMessageEntireTimeMax": "0",
    "dispatchMaxBuffer": "0",
    "pageCacheLockTimeMills": "0",
    "pullThreadPoolQueueSize": "0",
    "queryThreadPoolQueueSize": "0",
    "queryThreadPoolQueueCapacity": "20000",
    "EndTransactionQueueSize": "0",
    "EndTransactionThreadPoolQueueCapacity": "100000",
    "sendThreadPoolQueueHeadWaitTimeMills": "0",
    "pullThreadPoolQueueHeadWaitTimeMills": "0",
    "queryThreadPoolQueueHeadWaitTimeMills": "0",
    "startAcceptSendRequestTimeStamp": "0",
    "remainTransientStoreBufferNumbs": str(2**31 - 1),
}
"""Of thread pools, locks and buffers that are not there, with Apache's capacities."""

_PUT_TIMES: Final = (
    *("0~10ms", "10~50ms", "50~100ms", "100~200ms", "200~500ms", "500ms~1s"),
    *("1~2s", "2~3s", "3~4s", "4~5s", "5~10s", "10s~"),
)
"""Apache's steps of how long a message took to be stored, behind the one that took no time."""

_UNIT: Final = 1024


class RuntimeDesk:
    """Tells how the broker is doing."""

    def __init__(self, parts: BrokerParts, delay_progress: DelayProgress) -> None:
        self._parts = parts
        self._delay_progress = delay_progress

    def handlers(self) -> Mapping[int, Handler]:
        """By request code."""
        return {RequestCode.GET_BROKER_RUNTIME_INFO: self.on_runtime_info}

    def on_runtime_info(self, request: Request) -> Reply:
        """All figures, by Apache's names."""
        traffic = self._parts.statistics.traffic
        figures = {
            **_ABSENT,
            "brokerVersionDesc": derive_version_name(REFERENCE_VERSION) or "",
            "brokerVersion": str(int(REFERENCE_VERSION)),
            "bootTimestamp": str(traffic.started_at_ms),
            "runtime": _spell_duration(request.now_ms - traffic.started_at_ms),
            "sendThreadPoolQueueSize": str(self._parts.intake.waiting_count),
            "sendThreadPoolQueueCapacity": str(self._parts.settings.waiting_send_limit),
            "pullThreadPoolQueueCapacity": str(self._parts.settings.held_pull_limit),
            **_derive_totals(traffic),
            **_derive_rates(traffic),
            **self._describe_store(),
            **self._describe_delays(),
        }
        return succeed(None, KvTable(dict(sorted(figures.items()))))

    def _describe_store(self) -> dict[str, str]:
        """Where the log begins and ends, what is still to be done with it, and how full the disk is."""
        store = self._parts.store
        log, usage = store.log, store.usage()
        first = store.query.by_position(log.min_position)
        total, free = _spell_size(usage.total_bytes), _spell_size(usage.total_bytes - usage.used_bytes)
        return {
            "commitLogMinOffset": str(log.min_position),
            "commitLogMaxOffset": str(log.end),
            "commitLogDiskRatio": str(usage.ratio),
            "consumeQueueDiskRatio": str(usage.ratio),
            "commitLogDirCapacity": f"Total : {total}, Free : {free}.",
            "remainHowManyDataToFlush": _spell_size(log.end - log.flushed),
            "dispatchBehindBytes": str(log.end - store.reput_position),
            "earliestMessageTimeStamp": str(-1 if first is None else first.stored_at_ms),
        }

    def _describe_delays(self) -> dict[str, str]:
        progress = self._delay_progress()
        return {f"scheduleMessageOffset_{level}": f"{at},{end}" for level, (at, end) in progress.items()}


def _derive_totals(traffic: Traffic) -> dict[str, str]:
    now, today, yesterday = traffic.now, traffic.today_morning, traffic.yesterday_morning
    calls = max(1, now.put)
    last_minute = traffic.rates(lambda totals: totals.put).minute * 60
    slower = " ".join(f"[{step}]:0" for step in _PUT_TIMES)
    return {
        "putMessageTimesTotal": str(calls),
        "putMessageFailedTimes": str(now.put_failed),
        "putMessageSizeTotal": str(now.put_bytes),
        "putMessageAverageSize": str(now.put_bytes / calls),
        "putMessageDistributeTime": f"[<=0ms]:{round(last_minute)} {slower} ",
        "msgPutTotalTodayNow": str(now.put),
        "msgPutTotalTodayMorning": str(today.put),
        "msgPutTotalYesterdayMorning": str(yesterday.put),
        "msgGetTotalTodayNow": str(now.transferred),
        "msgGetTotalTodayMorning": str(today.transferred),
        "msgGetTotalYesterdayMorning": str(yesterday.transferred),
    }


def _derive_rates(traffic: Traffic) -> dict[str, str]:
    """Each a text of three numbers: of ten seconds, a minute, ten minutes."""
    rates: dict[str, Callable[[Totals], int]] = {
        "putTps": lambda totals: totals.put,
        "getFoundTps": lambda totals: totals.found,
        "getMissTps": lambda totals: totals.missed,
        "getTotalTps": lambda totals: totals.found + totals.missed,
        "getTransferedTps": lambda totals: totals.transferred,
    }
    return {name: _spell_rates(traffic.rates(of)) for name, of in rates.items()}


def _spell_rates(rates: Rates) -> str:
    return " ".join(map(str, rates))


def _spell_duration(duration_ms: int) -> str:
    minutes, seconds = divmod(max(0, duration_ms) // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return f"[ {days} days, {hours} hours, {minutes} minutes, {seconds} seconds ]"


def _spell_size(size: int) -> str:
    """The size as Java's humanReadableByteCount writes it: `1.5 KiB`."""
    if size < _UNIT:
        return f"{size} B"
    exponent = (size.bit_length() - 1) // 10
    return f"{size / _UNIT**exponent:.1f} {'KMGTPE'[exponent - 1]}iB"
