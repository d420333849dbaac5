import pytest

from model_tests.spec.layout.sample import HOST, stored
from model_tests.spec.recovery.sample import sample_log
from spec.layout.record import encode_record
from spec.layout.stored_message import Magic, make_record
from spec.recovery.log_start import FileHead, derive_clean_start, derive_crash_start, read_file_head
from spec.recovery.store_file import arrange_files, check_file, found_bytes
from spec.values.host import host_of
from spec.values.message import Message
from spec.values.units import Milliseconds, QueueId


def _heads(*times: int) -> list[FileHead]:
    return [FileHead(Magic.MESSAGE if time else 0, Milliseconds(time)) for time in times]


@pytest.mark.clause("recovery.start.clean-stop")
def test_clean_stop_rereads_the_last_three_files() -> None:
    assert [derive_clean_start(count) for count in (0, 1, 3, 4, 10)] == [0, 0, 0, 1, 7]


@pytest.mark.clause("recovery.start.crash")
@pytest.mark.parametrize(
    ("heads", "safe", "start"),
    [
        (_heads(100, 200, 300), 250, 1),
        (_heads(100, 200, 300), 300, 2),
        (_heads(100, 200, 300), 99, 0),
        (_heads(100, 200, 0), 1_000, 1),
        (_heads(), 1_000, 0),
    ],
)
def test_crash_rereads_from_the_newest_file_that_begins_before_the_safe_time(
    heads: list[FileHead], safe: int, start: int
) -> None:
    assert derive_crash_start(heads, safe) == start


@pytest.mark.clause("recovery.start.crash")
def test_file_that_begins_with_anything_but_a_message_is_no_start() -> None:
    heads = [*_heads(100), FileHead(Magic.BLANK, Milliseconds(100)), FileHead(Magic.MESSAGE, Milliseconds(0))]
    assert derive_crash_start(heads, 1_000) == 0


def test_head_is_read_with_both_kinds_of_hosts() -> None:
    first = arrange_files(sample_log().files(), 1_000)[0]
    assert read_file_head(first) == FileHead(Magic.MESSAGE, Milliseconds(1_000_000))
    record = make_record(
        Message("T", b""),
        queue_id=QueueId(0),
        born_host=host_of("::1", 1),
        store_host=HOST,
        stored_at_ms=Milliseconds(77),
    )
    data = encode_record(record).ljust(200, b"\xff")
    assert read_file_head(check_file(found_bytes("0" * 20, data), 200)) == FileHead(
        Magic.MESSAGE, Milliseconds(77)
    )
    tiny = encode_record(stored())[:20]
    assert read_file_head(check_file(found_bytes("0" * 20, tiny), 20)).stored_at_ms == 0
