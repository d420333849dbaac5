"""A deadline is kept at its last millisecond and missed at the next."""

import pytest

from spec.guarantees.example import verdict_of

CASES = {
    "LIV-1 pull expiry + tick + request": (
        "LIV-1",
        """declare observes=own,disown,pull,pulled,flow,up,down,fault,rpc
        0s c own g T@b:0 tenure=1 offset=0 mode=concurrent
        0s c pull g T@b:0 tenure=1 offset=0 request=1
        {ms}ms c flow g T@b:0 tenure=1 cause=paused""",
        143_000,
    ),
    "LIV-2 hold limit + sweep + slack": (
        "LIV-2",
        """declare observes=hold,wake,dispatch,subscribe,leave,up,down,fault,rpc
        0s c subscribe g topic=T expression=* version=1
        0s b hold g T@b:0 client=c offset=0 request=1
        {ms}ms b wake g T@b:0 client=c request=1 cause=limit""",
        21_000,
    ),
    "LIV-2 sweep + slack after something became readable": (
        "LIV-2",
        """declare observes=hold,wake,dispatch,subscribe,leave,up,down,fault,rpc
        0s c subscribe g topic=T expression=* version=1
        0s b hold g T@b:0 client=c offset=0 request=1
        0s b dispatch T@b:0 offset=0 message=m position=0
        {ms}ms b wake g T@b:0 client=c request=1 cause=sweep""",
        6_000,
    ),
    "LIV-4 due + request + slack": (
        "LIV-4",
        """declare observes=tick,down,up,fault,rpc
        0s c tick cause=rebalance outcome=ok due_ms=20000
        {ms}ms c tick cause=rebalance outcome=ok due_ms=99000""",
        24_000,
    ),
    "DLY-3 due + bound": (
        "DLY-3",
        """declare observes=append,deliver,divert,up,down,fault,rpc
        0s b append SCHEDULE_TOPIC_XXXX@b:0 offset=0 message=m position=0 due_ms=1000
        1s b append SCHEDULE_TOPIC_XXXX@b:1 offset=0 message=n position=9 due_ms=6000
        7s b deliver broker=b level=2 offset=0 message=n due_ms=6000 outcome=ok
        {ms}ms b end-of-run""",
        601_000,
    ),
    "TXN-1 three rounds": (
        "TXN-1",
        """declare observes=half,resolve,round,check,requeue,exceed,half-cursor,up,down,fault,rpc
        0s b half broker=b offset=0 message=m
        0s b half-cursor broker=b offset=0
        {ms}ms b round broker=b""",
        180_000,
    ),
    "RTE-1 registration + request": (
        "RTE-1",
        """declare observes=up,register,unregister,down,fault,rpc
        0s n up status=name-server
        0s o up status=name-server
        0s n register broker=b address=h:1 replica=0
        0s o register broker=d address=h:2 replica=0
        0s n register broker=d address=h:2 replica=0
        0s n unregister broker=d address=h:2 replica=0 outcome=ok
        {ms}ms n end-of-run""",
        33_000,
    ),
    "RTE-2 route poll": (
        "RTE-2",
        """declare observes=servers,route,view
        0s c route topic=T queues=b:0,b:1 address=n
        {ms}ms c view g topic=T members=c queues=b:0 strategy=AVG assigned=b:0""",
        30_000,
    ),
    "DLY-2 cursor not older than its flush": (
        "DLY-2",
        """declare observes=deliver,cursor,retain
        0s b cursor broker=b level=1 offset=0 status=moved
        0s b deliver broker=b level=1 offset=0 message=m due_ms=0 outcome=ok
        0s b deliver broker=b level=1 offset=1 message=n due_ms=0 outcome=ok
        0s b cursor broker=b level=1 offset=1 status=moved
        {ms}ms b cursor broker=b level=1 offset=2 status=moved
        14s b cursor broker=b level=1 offset=0 status=loaded""",
        12_999,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_last_millisecond_is_in_time_and_the_next_is_late(name: str) -> None:
    rule, history, last_ms = CASES[name]
    assert verdict_of(rule, history.format(ms=last_ms)) == "held"
    assert verdict_of(rule, history.format(ms=last_ms + 1)) == "violated"
