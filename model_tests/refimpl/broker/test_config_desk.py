"""A broker's settings as text, and what changes with them."""

from dataclasses import fields

import pytest

from model_tests.refimpl.broker.admin_world import AdminWorld
from refimpl.broker.setting_text import FIELDS, derive_texts
from refimpl.broker.settings import BrokerSettings
from refimpl.effect import Note, Severity
from spec.broker.setting import CHANGEABLE
from spec.broker.topic import TopicConfig
from spec.values.message import Message
from spec.wire.body.offset import DelayOffsetTable
from spec.wire.body.setting import decode_settings
from spec.wire.code import RequestCode, ResponseCode

CHANGE, LIST = RequestCode.UPDATE_BROKER_CONFIG, RequestCode.GET_BROKER_CONFIG


def find_notes(world: AdminWorld, text: str) -> list[Note]:
    return [told.note for told in world.world.notes if text in told.note.text]


def listed(world: AdminWorld) -> tuple[dict[str, str], str]:
    answer = world.administrator().call(LIST)
    return decode_settings(answer.body), (answer.extension_fields or {})["version"]


@pytest.mark.clause("wire.body.properties-text")
def test_settings_are_listed_under_the_keys_of_apache() -> None:
    world = AdminWorld(BrokerSettings(name_servers=("127.0.0.1:9876", "127.0.0.1:9877")))
    texts, version = listed(world)
    assert texts == derive_texts(world.settings)
    assert version == '{"counter":0,"timestamp":1700000000000}'
    some = ("brokerName", "listenPort", "namesrvAddr", "flushDiskType", "messageDelayLevel", "deleteWhen")
    assert {key: texts[key] for key in some} == {
        "brokerName": "broker-a",
        "listenPort": "10911",
        "namesrvAddr": "127.0.0.1:9876;127.0.0.1:9877",
        "flushDiskType": "ASYNC_FLUSH",
        "messageDelayLevel": "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h",
        "deleteWhen": "04",
    }


@pytest.mark.clause("broker.admin.setting-takes-effect")
def test_every_setting_that_may_change_is_listed_with_its_new_value() -> None:
    world = AdminWorld()
    before, _ = listed(world)
    changes = {key: "false" if before[key] == "true" else "true" for key in CHANGEABLE}
    changes |= {"brokerPermission": "4", "sendThreadPoolQueueCapacity": "7"}
    body = "".join(f"{key}={text}\n" for key, text in changes.items()).encode()
    world.administrator().call(CHANGE, None, body)
    after, version = listed(world)
    assert after == {**before, **changes}
    assert version.startswith('{"counter":1,"timestamp":17000000')
    (note,) = find_notes(world, "until the broker stops")
    assert note.severity is Severity.INFO
    assert note.text.endswith(", ".join(f"{key}={text}" for key, text in changes.items()))


def test_every_setting_that_may_change_has_a_field() -> None:
    names = {field.name for field in fields(BrokerSettings)}
    assert set(FIELDS) == set(CHANGEABLE)
    assert set(FIELDS.values()) <= names


@pytest.mark.clause("broker.admin.setting-takes-effect")
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            b"brokerPermission=4\nbrokerName=other\n",
            "brokerName cannot change while the broker runs; these can: ",
        ),
        (b"brokerPermission=5\n", "brokerPermission=5: expected 0, 2 (write), 4 (read) or 6"),
        (b"brokerPermission=x\n", "brokerPermission=x: "),
        (b"slaveReadEnable=yes\n", "slaveReadEnable=yes: expected true or false"),
        (b"sendThreadPoolQueueCapacity=0\n", "sendThreadPoolQueueCapacity=0: expected a number above 0"),
        (b"\xff", "not UTF-8: "),
    ],
)
def test_a_request_that_would_not_take_effect_changes_nothing(body: bytes, reason: str) -> None:
    world = AdminWorld()
    before = listed(world)
    version = world.broker.parts.topics.version
    code, said = world.administrator().refusal(CHANGE, None, body)
    assert code == ResponseCode.SYSTEM_ERROR
    assert said is not None
    assert said.startswith("no setting was changed: at 0: " + reason)
    assert listed(world) == before
    assert world.broker.parts.topics.version == version
    assert [note.severity for note in find_notes(world, "no setting was changed")] == [Severity.WARNING]


@pytest.mark.clause("broker.admin.setting-takes-effect")
def test_a_broker_that_is_closed_to_reading_serves_no_pull_and_registers_anew() -> None:
    world = AdminWorld()
    admin = world.administrator()
    admin.create()
    admin.store(1)
    version = world.broker.parts.topics.version
    admin.call(CHANGE, None, b"brokerPermission=2")
    with pytest.raises(Exception, match="closed to reading"):
        admin.pull("T", 0, 0)
    assert world.broker.parts.topics.version.counter == version.counter + 1
    admin.call(CHANGE, None, b"brokerPermission=6")
    assert len(admin.pull("T", 0, 0).messages) == 1


@pytest.mark.clause("broker.admin.setting-takes-effect", "broker.topic.auto-create")
def test_topics_are_created_by_sending_while_that_is_switched_on() -> None:
    world = AdminWorld(BrokerSettings(is_topic_auto_created=False))
    admin = world.administrator()
    with pytest.raises(Exception, match="no such topic"):
        admin.send(Message("A", b"x", 0, {}), 0)
    admin.call(CHANGE, None, b"autoCreateTopicEnable=true")
    admin.send(Message("A", b"x", 0, {}), 0)
    assert admin.topics().topic_config_table["A"] == TopicConfig("A", 4, 4)
    admin.call(CHANGE, None, b"autoCreateTopicEnable=false")
    with pytest.raises(Exception, match="no such topic"):
        admin.send(Message("B", b"x", 0, {}), 0)


def test_an_empty_request_changes_nothing() -> None:
    world = AdminWorld()
    before = listed(world)
    world.administrator().call(CHANGE)
    assert listed(world) == before


def test_cursors_of_delayed_messages_are_listed() -> None:
    world = AdminWorld()
    admin = world.administrator()
    admin.create()
    for level in ("1", "1", "5"):
        admin.send(Message("T", b"x", 0, {"DELAY": level}), 0)
    world.run_for(25_000)
    answer = admin.call(RequestCode.GET_ALL_DELAY_OFFSET)
    assert answer.body.startswith(b'{"offsetTable":{1:2,2:0,3:0,')
    assert DelayOffsetTable.decode(answer.body).offset_table == {1: 2} | dict.fromkeys(range(2, 19), 0)
