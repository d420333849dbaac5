"""Locks over the wire: frames in, frames out."""

import json

import pytest

from model_tests.refimpl.broker.broker_world import BrokerWorld, Client
from model_tests.refimpl.broker.captured import captured_frames
from spec.guarantees.verdict import Verdict
from spec.history.event import Outcome
from spec.history.kind import Kind
from spec.values.message_queue import MessageQueue
from spec.values.units import QueueId
from spec.wire.body.lock import LockBatchBody, LockBatchResponseBody
from spec.wire.code import RequestCode


def queues(*numbers: int) -> frozenset[MessageQueue]:
    return frozenset(MessageQueue("T", "broker-a", QueueId(number)) for number in numbers)


def lock(client: Client, client_id: str, *numbers: int) -> frozenset[MessageQueue]:
    body = LockBatchBody(client_id, "g", queues(*numbers)).encode()
    answer = client.call(RequestCode.LOCK_BATCH_MQ, None, body)
    assert (answer.remark, answer.extension_fields) == (None, None)
    return LockBatchResponseBody.decode(answer.body).lock_ok_mq_set


def unlock(client: Client, client_id: str, *numbers: int) -> None:
    answer = client.call(
        RequestCode.UNLOCK_BATCH_MQ, None, LockBatchBody(client_id, "g", queues(*numbers)).encode()
    )
    assert (answer.remark, answer.extension_fields, answer.body) == (None, None, b"")


@pytest.mark.clause("broker.lock.one-holder", "broker.lock.expired-is-taken-over")
def test_a_queue_is_held_by_one_client_until_it_unlocks_or_its_lease_ends() -> None:
    world = BrokerWorld()
    first, second = world.connect(), world.connect()
    assert lock(first, "a", 0, 1) == queues(0, 1)
    assert lock(second, "b", 0, 1) == frozenset()
    unlock(second, "b", 0)
    assert lock(second, "b", 0) == frozenset()
    unlock(first, "a", 0)
    assert lock(second, "b", 0, 1) == queues(0)
    world.run_for(60_001)
    assert lock(second, "b", 1) == queues(1)
    judged = world.judge()
    assert judged["LCK-1"].verdict is Verdict.HELD
    assert {event.outcome for event in world.kinds(Kind.LOCK)} == {Outcome.OK, Outcome.FAIL}


@pytest.mark.clause("broker.lock.one-holder")
def test_locks_end_with_the_broker_and_the_history_says_why() -> None:
    world = BrokerWorld()
    assert lock(world.connect(), "a", 0) == queues(0)
    world.restart()
    assert lock(world.connect(), "b", 0) == queues(0)
    assert world.judge()["LCK-1"].verdict is Verdict.HELD


def test_none_granted_is_an_answer_with_an_empty_list() -> None:
    world = BrokerWorld()
    client = world.connect()
    lock(client, "a", 0)
    answer = client.call(RequestCode.LOCK_BATCH_MQ, None, LockBatchBody("b", "g", queues(0)).encode())
    assert answer.body == b'{"lockOKMQSet":[]}'


def test_what_the_python_client_locks_it_may_unlock() -> None:
    world = BrokerWorld()
    client, other = world.connect(), world.connect()
    frames = captured_frames("py-rocketmq044_orderly", RequestCode.LOCK_BATCH_MQ, RequestCode.UNLOCK_BATCH_MQ)
    assert [frame.code for frame in frames] == [41, 41, 41, 42]
    asked = [LockBatchBody.decode(frame.body) for frame in frames]
    for frame, body in zip(frames[:3], asked, strict=False):
        client.caller.send(frame)
        answer = client.caller.await_reply(frame.opaque)
        assert LockBatchResponseBody.decode(answer.body).lock_ok_mq_set == body.mq_set
    wanted = LockBatchBody("another", asked[3].consumer_group, asked[3].mq_set).encode()
    refused = other.call(RequestCode.LOCK_BATCH_MQ, None, wanted)
    assert json.loads(refused.body) == {"lockOKMQSet": []}
    client.caller.send(frames[3])
    assert client.caller.await_reply(frames[3].opaque).code == 0
    granted = other.call(RequestCode.LOCK_BATCH_MQ, None, wanted)
    assert LockBatchResponseBody.decode(granted.body).lock_ok_mq_set == asked[3].mq_set


def test_a_body_that_cannot_be_read_is_refused_with_the_reason() -> None:
    answer = BrokerWorld().connect().ask(RequestCode.LOCK_BATCH_MQ, None, b'{"clientId":"a"}')
    assert (answer.code, answer.remark) == (
        1,
        "at 0: consumerGroup: the key is missing [wire.body.required-key]",
    )
