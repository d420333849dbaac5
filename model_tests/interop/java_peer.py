"""The official Java client as a child: it runs one scenario, is told orders, and reports what happened."""

import os
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, TypeVar

from model_tests.interop.artifact import Jars
from model_tests.interop.child import LOG_TAIL_LINES, STOP_LIMIT_SECONDS, PeerError
from model_tests.interop.java_artifact import PROGRAM, derive_class_path
from model_tests.interop.java_event import Happened, JavaEvent, Received, Sent, iter_events

MAIN: Final = "mqspec.interop.Peer"
WAIT_LIMIT_SECONDS: Final = 45.0
LOOK_AGAIN_SECONDS: Final = 0.05
JAVA_OPTIONS: Final = (
    *("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"),
    "-Djava.net.preferIPv4Stack=true",
    f"-Drocketmq.home.dir={PROGRAM}",
    f"-Dlogback.configurationFile={PROGRAM / 'conf' / 'logback_tools.xml'}",
)
_REBALANCE_OPTIONS: Final = (
    "-Drocketmq.client.rebalance.waitInterval=1000",
    "-Drocketmq.client.rebalance.lockInterval=1000",
    "-Drocketmq.client.unlockDelayTimeMills=1000",
)
"""A second instead of twenty: what a member misses, it notices soon."""

_Event = TypeVar("_Event", bound=JavaEvent)


class JavaPeer:
    """A running scenario."""

    def __init__(self, jars: Jars, folder: Path, scenario: str, options: Mapping[str, str | int]) -> None:
        folder.mkdir(parents=True)
        self._printed = folder / "events.jsonl"
        self._log = folder / "log"
        arguments = [part for name, value in options.items() for part in (f"--{name}", str(value))]
        properties = [*JAVA_OPTIONS, *_REBALANCE_OPTIONS, f"-Duser.home={folder}"]
        command = [str(jars.java), *properties, "-cp", derive_class_path(jars), MAIN, scenario, *arguments]
        with self._printed.open("wb") as output, self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=output, stderr=log, env=os.environ
            )

    def events(self, kind: type[_Event]) -> list[_Event]:
        """What has happened so far, of one kind."""
        return [event for event in iter_events(self._printed.read_bytes()) if isinstance(event, kind)]

    @property
    def sent(self) -> list[Sent]:
        """The messages that were sent so far."""
        return self.events(Sent)

    @property
    def received(self) -> list[Received]:
        """The messages that were received so far."""
        return self.events(Received)

    def wait_until(self, is_so: Callable[[], object], limit_seconds: float = WAIT_LIMIT_SECONDS) -> None:
        """It is so; a peer that ended or is late did not do what it was started for."""
        until = time.monotonic() + limit_seconds
        while not is_so():
            if self._process.poll() is not None and not is_so():
                raise PeerError(f"it ended with {self._process.returncode}\n{self.tail()}")
            if time.monotonic() > until:
                raise PeerError(f"not within {limit_seconds} s\n{self.tail()}")
            time.sleep(LOOK_AGAIN_SECONDS)

    def wait_happened(self, kind: str, count: int = 1) -> None:
        """An event of the kind was reported so often."""
        self.wait_until(lambda: sum(event.event == kind for event in self.events(Happened)) >= count)

    def wait_events(
        self, kind: type[_Event], count: int, limit_seconds: float = WAIT_LIMIT_SECONDS
    ) -> list[_Event]:
        """So many events of the kind have happened; all that there are."""
        self.wait_until(lambda: len(self.events(kind)) >= count, limit_seconds)
        return self.events(kind)

    def tell(self, order: str) -> None:
        """The scenario will read the order."""
        assert self._process.stdin is not None
        self._process.stdin.write(order.encode() + b"\n")
        self._process.stdin.flush()

    def finish(self) -> None:
        """The scenario ended on its own, and did what it was told."""
        try:
            status = self._process.wait(WAIT_LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            raise PeerError(f"it did not end within {WAIT_LIMIT_SECONDS} s\n{self.tail()}") from None
        assert (status, self.events(Happened)[-1].event) == (0, "ended"), self.tail()

    def stop(self) -> None:
        """The scenario was told to stop, and had done what it was told."""
        self.tell("stop")
        self.finish()

    def kill(self) -> None:
        """The process is gone, without having been asked."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait(STOP_LIMIT_SECONDS)
        if self._process.stdin is not None:
            self._process.stdin.close()

    def tail(self) -> str:
        """The last lines of its events and of its log."""
        texts = (path.read_text("utf-8", "replace").splitlines() for path in (self._printed, self._log))
        return "\n".join(line for lines in texts for line in lines[-LOG_TAIL_LINES:])


class JavaClient:
    """The Java client of one version against one name server: starts scenarios, and ends them all."""

    def __init__(self, jars: Jars, name_server: str, folder: Path) -> None:
        self.version = jars.version
        self.jars = jars
        self._name_server = name_server
        self._folder = folder
        self._peers: list[JavaPeer] = []

    def name(self, word: str) -> str:
        """A topic or group that belongs to this version alone."""
        return f"{word}_{self.version.replace('.', '_')}"

    def start(self, scenario: str, **options: str | int) -> JavaPeer:
        """The scenario was started; an option is named with underscores here, and with dashes there."""
        given = {name.replace("_", "-"): value for name, value in options.items()}
        place = self._folder / f"{len(self._peers)}-{scenario}"
        peer = JavaPeer(self.jars, place, scenario, {"name-server": self._name_server, **given})
        self._peers.append(peer)
        return peer

    def run(self, scenario: str, **options: str | int) -> JavaPeer:
        """The scenario ran to its end, and did what it was told."""
        peer = self.start(scenario, **options)
        peer.finish()
        return peer

    def end_all(self) -> None:
        """No process that was started here is left."""
        for peer in self._peers:
            peer.kill()
