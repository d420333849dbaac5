"""The driver of a client as a child: it runs one scenario, and reports what happened."""

import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from model_tests.interop.child import Child, PeerError
from model_tests.interop.native_event import DriverEvent, Happened, Received, Sent, iter_events
from model_tests.interop.native_program import ClientProgram

WAIT_LIMIT_SECONDS: Final = 45.0
LOOK_AGAIN_SECONDS: Final = 0.1

_Event = TypeVar("_Event", bound=DriverEvent)


class Wanted(NamedTuple):
    """A message that a driver shall send."""

    body: str
    tags: str = ""
    keys: tuple[str, ...] = ()
    delay_level: int = 0
    shard: str = ""
    """By this the client selects the queue, where it is told to."""


def derive_plan(messages: Iterable[Wanted]) -> str:
    """The messages as a driver reads them."""
    return json.dumps(
        [
            {"body": body, "tags": tags, "keys": keys, "delayLevel": delay_level, "shard": shard}
            for body, tags, keys, delay_level, shard in messages
        ]
    )


class Driver:
    """A running scenario."""

    def __init__(self, command: list[str], program: ClientProgram, folder: Path) -> None:
        # A home of its own: there the clients write logs, and broadcasting members their offsets.
        environment = {**program.environment, "HOME": str(folder)}
        self._child = Child(command, folder / "driver.log", environment)

    def events(self, kind: type[_Event]) -> list[_Event]:
        """What has happened so far, of one kind."""
        return [event for event in iter_events(self._child.log.read_bytes()) if isinstance(event, kind)]

    @property
    def sent(self) -> list[Sent]:
        """The messages that were sent so far."""
        return self.events(Sent)

    @property
    def received(self) -> list[Received]:
        """The messages that were received so far."""
        return self.events(Received)

    def wait_until(self, is_so: Callable[[], object], limit_seconds: float = WAIT_LIMIT_SECONDS) -> None:
        """It is so; a driver that ended or is late did not do what it was started for."""
        until = time.monotonic() + limit_seconds
        while not is_so():
            if not self._child.is_running and not is_so():
                raise PeerError(f"it ended with {self._child.stop()}\n{self._child.tail()}")
            if time.monotonic() > until:
                raise PeerError(f"not within {limit_seconds} s\n{self._child.tail()}")
            time.sleep(LOOK_AGAIN_SECONDS)

    def wait_ready(self) -> None:
        """The client says that it is started."""
        self.wait_until(lambda: self.events(Happened))

    def wait_received(self, count: int, limit_seconds: float = WAIT_LIMIT_SECONDS) -> list[Received]:
        """So many messages were received; all that were."""
        self.wait_until(lambda: len(self.received) >= count, limit_seconds)
        return self.received

    def wait_ended(self) -> int:
        """The scenario ended on its own; what it returned."""
        until = time.monotonic() + WAIT_LIMIT_SECONDS
        while self._child.is_running:
            if time.monotonic() > until:
                raise PeerError(f"it did not end within {WAIT_LIMIT_SECONDS} s\n{self._child.tail()}")
            time.sleep(LOOK_AGAIN_SECONDS)
        return self._child.stop()

    def finish(self) -> None:
        """The scenario ended on its own, and did what it was told."""
        self._check_ended(self.wait_ended())

    def stop(self) -> None:
        """The scenario was asked to end, and had done what it was told."""
        assert self._child.is_running, self._child.tail()
        self._check_ended(self._child.stop())

    def _check_ended(self, status: int) -> None:
        assert (status, self.events(Happened)[-1].event) == (0, "ended"), self._child.tail()

    def kill(self) -> None:
        """The process is gone, without having been asked."""
        self._child.kill()


class Client:
    """One client against one name server: starts scenarios, and ends them all."""

    def __init__(self, program: ClientProgram, name_server: str, folder: Path) -> None:
        self.program = program
        self._name_server = name_server
        self._folder = folder
        self._drivers: list[Driver] = []

    def name(self, word: str) -> str:
        """A topic or group that belongs to this client alone."""
        return f"{word}_{self.program.name}"

    def start(self, scenario: str, **options: str | int) -> Driver:
        """The scenario was started; an option is named with underscores here, and with dashes there."""
        given = {"name-server": self._name_server, **options}
        words = [
            word for name, value in given.items() for word in (f"--{name.replace('_', '-')}", str(value))
        ]
        place = self._folder / f"{self.program.name}-{len(self._drivers)}-{scenario}"
        driver = Driver([*self.program.derive_command(scenario), *words], self.program, place)
        self._drivers.append(driver)
        return driver

    def run(self, scenario: str, **options: str | int) -> Driver:
        """The scenario ran to its end, and did what it was told."""
        driver = self.start(scenario, **options)
        driver.finish()
        return driver

    def join(self, group: str, topic: str, **options: str | int) -> Driver:
        """A member of the group runs, and its client says that it is started."""
        return self._start_lasting("consume", group=group, topic=topic, **options)

    def stream(self, topic: str, word: str, pause_ms: int) -> Driver:
        """A producer sends numbered messages, with pauses between them, until it is stopped."""
        group = f"{topic}-producer"
        return self._start_lasting("stream", group=group, topic=topic, word=word, pause_ms=pause_ms)

    def _start_lasting(self, scenario: str, **options: str | int) -> Driver:
        driver = self.start(scenario, **options)
        driver.wait_ready()
        return driver

    def produce(self, topic: str, messages: Iterable[Wanted], **options: str | int) -> list[Sent]:
        """The messages were sent; the client's answers."""
        plan = derive_plan(messages)
        return self.run("produce", group=f"{topic}-producer", topic=topic, messages=plan, **options).sent

    def end_all(self) -> None:
        """No process that was started here is left."""
        for driver in self._drivers:
            driver.kill()
