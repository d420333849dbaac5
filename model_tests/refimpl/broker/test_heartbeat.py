"""A heartbeat loses what cannot be read, and nothing else."""

import json
from collections.abc import Mapping

import pytest

from refimpl.broker.heartbeat import Heartbeat, read_heartbeat
from spec.rejection import Rejection
from spec.wire.body.heartbeat import HeartbeatData, ProducerData

TOLD: Mapping[str, object] = {
    "groupName": "g",
    "consumeType": "CONSUME_PASSIVELY",
    "messageModel": 1,
    "consumeFromWhere": "CONSUME_FROM_FIRST_OFFSET",
}


def body(*consumers: object) -> bytes:
    return json.dumps({"clientID": "c", "consumerDataSet": consumers}).encode()


def test_a_subscription_that_cannot_be_read_is_left_out_with_the_reason() -> None:
    good = {"topic": "T", "subString": "A"}
    bad = [{"topic": "U"}, 7, {"topic": "V", "subString": "x", "expressionType": "XPATH"}]
    whole = read_heartbeat(body({**TOLD, "subscriptionDataSet": [good]}, {**TOLD, "groupName": "h"}))
    partly = read_heartbeat(
        body({**TOLD, "subscriptionDataSet": [bad[0], good, *bad[1:]]}, {**TOLD, "groupName": "h"})
    )
    assert partly == Heartbeat(
        whole.data,
        (
            "subString: the key is missing",
            "expected an object, found 7",
            "expressionType: expected one of TAG, SQL92, or its number, found 'XPATH'",
        ),
    )
    assert (whole.left_out, whole.size) == ((), 3)


def test_a_heartbeat_without_any_set_is_read() -> None:
    assert read_heartbeat(b'{"clientID":"c"}') == Heartbeat(HeartbeatData("c"))
    told = read_heartbeat(b'{"clientID":"c","producerDataSet":[{"groupName":"p"}]}')
    assert (told, told.size) == (Heartbeat(HeartbeatData("c", (ProducerData("p"),))), 1)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b'{"clientID":"c","consumerDataSet":7}',
        b'{"clientID":"c","consumerDataSet":[7]}',
        b'{"clientID":"c","consumerDataSet":[{"groupName":"g"}]}',
        body({**TOLD, "subscriptionDataSet": 7}),
    ],
)
def test_what_is_wrong_outside_a_subscription_is_refused(data: bytes) -> None:
    with pytest.raises(Rejection):
        read_heartbeat(data)
