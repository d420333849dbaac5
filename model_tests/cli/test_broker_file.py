"""The file that configures a broker: Apache's keys in Apache's form or in TOML, and words for mistakes."""

import logging
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Final

import pytest

from refimpl.broker.setting_text import derive_texts
from refimpl.broker.settings import BrokerSettings
from refimpl.cli.broker_file import BrokerFileError, read_broker_file, read_name_servers
from refimpl.cli.broker_key import KEYS, WITHOUT_EFFECT, BrokerFile
from refimpl.cli.properties_text import parse_properties
from refimpl.real.event_log import TextLine
from refimpl.real.tls import ClientProof, TlsMode
from refimpl.store.settings import StoreSettings
from spec.store.flush import FlushMode
from spec.values.host import host_of
from spec.values.units import ByteCount, Count, Milliseconds

APACHE_FILE: Final = """\
# Licensed to nobody
brokerClusterName = DefaultCluster
brokerName = broker-a
brokerId = 0
deleteWhen = 04
fileReservedTime = 48
brokerRole = ASYNC_MASTER
flushDiskType = ASYNC_FLUSH
"""


def _write(tmp_path: Path, text: str, name: str = "broker.conf") -> Path:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return path


def _read(tmp_path: Path, text: str, name: str = "broker.conf") -> BrokerFile:
    return read_broker_file(_write(tmp_path, text, name))


def _error(tmp_path: Path, text: str, name: str = "broker.conf") -> str:
    with pytest.raises(BrokerFileError) as raised:
        _read(tmp_path, text, name)
    assert raised.value.exit_code == 64
    message = raised.value.format_message()
    assert "\n" not in message
    return message.replace(str(tmp_path), "DIR")


def test_the_file_that_apache_ships_is_understood(tmp_path: Path) -> None:
    file = _read(tmp_path, APACHE_FILE)
    assert file == BrokerFile(
        settings=replace(BrokerSettings(), store=StoreSettings(reserved_ms=172_800_000))
    )


def test_every_kind_of_value_arrives_where_it_belongs(tmp_path: Path) -> None:
    text = f"""\
brokerName=b1
brokerIP1=10.1.2.3
listenPort:20911
namesrvAddr  10.0.0.1:9876;10.0.0.2:9876
autoCreateTopicEnable=FALSE
brokerPermission=4
storePathRootDir={tmp_path}/data
storePathCommitLog={tmp_path}/data/commitlog
mappedFileSizeCommitLog=1048576
mappedFileSizeConsumeQueue=6000
messageDelayLevel=1s 1m \\
                  2h
flushDiskType=SYNC_FLUSH
flushIntervalCommitLog=100
flushCommitLogLeastPages=0
flushConsumeQueueThoroughInterval=5000
deleteWhen=04;16
maxMessageSize=1024
transactionCheckMax=3
aclEnable=true
serverChannelMaxIdleTimeSeconds=7
tls.server.mode=enforcing
tls.server.certPath=/a/cert.pem
tls.server.need.client.auth=optional
tls.enable=true
"""
    file = _read(tmp_path, text)
    settings = file.settings
    assert (settings.name, settings.is_topic_auto_created, settings.permission, settings.check_limit) == (
        "b1",
        False,
        4,
        3,
    )
    assert settings.account_file == "config/plain_acl.yml"
    assert settings.name_servers == ("10.0.0.1:9876", "10.0.0.2:9876")
    assert (file.port, file.advertised, file.store) == (20_911, "10.1.2.3", tmp_path / "data")
    default = StoreSettings()
    assert settings.store == StoreSettings(
        log_file_size=1_048_576,
        units_per_file=300,
        delays_ms=(1_000, 60_000, 7_200_000),
        flush_mode=FlushMode.SYNC,
        log_timing=default.log_timing._replace(interval_ms=Milliseconds(100), least_pages=Count(0)),
        queue_timing=default.queue_timing._replace(thorough_ms=Milliseconds(5_000)),
        delete_hours=(4, 16),
        message_size_limit=ByteCount(1_024),
    )
    assert file.limits.idle_ms == 7_000
    assert (file.tls.mode, file.tls.certificate) == (TlsMode.ENFORCING, Path("/a/cert.pem"))
    assert (file.tls.client_proof, file.tls.is_used_outward) == (ClientProof.OPTIONAL, True)


