"""Apache's name server and broker as children: a home, a configuration, three ports, one store.

Files are small, so that a few messages fill several of them. Nothing is deleted by age. Apache 4.9
listens on every address of the machine and has no setting for it; it is spoken to on loopback only.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from model_tests.dialogue import RefusedError
from model_tests.interop.artifact import Jars
from model_tests.interop.child import Child, find_broker_port
from model_tests.interop.wire_client import WireClient
from spec.broker.schedule import DELAY_LEVELS
from spec.layout.consume_queue import UNIT_SIZE
from spec.layout.index_file import derive_file_size
from spec.recovery.state import StoreShape
from spec.values.name import AUTO_CREATE_TOPIC
from spec.wire.code import RequestCode

CLUSTER: Final = "InteropCluster"
BROKER_NAME: Final = "interop-broker"
NAME_SERVER_MAIN: Final = "org.apache.rocketmq.namesrv.NamesrvStartup"
BROKER_MAIN: Final = "org.apache.rocketmq.broker.BrokerStartup"

_JAVA_OPTIONS: Final = (
    *("--add-opens", "java.base/java.nio=ALL-UNNAMED"),
    *("--add-opens", "java.base/sun.nio.ch=ALL-UNNAMED"),
    *("--add-opens", "java.base/jdk.internal.ref=ALL-UNNAMED"),
    *("--add-exports", "java.base/sun.nio.ch=ALL-UNNAMED"),
    "-Djava.net.preferIPv4Stack=true",
    "-Drocketmq.broker.diskSpaceWarningLevelRatio=0.99",
    "-Drocketmq.broker.diskSpaceCleanForciblyRatio=0.98",
)
_LOGBACK: Final = """<configuration>
  <appender name="out" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%d{HH:mm:ss.SSS} %p %logger{0} - %m%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="out"/></root>
</configuration>
"""


class FileSizes(NamedTuple):
    """How large the files of a store are."""

    log_file_size: int
    units_per_file: int
    index_slots: int
    index_entries: int

    def shape(self) -> StoreShape:
        """The sizes as recovery names them."""
        index_file_size = derive_file_size(self.index_slots, self.index_entries)
        return StoreShape(self.log_file_size, self.units_per_file, index_file_size, DELAY_LEVELS)


SMALL_FILES: Final = FileSizes(1024 * 1024, 30, 100, 400)
NOTHING_CHOSEN: Final[Mapping[str, str]] = MappingProxyType({})


def derive_broker_config(port: int, store: Path, sizes: FileSizes, chosen: Mapping[str, str]) -> str:
    """The text of broker.conf; what a case has chosen is added."""
    settings = {
        "brokerClusterName": CLUSTER,
        "brokerName": BROKER_NAME,
        "brokerId": 0,
        "brokerIP1": "127.0.0.1",
        "listenPort": port,
        "storePathRootDir": store,
        "storePathCommitLog": store / "commitlog",
        "mappedFileSizeCommitLog": sizes.log_file_size,
        "mappedFileSizeConsumeQueue": sizes.units_per_file * UNIT_SIZE,
        "maxHashSlotNum": sizes.index_slots,
        "maxIndexNum": sizes.index_entries,
        "deleteWhen": "04",
        "fileReservedTime": 24 * 365 * 10,
        "diskMaxUsedSpaceRatio": 95,
        "waitTimeMillsInSendQueue": 10_000,
        "osPageCacheBusyTimeOutMills": 10_000,
        **chosen,
    }
    return "".join(f"{name}={value}\n" for name, value in settings.items())


class ApacheBroker(NamedTuple):
    """A broker that answers, and the name server that knows it."""

    child: Child
    port: int
    name_server_port: int

    def connect(self) -> WireClient:
        """A new connection to the broker."""
        return WireClient(self.port)


def _start(jars: Jars, main: str, home: Path, heap: str, arguments: tuple[str, ...]) -> Child:
    conf = home / "conf"
    conf.mkdir(parents=True, exist_ok=True)
    for name in ("namesrv", "broker", "tools"):
        (conf / f"logback_{name}.xml").write_text(_LOGBACK, "utf-8")
    memory = (f"-Xmx{heap}", f"-XX:MaxDirectMemorySize={heap}")
    properties = (f"-Duser.home={home}", f"-Drocketmq.home.dir={home}")
    command = [str(jars.java), *memory, *_JAVA_OPTIONS, *properties, "-cp", f"{jars.folder}/*", main]
    log = home / f"{main.rpartition('.')[2]}.log"
    return Child([*command, *arguments], log, {"ROCKETMQ_HOME": str(home)})


def _is_name_server_ready(port: int) -> bool:
    with WireClient(port) as client:
        client.call(RequestCode.GET_BROKER_CLUSTER_INFO)
    return True


def _find_version(port: int, name_server_port: int) -> str | None:
    """What the broker calls itself, once it answers and the name server leads to it."""
    with WireClient(name_server_port) as client:
        if client.route(AUTO_CREATE_TOPIC) is None:
            return None
    try:
        with WireClient(port) as client:
            return client.runtime_info()["brokerVersionDesc"]
    except RefusedError:
        # Asked before its first sample of statistics is taken, Apache answers with NoSuchElementException.
        return None


@contextmanager
def run_apache(
    jars: Jars,
    store: Path,
    home: Path,
    sizes: FileSizes = SMALL_FILES,
    chosen: Mapping[str, str] = NOTHING_CHOSEN,
) -> Iterator[ApacheBroker]:
    """A broker runs on the store; it is killed at the end unless the case has ended it."""
    port = find_broker_port()
    name_server_port = port + 2
    home.mkdir(parents=True, exist_ok=True)
    (home / "namesrv.conf").write_text(f"listenPort={name_server_port}\n", "utf-8")
    (home / "broker.conf").write_text(derive_broker_config(port, store, sizes, chosen), "utf-8")
    name_server = _start(jars, NAME_SERVER_MAIN, home, "256m", ("-c", str(home / "namesrv.conf")))
    try:
        name_server.wait_ready(lambda: _is_name_server_ready(name_server_port))
        arguments = ("-c", str(home / "broker.conf"), "-n", f"127.0.0.1:{name_server_port}")
        broker = _start(jars, BROKER_MAIN, home, "512m", arguments)
        try:
            version = broker.wait_ready(lambda: _find_version(port, name_server_port))
            assert version == f"V{jars.version.replace('.', '_')}", f"the broker says that it is {version}"
            yield ApacheBroker(broker, port, name_server_port)
        finally:
            broker.kill()
    finally:
        name_server.kill()
