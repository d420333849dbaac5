"""Every state that a crash may leave a small disk in."""

from itertools import combinations

from refimpl.simulated.disk import SimulatedDisk


def new_disk(*, keeps_name_order: bool = False, capacity: int | None = None) -> SimulatedDisk:
    """A disk with sectors of four bytes."""
    return SimulatedDisk(
        7, sector_size=4, clock=lambda: 0, keeps_name_order=keeps_name_order, capacity=capacity
    )


def read_all(disk: SimulatedDisk, folder: str = "") -> dict[str, bytes]:
    """Every file with its content; a folder is a path that ends in `/`."""
    found: dict[str, bytes] = {}
    for entry in disk.list_folder(folder):
        path = f"{folder}/{entry.name}" if folder else entry.name
        if entry.is_folder:
            found |= {f"{path}/": b"", **read_all(disk, path)}
        else:
            found[path] = disk.open(path).read(0, entry.size)
    return found


def list_outcomes(disk: SimulatedDisk) -> list[dict[str, bytes]]:
    """What is left after a crash, for every choice of what is kept, each state once."""
    count = len(disk.pending())
    choices = [kept for size in range(count + 1) for kept in combinations(range(count), size)]
    states = {tuple(sorted(read_all(disk.image(kept)).items())) for kept in choices}
    return [dict(state) for state in sorted(states)]