def test_toml_has_the_same_keys(tmp_path: Path) -> None:
    text = """\
brokerName = "b1"
listenPort = 20911
autoCreateTopicEnable = false
namesrvAddr = ["10.0.0.1:9876", "10.0.0.2:9876"]
[tls.server]
mode = "enforcing"
"""
    file = _read(tmp_path, text, "broker.toml")
    assert (file.settings.name, file.port, file.settings.is_topic_auto_created) == ("b1", 20_911, False)
    assert file.settings.name_servers == ("10.0.0.1:9876", "10.0.0.2:9876")
    assert file.tls.mode is TlsMode.ENFORCING


def test_what_a_broker_says_of_its_settings_can_be_its_file(tmp_path: Path) -> None:
    settings = BrokerSettings(
        cluster="c",
        name="n",
        host=host_of("10.0.0.9", 12_345),
        name_servers=("a:1", "b:2"),
        permission=2,
        is_long_polling=False,
        topic_queue_count=5,
        check_limit=2,
        held_pull_limit=77,
        store=StoreSettings(units_per_file=7, delays_ms=(5_000, 86_400_000), flush_mode=FlushMode.SYNC),
    )
    texts = derive_texts(settings)
    assert set(texts) <= set(KEYS)
    file = _read(tmp_path, "".join(f"{key}={value}\n" for key, value in texts.items()))
    assert derive_texts(replace(file.settings, host=settings.host)) == texts
    assert (file.advertised, file.port) == ("10.0.0.9", 12_345)


def test_every_value_has_the_type_of_its_field() -> None:
    samples = {**derive_texts(BrokerSettings()), "brokerIP1": "10.0.0.1", "namesrvAddr": "a:1"}
    guesses = ("7", "true", "x", "disabled", "none", "/x", "0", "false", "40")
    defaults = BrokerFile()
    for key, apply in KEYS.items():
        for text in (samples.get(key, "7"), *guesses):
            try:
                changed = apply(defaults, text)
            except ValueError:
                continue
            _check_types(defaults, changed)
            break
        else:
            pytest.fail(f"no sample fits {key}")


