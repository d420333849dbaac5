"""`mqspec serve`: ready without configuration, one line, a clean stop, and clear words when it cannot."""

import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from model_tests.cli.serving import (
    END_SECONDS,
    Serving,
    find_free_port,
    limit_descriptors,
    run_to_end,
)
from model_tests.dialogue import RefusedError
from model_tests.interop.wire_client import WireClient
from model_tests.refimpl.real.little_server import LittleClient
from refimpl.cli.entry import run
from refimpl.real.history_file import list_pieces, read_lines
from spec.guarantees.judge import judge_history
from spec.guarantees.verdict import Verdict
from spec.history.json_lines import decode_events
from spec.history.kind import Kind
from spec.history.well_formed import checked
from spec.layout.batch import BatchEntry
from spec.values.message import Message
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.frame import Frame, encode_frame

ANY_PORTS: Final = ("serve", "--namesrv-port", "0", "--broker-port", "0")
CERTIFICATES: Final = Path(__file__).parents[1] / "refimpl" / "real" / "certificate"
HELLO: Final = Message("Hello", b"hello", 0, {})


def test_it_serves_without_configuration_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with Serving(ANY_PORTS, tmp_path) as serving:
        names, broker = serving.ports["namesrv"], serving.ports["broker"]
        assert serving.ready == f"ready namesrv=127.0.0.1:{names} broker=127.0.0.1:{broker}\n"
        with serving.connect() as client, WireClient(names) as name_client:
            sent = client.send(HELLO, 0)
            assert (sent.queue_id, sent.queue_offset) == (0, 0)
            assert [message.body for message in client.pull_all("Hello", 0)] == [b"hello"]
            route = name_client.route("TBW102")
            assert route is not None
            assert [data.addresses for data in route.broker_datas] == [{0: f"127.0.0.1:{broker}"}]
        assert [path.name.startswith("mqspec-") for path in tmp_path.iterdir()] == [True]
        assert serving.stop() == 0
    assert (serving.output, serving.errors) == ("", "")
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_is_a_clean_stop_too(tmp_path: Path) -> None:
    with Serving([*ANY_PORTS, "--store", tmp_path / "s"], tmp_path) as serving:
        assert serving.stop(signal.SIGINT) == 0
    assert serving.errors == ""
    assert not (tmp_path / "s" / "abort").exists()


def test_a_store_and_its_history_go_on_after_a_stop_and_after_a_kill(tmp_path: Path) -> None:
    history = tmp_path / "history.jsonl"
    command = [*ANY_PORTS, "--store", tmp_path / "store", "--history", history]
    for round_number in range(3):
        with Serving(command, tmp_path) as serving, serving.connect() as client:
            for number in range(5):
                sent = client.send(replace(HELLO, body=b"%d" % number), 0)
                assert sent.queue_offset == round_number * 5 + number
            client.commit("group", "Hello", 0, round_number * 5 + 5)
            if round_number == 1:
                serving.kill()
            else:
                assert serving.stop() == 0, serving.errors
    events = list(checked(decode_events(read_lines(history))))
    kinds = [event.kind for event in events]
    assert [kinds.count(kind) for kind in (Kind.BEGIN, Kind.END_OF_RUN, Kind.UP)] == [1, 1, 6]
    assert [event.offset for event in events if event.kind is Kind.APPEND and event.topic == "Hello"] == [
        *range(15)
    ]
    verdicts = {judgement.verdict for judgement in judge_history(events)}
    assert Verdict.VIOLATED not in verdicts
    assert Verdict.HELD in verdicts


def test_a_history_under_other_settings_is_not_gone_on_with(tmp_path: Path) -> None:
    history, config = tmp_path / "history.jsonl", tmp_path / "broker.conf"
    command = [*ANY_PORTS, "--history", history]
    with Serving(command, tmp_path) as serving:
        assert serving.stop() == 0
    config.write_text("flushDiskType=SYNC_FLUSH\n", "utf-8")
    code, output, errors = run_to_end([*command, "-c", config], tmp_path)
    expected = f"mqspec: {history}: its run was recorded under other settings; move it away\n"
    assert (code, output, errors) == (2, "", expected)


def test_a_history_is_cut_into_pieces_by_size(tmp_path: Path) -> None:
    history = tmp_path / "history.jsonl"
    with Serving([*ANY_PORTS, "--history", history, "--history-size", "1"], tmp_path) as serving:
        with serving.connect() as client:
            client.send(HELLO, 0)
            for _ in range(100):
                client.send_batch("Hello", 0, [BatchEntry(0, b"x", "")] * 32, {})
        assert serving.stop() == 0
    assert [piece.name for piece in list_pieces(history)] == ["history.jsonl.1", "history.jsonl"]
    assert sum(1 for _ in checked(decode_events(read_lines(history)))) > 6_400


