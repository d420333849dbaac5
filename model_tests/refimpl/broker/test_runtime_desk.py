"""What a broker tells of its running."""

import re
from collections.abc import Mapping
from typing import Final

import pytest

from model_tests.dialogue import RefusedError
from model_tests.refimpl.broker.admin_world import AdminWorld
from refimpl.broker.runtime_desk import _spell_duration, _spell_size
from refimpl.simulated.world import START_MS
from spec.values.message import Message

EMPTY: Final[Mapping[str, str]] = {
    "EndTransactionQueueSize": "0",
    "EndTransactionThreadPoolQueueCapacity": "100000",
    "bootTimestamp": str(START_MS),
    "brokerVersion": "399",
    "brokerVersionDesc": "V4_9_3",
    "commitLogMaxOffset": "0",
    "commitLogMinOffset": "0",
    "dispatchBehindBytes": "0",
    "dispatchMaxBuffer": "0",
    "earliestMessageTimeStamp": "-1",
    "getFoundTps": "0.0 0.0 0.0",
    "getMessageEntireTimeMax": "0",
    "getMissTps": "0.0 0.0 0.0",
    "getTotalTps": "0.0 0.0 0.0",
    "getTransferedTps": "0.0 0.0 0.0",
    "msgGetTotalTodayMorning": "0",
    "msgGetTotalTodayNow": "0",
    "msgGetTotalYesterdayMorning": "0",
    "msgPutTotalTodayMorning": "0",
    "msgPutTotalTodayNow": "0",
    "msgPutTotalYesterdayMorning": "0",
    "pageCacheLockTimeMills": "0",
    "pullThreadPoolQueueCapacity": "100000",
    "pullThreadPoolQueueHeadWaitTimeMills": "0",
    "pullThreadPoolQueueSize": "0",
    "putMessageAverageSize": "0.0",
    "putMessageDistributeTime": "[<=0ms]:0 [0~10ms]:0 [10~50ms]:0 [50~100ms]:0 [100~200ms]:0 [200~500ms]:0"
    " [500ms~1s]:0 [1~2s]:0 [2~3s]:0 [3~4s]:0 [4~5s]:0 [5~10s]:0 [10s~]:0 ",
    "putMessageEntireTimeMax": "0",
    "putMessageFailedTimes": "0",
    "putMessageSizeTotal": "0",
    "putMessageTimesTotal": "1",
    "putTps": "0.0 0.0 0.0",
    "queryThreadPoolQueueCapacity": "20000",
    "queryThreadPoolQueueHeadWaitTimeMills": "0",
    "queryThreadPoolQueueSize": "0",
    "remainHowManyDataToFlush": "0 B",
    "remainTransientStoreBufferNumbs": "2147483647",
    "runtime": "[ 0 days, 0 hours, 0 minutes, 0 seconds ]",
    **{f"scheduleMessageOffset_{level}": "0,0" for level in range(1, 19)},
    "sendThreadPoolQueueCapacity": "10000",
    "sendThreadPoolQueueHeadWaitTimeMills": "0",
    "sendThreadPoolQueueSize": "0",
    "startAcceptSendRequestTimeStamp": "0",
}
OF_DISK: Final = ("commitLogDirCapacity", "commitLogDiskRatio", "consumeQueueDiskRatio")


def test_a_new_broker_tells_every_figure_of_apache() -> None:
    found = dict(AdminWorld().administrator().runtime_info())
    assert re.fullmatch(r"Total : 1\.0 PiB, Free : 1024\.0 TiB\.", found["commitLogDirCapacity"])
    assert 0 < float(found["commitLogDiskRatio"]) < 1e-6
    assert found["consumeQueueDiskRatio"] == found["commitLogDiskRatio"]
    assert {key: text for key, text in found.items() if key not in OF_DISK} == EMPTY


def test_figures_follow_what_happens() -> None:
    world = AdminWorld()
    admin = world.administrator()
    admin.create()
    world.run_for(20_000)
    admin.store(4)
    admin.pull("T", 0, 0)
    admin.pull("T", 0, 4)
    world.run_for(10_000)
    (first, *_) = admin.pull_all("T", 0)
    found = admin.runtime_info()
    size = first.size * 4
    assert {key: text for key, text in found.items() if key not in OF_DISK and text != EMPTY[key]} == {
        "commitLogMaxOffset": str(size),
        "earliestMessageTimeStamp": str(first.stored_at_ms),
        "getFoundTps": found["getFoundTps"],
        "getMissTps": found["getMissTps"],
        "getTotalTps": found["getTotalTps"],
        "getTransferedTps": found["getTransferedTps"],
        "msgGetTotalTodayNow": "8",
        "msgPutTotalTodayNow": "4",
        "putMessageAverageSize": str(float(first.size)),
        "putMessageDistributeTime": found["putMessageDistributeTime"],
        "putMessageSizeTotal": str(size),
        "putMessageTimesTotal": "4",
        "putTps": found["putTps"],
        "runtime": "[ 0 days, 0 hours, 0 minutes, 30 seconds ]",
    }
    rates = [float(text) for text in found["putTps"].split(" ")]
    assert rates == [0.4, pytest.approx(4 / 30), pytest.approx(4 / 30)]
    assert found["getTotalTps"].startswith("0.2 ")


def test_sends_that_are_not_stored_are_counted() -> None:
    admin = AdminWorld().administrator()
    admin.create()
    with pytest.raises(RefusedError):
        admin.send(Message("T", bytes(5 * 1024 * 1024), 0, {}), 0)
    found = admin.runtime_info()
    assert (found["putMessageFailedTimes"], found["msgPutTotalTodayNow"]) == ("1", "0")


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1536, "1.5 KiB"),
        (2**20, "1.0 MiB"),
        (2**60, "1.0 EiB"),
    ],
)
def test_a_size_is_spelled_as_java_does(size: int, text: str) -> None:
    assert _spell_size(size) == text


def test_a_duration_is_spelled_as_java_does() -> None:
    assert _spell_duration(((25 * 60 + 61) * 60 + 3) * 1000) == "[ 1 days, 2 hours, 1 minutes, 3 seconds ]"
    assert _spell_duration(-5) == "[ 0 days, 0 hours, 0 minutes, 0 seconds ]"