def _check_types(before: object, after: object) -> None:
    assert is_dataclass(before)
    for field in fields(before):
        old, new = getattr(before, field.name), getattr(after, field.name)
        if is_dataclass(old):
            _check_types(old, new)
        elif old is not None and new != old:
            assert type(new) is type(old), field.name


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            "listenPort=abc",
            "DIR/broker.conf, line 1: listenPort is 'abc', expected a whole number, 1 to 65535",
        ),
        (
            "\n\nlistenPort=0",
            "DIR/broker.conf, line 3: listenPort is '0', expected a whole number, 1 to 65535",
        ),
        ("traceOn=yes", "DIR/broker.conf, line 1: traceOn is 'yes', expected true or false"),
        (
            "flushDiskType=SYNC",
            "DIR/broker.conf, line 1: flushDiskType is 'SYNC', expected ASYNC_FLUSH or SYNC_FLUSH",
        ),
        (
            "brokerRole=SLAVE",
            (
                "DIR/broker.conf, line 1: brokerRole is 'SLAVE',"
                " expected ASYNC_MASTER: replication is not there yet"
            ),
        ),
        ("brokerId=1", "DIR/broker.conf, line 1: brokerId is '1', expected 0: replication is not there yet"),
        (
            "enablePropertyFilter=true",
            (
                "DIR/broker.conf, line 1: enablePropertyFilter is 'true',"
                " expected false: filtering by properties is not there"
            ),
        ),
        (
            "mappedFileSizeConsumeQueue=30",
            (
                "DIR/broker.conf, line 1: mappedFileSizeConsumeQueue is '30',"
                " expected a multiple of 20, the bytes of a unit"
            ),
        ),
        (
            "messageDelayLevel=1x",
            (
                "DIR/broker.conf, line 1: messageDelayLevel is '1x', expected something like '1s 5s 1m':"
                " '1x' is not a delay: expected a number and one of s, m, h, d, as in '10s'"
            ),
        ),
        ("brokerIP1=host", "DIR/broker.conf, line 1: brokerIP1 is 'host', expected an IP address"),
        (
            "namesrvAddr=a:1;b",
            (
                "DIR/broker.conf, line 1: namesrvAddr is 'a:1;b',"
                " expected addresses as HOST:PORT, several divided by ;"
            ),
        ),
        (
            "brokerName=a b",
            (
                "DIR/broker.conf, line 1: brokerName is 'a b',"
                " expected a name of 1 to 127 characters without blanks"
            ),
        ),
        (
            "storePathRootDir=/x\nstorePathCommitLog=/y",
            (
                "DIR/broker.conf: storePathCommitLog is '/y', expected '/x/commitlog':"
                " a store is one folder here, given by storePathRootDir"
            ),
        ),
        ("a=\\u00", "DIR/broker.conf: line 1: \\u00 is no character, expected four hex digits"),
    ],
)
def test_a_value_that_cannot_be_used_is_named_with_what_was_expected(
    text: str, error: str, tmp_path: Path
) -> None:
    assert _error(tmp_path, text) == error


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("a =", "DIR/broker.toml: Invalid value (at end of document)"),
        (
            "listenPort = 1.5",
            "DIR/broker.toml: listenPort is 1.5, expected a text, a whole number, true or false",
        ),
        ("listenPort = -1", "DIR/broker.toml: listenPort is '-1', expected a whole number, 1 to 65535"),
    ],
)
def test_toml_that_cannot_be_used_is_told(text: str, error: str, tmp_path: Path) -> None:
    assert _error(tmp_path, text, "broker.toml") == error


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "broker.conf").write_bytes(b"a=\xff")
    with pytest.raises(BrokerFileError, match=r"broker\.conf: byte 2 is not UTF-8$"):
        read_broker_file(tmp_path / "broker.conf")
    with pytest.raises(BrokerFileError, match=r"^cannot read .*none: No such file or directory$"):
        read_broker_file(tmp_path / "none")


def test_keys_that_nobody_knows_are_warned_about_once_each(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = "brokername=a\nzzz=1\nzzz=2\nsendMessageThreadPoolNums=4\nlistenPort=1000\nlistenPort=1001\n"
    with caplog.at_level(logging.INFO, "mqspec.settings"):
        assert _read(tmp_path, text).port == 1_001
    path = tmp_path / "broker.conf"
    assert [TextLine().format(record).partition(" ")[2] for record in caplog.records] == [
        f'WARNING settings: unknown key key=brokername where="{path}, line 1" did_you_mean=brokerName',
        f'WARNING settings: unknown key key=zzz where="{path}, line 2"',
        f'WARNING settings: key given again, the last one counts key=zzz where="{path}, line 3"',
        f'INFO settings: key without effect here key=sendMessageThreadPoolNums where="{path}, line 4"',
        f'WARNING settings: key given again, the last one counts key=listenPort where="{path}, line 6"',
    ]


def test_no_key_is_in_two_places() -> None:
    assert not WITHOUT_EFFECT & set(KEYS)


def test_properties_are_those_of_java() -> None:
    text = (
        "# comment\r\n! comment\n  \n a = 1\nb:2\nc 3\nd\\ e=x\\ty\nf=\\u00e9 \n"
        "g = one,\\\n    two\nh=\ni\nj=a\\\\\nk==l\nm=x\\"
    )
    assert [(entry.key, entry.value, entry.line) for entry in parse_properties(text)] == [
        ("a", "1", 4),
        ("b", "2", 5),
        ("c", "3", 6),
        ("d e", "x\ty", 7),
        ("f", "\u00e9", 8),
        ("g", "one,two", 9),
        ("h", "", 11),
        ("i", "", 12),
        ("j", "a\\", 13),
        ("k", "=l", 14),
        ("m", "x", 15),
    ]


def test_name_servers_of_the_command_line_are_addresses() -> None:
    assert read_name_servers(()) == ()
    assert read_name_servers(("a:1;b:2", "c:3")) == ("a:1", "b:2", "c:3")
    with pytest.raises(Exception, match=r"'a', expected addresses as HOST:PORT, several divided by ;"):
        read_name_servers(("a",))