def test_a_port_in_use_is_told_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        expected = (2, "", f"mqspec: cannot listen on 127.0.0.1:{port}: the port is in use\n")
        for option in ("--namesrv-port", "--broker-port", "--metrics-port"):
            assert run_to_end([*ANY_PORTS, option, str(port)], tmp_path) == expected
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_somebody_else_has_open_is_told_in_one_line(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with Serving([*ANY_PORTS, "--store", store], tmp_path):
        code, output, errors = run_to_end([*ANY_PORTS, "--store", store], tmp_path)
    assert (code, output) == (2, "")
    assert errors == f"mqspec: cannot use {store}: namesrv/lock: another process holds the lock\n"


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (
            ["--store", "/dev/null/store"],
            "mqspec: cannot use /dev/null/store: the disk failed (Not a directory)\n",
        ),
        (["--host", "nobody.invalid"], None),
        (["--history", "/dev/null/history"], "mqspec: /dev/null: File exists\n"),
        (
            ["--tls", "permissive"],
            "mqspec: TLS mode permissive needs a certificate and a key\n",
        ),
        (
            ["--tls-cert", str(CERTIFICATES / "server.pem"), "--tls-key", str(CERTIFICATES / "client.key")],
            (
                f"mqspec: certificate {CERTIFICATES / 'server.pem'} with key {CERTIFICATES / 'client.key'}"
                " cannot be used: KEY_VALUES_MISMATCH\n"
            ),
        ),
    ],
    ids=["store", "host", "history", "no certificate", "certificate"],
)
def test_what_cannot_be_is_told_in_one_line(options: list[str], error: str | None, tmp_path: Path) -> None:
    code, output, errors = run_to_end([*ANY_PORTS, *options], tmp_path)
    assert (code, output) == (2, "")
    if error is None:
        assert errors.startswith("mqspec: nobody.invalid is no address of this machine: ")
        assert errors.count("\n") == 1
    else:
        assert errors == error


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (
            ["--broker-port", "70000"],
            (
                "mqspec serve: Invalid value for '--broker-port': 70000 is not in the range 0<=x<=65535."
                " See `mqspec serve --help`.\n"
            ),
        ),
        (
            ["-c", "/no/file"],
            (
                "mqspec serve: Invalid value for '-c' / '--config': File '/no/file' does not exist."
                " See `mqspec serve --help`.\n"
            ),
        ),
        (
            ["--advertise", "host"],
            (
                "mqspec serve: Invalid value for '--advertise': 'host', expected an IP address."
                " See `mqspec serve --help`.\n"
            ),
        ),
    ],
    ids=["port", "file", "advertise"],
)
def test_wrong_usage_is_told_in_one_line(options: list[str], error: str, tmp_path: Path) -> None:
    assert run_to_end([*ANY_PORTS, *options], tmp_path) == (64, "", error)


def test_a_value_of_the_file_that_cannot_be_used_is_wrong_usage(tmp_path: Path) -> None:
    config = tmp_path / "broker.conf"
    config.write_text("brokerRole=SLAVE\n", "utf-8")
    error = (
        f"mqspec: {config}, line 1: brokerRole is 'SLAVE',"
        " expected ASYNC_MASTER: replication is not there yet\n"
    )
    assert run_to_end([*ANY_PORTS, "-c", config], tmp_path) == (64, "", error)


