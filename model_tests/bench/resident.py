"""`python -m model_tests.bench.resident DIR TOPIC` reads all over a store, prints the peak in MiB."""

import random
import re
import sys
from pathlib import Path

from refimpl.real.disk import RealDisk
from refimpl.store.message_store import open_store
from spec.recovery.state import QueueName
from spec.values.units import QueueId


def read_peak_mib() -> float:
    """The most memory that this program ever had resident.

    `getrusage` would not do: its peak outlives `exec`, so it is at least that of the process that started us.
    """
    status = Path("/proc/self/status").read_text("ascii")
    peak = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    if peak is None:
        raise ValueError("the system does not tell the peak of the resident memory")
    return int(peak[1]) / 1024


def main(directory: str, topic: str) -> None:
    """The peak resident memory of a process that served the store is printed."""
    store = open_store(RealDisk(Path(directory)), now_ms=1_800_000_000_000)
    draw = random.Random(1)
    queue_ids = [queue.name.queue_id for queue in store.queues if queue.name.topic == topic]
    served = 0
    for _ in range(20_000):
        name = QueueName(topic, QueueId(draw.choice(queue_ids)))
        queue = store.queue(topic, name.queue_id)
        served += store.read(name, draw.randrange(queue.max_offset), 32).message_count
    if served == 0:
        raise ValueError("nothing was served")
    store.close(1_800_000_000_000)
    sys.stdout.write(f"{read_peak_mib():.1f}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
