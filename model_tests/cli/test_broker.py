"""`mqspec namesrv` and `mqspec broker`: two processes, configured as Apache's are."""

import socket
import time
from pathlib import Path
from typing import Final

from model_tests.cli.serving import Serving, find_free_port, run_to_end
from model_tests.interop.wire_client import WireClient
from spec.values.message import Message
from spec.wire.code import RequestCode
from spec.wire.header.nameserver import KvKeyHeader, PutKvConfigHeader

NAME_SERVER: Final = ("namesrv", "--port", "0")
HELLO: Final = Message("Hello", b"hello", 0, {})


def test_a_broker_is_found_at_every_name_server_until_it_stops(tmp_path: Path) -> None:
    config = tmp_path / "broker.conf"
    with Serving(NAME_SERVER, tmp_path) as first, Serving(NAME_SERVER, tmp_path) as second:
        ports = first.ports["namesrv"], second.ports["namesrv"]
        assert first.ready == f"ready namesrv=127.0.0.1:{ports[0]}\n"
        config.write_text(
            f"brokerName=b1\nbrokerIP1=127.0.0.1\nnamesrvAddr=127.0.0.1:{ports[0]};127.0.0.1:{ports[1]}\n"
            f"storePathRootDir={tmp_path}/store\nfastPort=1\n",
            "utf-8",
        )
        with Serving(["broker", "-c", config, "--port", "0"], tmp_path) as broker:
            assert broker.ready == f"ready broker=127.0.0.1:{broker.ports['broker']}\n"
            for port in ports:
                with WireClient(port) as client:
                    route = client.route("b1")
                    assert route is not None
                    assert [(data.name, data.addresses) for data in route.broker_datas] == [
                        ("b1", {0: f"127.0.0.1:{broker.ports['broker']}"})
                    ]
            assert broker.stop() == 0
            for port in ports:
                with WireClient(port) as client:
                    assert client.route("b1") is None
        assert (first.stop(), second.stop()) == (0, 0)
    (line,) = broker.errors.splitlines()
    assert line.endswith(f'WARNING settings: unknown key key=fastPort where="{config}, line 5"')
    assert (first.errors, second.errors) == ("", "")
    assert (tmp_path / "store" / "config" / "topics.json").is_file()


def test_a_broker_without_a_name_server_serves_at_once(tmp_path: Path) -> None:
    with Serving(["broker", "--port", "0", "--host", "127.0.0.1"], tmp_path) as broker:
        with broker.connect() as client:
            assert client.send(HELLO, 0).queue_offset == 0
        assert broker.stop() == 0
    assert broker.errors == ""
    assert (tmp_path / "store" / "commitlog").is_dir(), "Apache's place: ~/store"


def test_a_broker_registers_when_its_name_server_comes_back(tmp_path: Path) -> None:
    port = find_free_port()
    with Serving(["namesrv", "--port", port], tmp_path) as names:
        options = ["--port", "0", "--host", "127.0.0.1", "-n", f"127.0.0.1:{port}"]
        with Serving(["broker", *options], tmp_path) as broker:
            names.kill()
            with Serving(["namesrv", "--port", port], tmp_path) as again:
                until = time.monotonic() + 5
                with WireClient(port) as client:
                    while client.route("TBW102") is None:
                        assert time.monotonic() < until
                        time.sleep(0.05)
                assert broker.stop() == 0
                assert again.stop() == 0
    assert "cannot be reached, trying on" in broker.errors


def test_a_name_server_keeps_its_table(tmp_path: Path) -> None:
    command = [*NAME_SERVER, "--store", tmp_path / "names"]
    with Serving(command, tmp_path) as names:
        with WireClient(names.ports["namesrv"]) as client:
            client.call(RequestCode.PUT_KV_CONFIG, PutKvConfigHeader("N", "k", "v"))
        error = f"mqspec: cannot use {tmp_path}/names: namesrv/lock: another process holds the lock\n"
        assert run_to_end(command, tmp_path) == (2, "", error)
        names.kill()
    with Serving(command, tmp_path) as names, WireClient(names.ports["namesrv"]) as client:
        answer = client.call(RequestCode.GET_KV_CONFIG, KvKeyHeader("N", "k"))
        assert answer.extension_fields == {"value": "v"}


def test_a_broker_that_listens_everywhere_tells_an_address_that_can_be_reached(tmp_path: Path) -> None:
    with Serving(["broker", "--port", "0", "--advertise", "127.0.0.1"], tmp_path) as broker:
        port = broker.ports["broker"]
        assert broker.ready == f"ready broker=127.0.0.1:{port}\n"
        with socket.create_connection(("127.0.0.1", port), 5):
            assert broker.stop() == 0


def test_a_name_server_that_is_no_address_is_wrong_usage(tmp_path: Path) -> None:
    error = "mqspec broker: Invalid value: 'here', expected addresses as HOST:PORT, several divided by ;."
    assert run_to_end(["broker", "-n", "here"], tmp_path) == (
        64,
        "",
        f"{error} See `mqspec broker --help`.\n",
    )
    assert list(tmp_path.iterdir()) == []