def test_a_second_signal_does_not_wait(tmp_path: Path) -> None:
    program = (
        "import asyncio, time\n"
        "from refimpl.real.stop import Stop\n"
        "async def run():\n"
        "    stop = Stop()\n"
        "    print('here', flush=True)\n"
        "    await stop.wait()\n"
        "    print('asked', flush=True)\n"
        "    time.sleep(60)\n"
        "asyncio.run(run())\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "asked\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(END_SECONDS) == 128 + signal.SIGINT
    assert list(tmp_path.iterdir()) == []


def test_metrics_are_read_over_http(tmp_path: Path) -> None:
    port = find_free_port()
    with Serving([*ANY_PORTS, "--metrics-port", str(port)], tmp_path) as serving:
        with serving.connect() as client:
            client.send(HELLO, 0)
            client.pull("Hello", 0, 0)
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as response:
                text = response.read().decode()
        assert serving.stop() == 0
    lines = set(text.splitlines())
    assert {
        'mqspec_requests_total{role="broker",request="send_message_v2"} 1',
        'mqspec_requests_total{role="namesrv",request="register_broker"} 2',
        'mqspec_messages_put_total{broker="broker-a"} 1',
        'mqspec_is_writable{broker="broker-a"} 1',
        'mqspec_pulls_held{broker="broker-a"} 0',
        'mqspec_connections{role="namesrv"} 1',
        "# TYPE mqspec_frames_total counter",
        "mqspec_held_bytes 0",
    } <= lines


def test_tls_can_be_demanded_of_everybody(tmp_path: Path) -> None:
    files = ["--tls-cert", CERTIFICATES / "server.pem", "--tls-key", CERTIFICATES / "server.key"]
    context = ssl.create_default_context(cafile=CERTIFICATES / "authority.pem")
    context.check_hostname = False
    with Serving([*ANY_PORTS, *files, "--tls", "enforcing"], tmp_path) as serving:
        with LittleClient(serving.ports["broker"]) as client:
            client.start_tls(context)
            client.send(encode_frame(Frame(RequestCode.GET_BROKER_RUNTIME_INFO)))
            assert [answer.code for answer in client.read()] == [ResponseCode.SUCCESS]
        with LittleClient(serving.ports["broker"]) as client:
            client.send(encode_frame(Frame(RequestCode.GET_BROKER_RUNTIME_INFO)))
            assert client.read_end() == b""
        assert serving.stop() == 0
    (line,) = serving.errors.splitlines()
    assert 'reason="first byte 0x00: this port expects TLS, its mode is enforcing"' in line


def test_tls_is_spoken_beside_plain_frames_once_there_is_a_certificate(tmp_path: Path) -> None:
    files = ["--tls-cert", CERTIFICATES / "server.pem", "--tls-key", CERTIFICATES / "server.key"]
    context = ssl.create_default_context(cafile=CERTIFICATES / "authority.pem")
    context.check_hostname = False
    with Serving([*ANY_PORTS, *files], tmp_path) as serving, LittleClient(serving.ports["broker"]) as secret:
        secret.start_tls(context)
        secret.send(encode_frame(Frame(RequestCode.GET_BROKER_RUNTIME_INFO)))
        assert [answer.code for answer in secret.read()] == [ResponseCode.SUCCESS]
        with serving.connect() as plain:
            assert plain.runtime_info()


def test_the_second_port_serves_all_but_pulls(tmp_path: Path) -> None:
    port = find_free_port()
    with Serving(["serve", "--namesrv-port", "0", "--broker-port", str(port)], tmp_path) as serving:
        assert serving.ports["broker"] == port
        with WireClient(port - 2) as fast:
            assert fast.send(HELLO, 0).queue_offset == 0
            with pytest.raises(RefusedError, match=r"request type 11 not supported"):
                fast.pull("Hello", 0, 0)


def test_a_second_port_that_is_taken_is_done_without_unless_it_is_asked_for(tmp_path: Path) -> None:
    port = find_free_port()
    command = ["serve", "--namesrv-port", "0", "--broker-port", str(port)]
    with socket.create_server(("127.0.0.1", port - 2)):
        with Serving(command, tmp_path) as serving:
            assert serving.stop() == 0
        assert serving.errors == ""
        error = f"mqspec: cannot listen on 127.0.0.1:{port - 2}: the port is in use\n"
        assert run_to_end([*command, "--fast-port", "on"], tmp_path) == (2, "", error)


def test_a_process_with_few_descriptors_serves_on_through_a_flood(tmp_path: Path) -> None:
    with Serving(ANY_PORTS, tmp_path, limit_descriptors(450)) as serving:
        with serving.connect() as good:
            good.send(HELLO, 0)
            flood = [LittleClient(serving.ports["broker"]) for _ in range(300)]
            assert good.send(HELLO, 0).queue_offset == 1
            with serving.connect() as late:
                assert late.send(HELLO, 0).queue_offset == 2
            for client in flood:
                client.socket.close()
        assert serving.stop() == 0
    lines = serving.errors.splitlines()
    assert "all places are taken, and it never sent a whole frame" in lines[0]
    assert len(lines) == 11, "ten lines, and how many more there were"


def test_a_log_can_be_json(tmp_path: Path) -> None:
    options = ["--log-format", "json", "--log-level", "info"]
    with Serving([*ANY_PORTS, *options], tmp_path) as serving:
        assert serving.stop() == 0
    rows = [json.loads(line) for line in serving.errors.splitlines()]
    events = [row["event"] for row in rows]
    assert events.count("serving") == 2
    assert events.index("ready") < events.index("stopping")
    assert {"time", "level", "part", "event"} <= rows[0].keys()


def test_help_names_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["serve", "--help"]) == 0
    text = capsys.readouterr().out
    for option in ("--host", "--namesrv-port", "--broker-port", "--store", "--history", "--tls", "--config"):
        assert option in text


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_store_that_may_not_be_written_is_told_in_one_line(tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir(mode=0o500)
    code, output, errors = run_to_end([*ANY_PORTS, "--store", store], tmp_path)
    assert (code, output) == (2, "")
    assert errors.startswith(f"mqspec: cannot use {store}: ")
