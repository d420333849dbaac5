"""Requests that are frames, and absurd: each is answered, and the broker serves on."""

import random
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import pytest

from model_tests.cli.serving import Serving
from model_tests.interop.wire_client import WireClient
from model_tests.refimpl.real.little_server import LittleClient
from refimpl.broker.settings import BrokerSettings
from spec.values.message import Message
from spec.values.units import Milliseconds, QueueId, QueueOffset
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.frame import Frame, encode_frame
from spec.wire.header.pull import PullMessageHeader

HELLO: Final = Message("Hello", b"hello", 0, {})
PULL: Final = PullMessageHeader(
    "group", "Hello", QueueId(0), QueueOffset(0), 32, 4, QueueOffset(0), Milliseconds(0), 0, "*"
)
BODY_LIMIT: Final = BrokerSettings().json_byte_limit
INT32: Final = 2**31 - 1
INT64: Final = 2**63 - 1
CODES: Final = [code for code in RequestCode if code is not RequestCode.UPDATE_BROKER_CONFIG]


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("hostile")
    with Serving(["serve", "--namesrv-port", "0", "--broker-port", "0"], folder) as running:
        with running.connect() as client:
            client.send(HELLO, 0)
        yield running
        assert running.stop() == 0


@pytest.fixture
def good(serving: Serving) -> Iterator[WireClient]:
    """A client that is served as before when the test is over."""
    with serving.connect() as client:
        yield client
        assert client.pull_all("Hello", 0)[0].body == b"hello"
    assert serving.resident_mib < 250


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        ({"max_msg_nums": INT32}, {ResponseCode.SUCCESS}),
        ({"max_msg_nums": -1}, {ResponseCode.SUCCESS, ResponseCode.SYSTEM_ERROR}),
        ({"queue_offset": INT64}, {ResponseCode.PULL_OFFSET_MOVED}),
        ({"queue_offset": -INT64 - 1}, {ResponseCode.PULL_OFFSET_MOVED}),
        ({"queue_id": INT32}, {ResponseCode.SYSTEM_ERROR}),
        ({"queue_id": -5}, {ResponseCode.SYSTEM_ERROR}),
        ({"topic": "x" * 100_000}, {ResponseCode.TOPIC_NOT_EXIST}),
        ({"consumer_group": "g" * 100_000}, None),
        ({"subscription": "a||" * 300_000}, None),
        ({"commit_offset": -INT64 - 1, "sys_flag": 7}, None),
        ({"suspend_timeout_millis": INT64, "sys_flag": 6}, None),
    ],
)
def test_a_pull_of_absurd_size_is_answered(
    changes: dict[str, object], codes: set[ResponseCode] | None, good: WireClient
) -> None:
    header = replace(PULL, **changes)  # type: ignore[arg-type]  # absurd values of the right types
    answer = good.ask(RequestCode.PULL_MESSAGE, header)
    if codes is not None:
        assert answer.code in codes, answer.remark
    assert len(answer.body) < 1 << 20


@pytest.mark.parametrize("count", [200_000, 30_000])
def test_a_heartbeat_with_a_flood_of_subscriptions_is_refused_and_delays_nobody(
    count: int, serving: Serving, good: WireClient
) -> None:
    topics = ",".join(
        f'{{"topic":"{number}","subString":"*","subVersion":1,"tagsSet":[]}}' for number in range(count)
    )
    body = (
        '{"clientID":"c","consumerDataSet":[{"groupName":"flood","consumeType":"CONSUME_PASSIVELY",'
        '"consumeFromWhere":"CONSUME_FROM_LAST_OFFSET","messageModel":"CLUSTERING",'
        f'"subscriptionDataSet":[{topics}]}}]}}'
    ).encode()
    frame = encode_frame(Frame(RequestCode.HEART_BEAT, opaque=1, body=body))
    with LittleClient(serving.ports["broker"]) as flood:
        flood.send(frame)
        began = time.monotonic()
        assert good.runtime_info()
        assert time.monotonic() - began < 1
        (answer,) = flood.read()
    assert answer.code == ResponseCode.SYSTEM_ERROR
    if len(body) > BODY_LIMIT:
        excess = (
            f"a body of {len(body)} bytes is refused, {BODY_LIMIT} are the limit where no message is sent"
        )
        assert answer.remark == excess
    else:
        assert answer.remark == f"a heartbeat names {count + 1} groups and subscriptions, 10000 are the limit"


def test_every_code_with_no_fields_and_with_noise_is_answered_or_ignored(serving: Serving) -> None:
    entropy = random.Random(11)
    frames: list[bytes] = []
    for opaque, code in enumerate(CODES):
        body = entropy.randbytes(entropy.randint(0, 60))
        frames.append(encode_frame(Frame(code, opaque=2 * opaque, body=body)))
        frames.append(encode_frame(Frame(code, opaque=2 * opaque + 1, extension_fields={}, body=b"{}")))
    for port in serving.ports.values():
        with LittleClient(port) as noisy:
            noisy.send(b"".join(frames))
            noisy.socket.shutdown(1)
            answers = list(noisy.reader.feed(noisy.read_end()))
            opaques = [answer.opaque for answer in answers if answer.flag & 1]
            assert len(opaques) == len(set(opaques))
    with serving.connect() as client:
        assert client.runtime_info()


def test_header_fields_of_noise_are_answered_with_words(serving: Serving, good: WireClient) -> None:
    entropy = random.Random(12)
    letters = "abcdefghijklm"
    for code in (RequestCode.SEND_MESSAGE_V2, RequestCode.PULL_MESSAGE, RequestCode.UPDATE_CONSUMER_OFFSET):
        for _ in range(50):
            fields = {
                letter: str(entropy.choice([-1, INT64, "x", "", "\ud800", 2**70])) for letter in letters
            }
            with LittleClient(serving.ports["broker"]) as client:
                try:
                    data = encode_frame(Frame(code, opaque=1, extension_fields=fields))
                except ValueError:
                    continue
                client.send(data)
                (answer,) = client.read()
                assert answer.code != ResponseCode.SUCCESS
                assert answer.remark
    assert good.runtime_info()
