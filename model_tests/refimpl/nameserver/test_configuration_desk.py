"""The settings are told (319) and changed (318)."""

import pytest

from model_tests.refimpl.nameserver.office import MASTER, OPAQUE, Office, reply, topic
from refimpl.effect import Note, Send, Severity
from refimpl.nameserver.settings import NameServerSettings
from spec.wire.code import RequestCode
from spec.wire.frame import Frame
from spec.wire.language import Language

CHANGE, TELL = RequestCode.UPDATE_NAMESRV_CONFIG, RequestCode.GET_NAMESRV_CONFIG
DEFAULTS = b"""\
brokerExpiryMs=120000
brokerLimit=10000
filterServerLimit=32
keyValueLimit=1048576
kvConfigPath=namesrv/kvConfig.json
orderMessageEnable=false
registrationLimit=16777216
scanNotActiveBrokerInterval=10000
textLimit=1024
topicLimit=1000000
"""


@pytest.mark.clause("wire.body.properties-text")
def test_all_settings_are_told_one_a_line() -> None:
    assert Office().ask(TELL) == reply(body=DEFAULTS)


def test_what_may_change_is_changed_and_takes_effect() -> None:
    office = Office()
    lines = b"orderMessageEnable=TRUE\nbrokerLimit=1\ntopicLimit=1\nkeyValueLimit=999\nbrokerExpiryMs=1000\n"
    assert office.ask(CHANGE, body=lines) == reply()
    changed = DEFAULTS.replace(b"=120000", b"=1000").replace(b"brokerLimit=10000", b"brokerLimit=1")
    changed = changed.replace(b"Enable=false", b"Enable=true").replace(b"=1048576", b"=999")
    assert office.ask(TELL) == reply(body=changed.replace(b"topicLimit=1000000", b"topicLimit=1"))
    office.put("ORDER_TOPIC_CONFIG", "T", "broker-a:4")
    office.register(MASTER, topic("T"))
    assert b'"orderTopicConf":"broker-a:4"' in office.route().body
    office.pass_time(11_000)
    assert not office.has_route()


def test_a_change_is_told_with_who_made_it_and_what_really_changed() -> None:
    office = Office()
    office.ask(TELL)
    request = Frame(CHANGE, Language.JAVA, 399, OPAQUE, body=b"orderMessageEnable=true\nbrokerLimit=10000")
    office.core.on_frame(9, request, office.now_ms)
    assert office.core.take_effects() == [
        Note(Severity.INFO, "10.0.0.9:40009 has set orderMessageEnable=true, until this name server ends"),
        Send(9, reply()),
    ]


def test_unknown_and_fixed_keys_are_named_and_the_rest_is_changed() -> None:
    office = Office()
    lines = "textLimit=5\nkvConfigPath=namesrv/kvConfig.json\ntopicLimit=7"
    unknown = "\n".join(f"x{number:02}=1" for number in range(12))
    fixed_note, unknown_note, send = office.talk(CHANGE, body=f"{lines}\n{unknown}".encode())
    assert fixed_note == Note(
        Severity.WARNING,
        "10.0.0.9:40009 wants to set textLimit: these are set when the name server starts",
    )
    assert unknown_note == Note(
        Severity.WARNING,
        "10.0.0.9:40009 wants to set x00, x01, x02, x03, x04, x05, x06, x07, x08, x09 and 2 more: "
        "GET_NAMESRV_CONFIG lists those that exist",
    )
    assert isinstance(send, Send)
    assert send.frame == reply()
    told = office.ask(TELL).body
    assert told == DEFAULTS.replace(b"topicLimit=1000000", b"topicLimit=7")


@pytest.mark.parametrize(
    ("lines", "remark"),
    [
        (b"topicLimit=7\nbrokerLimit=0", "brokerLimit=0: expected a whole number above 0"),
        (b"topicLimit=7\nbrokerExpiryMs=x", "brokerExpiryMs=x: expected a whole number above 0"),
        (b"topicLimit=7\norderMessageEnable=1", "orderMessageEnable=1: expected true or false"),
        (b"topicLimit=7\na=\\u0041", "a backslash has no agreed meaning"),
    ],
)
def test_a_value_of_the_wrong_kind_changes_nothing(lines: bytes, remark: str) -> None:
    office = Office(NameServerSettings())
    place = 13 if "backslash" in remark else 0
    assert office.ask(CHANGE, body=lines) == reply(1, f"at {place}: {remark} [wire.body.properties-text]")
    assert office.ask(TELL) == reply(body=DEFAULTS)
