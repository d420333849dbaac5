"""The index file: hashes, slots, entries and chains."""

from itertools import islice

from spec.layout.index_chain import (
    derive_key_hash,
    derive_previous,
    derive_seconds,
    derive_slot,
    iter_chain,
    put_key,
)
from spec.layout.index_file import (
    EMPTY_HEADER,
    IndexEntry,
    decode_entry,
    derive_entry_position,
    derive_file_size,
    derive_slot_position,
    encode_entry,
)
from spec.values.units import CommitLogPosition, Index, Milliseconds


def hash_and_slot_stay_in_bounds(code: int, slots: int) -> bool:
    """Every Java hash gives a hash that is not negative and a slot of the file.

    clause: store.index.key-hash
    pre: -(2**31) <= code < 2**31
    pre: 1 <= slots <= 5_000_000
    post: __return__
    """
    key_hash = derive_key_hash(code)
    return 0 <= key_hash < 2**31 and 0 <= derive_slot(key_hash, slots) < slots


def slots_and_entries_do_not_overlap(slot: int, number: int, slots: int, entries: int) -> bool:
    """The last slot ends where entry 0 would begin, and the last entry ends with the file.

    clause: store.index.layout
    pre: 0 <= slot < slots <= 5_000_000
    pre: 1 <= number < entries <= 20_000_000
    post: __return__
    """
    slot_end = derive_slot_position(slot) + 4
    at = derive_entry_position(number, slots)
    return 44 <= slot_end <= derive_entry_position(0, slots) < at <= derive_file_size(slots, entries) - 20


def trusted_number_lies_below(slot_number: int, next_entry: int) -> bool:
    """A number is followed only if it is above 0 and below the one it comes from.

    clause: store.index.chain
    pre: -(2**31) <= slot_number < 2**31
    pre: 1 <= next_entry < 2**31
    post: __return__
    """
    previous = derive_previous(slot_number, next_entry)
    return previous == slot_number if 0 < slot_number < next_entry else previous == 0


def damaged_chain_ends(slot_number: int, one: int, two: int, three: int) -> bool:
    """Whatever three entries say, a chain visits each at most once, from newer to older.

    clause: store.index.chain
    pre: -2 <= slot_number <= 6
    pre: -2 <= one <= 6
    pre: -2 <= two <= 6
    pre: -2 <= three <= 6
    post: __return__
    """
    previous = (0, one, two, three)

    def read_entry(number: Index) -> IndexEntry:
        return IndexEntry(number, CommitLogPosition(0), 0, Index(previous[number]))

    visited = [entry.key_hash for entry in islice(iter_chain(slot_number, 4, read_entry), 5)]
    return visited == sorted(set(visited), reverse=True) and all(1 <= number <= 3 for number in visited)


def put_key_links_to_what_the_slot_named(slot_number: int, next_entry: int, position: int) -> bool:
    """A put takes the next number, links to the trusted old one, and moves the header by one.

    clause: store.index.chain
    pre: -1 <= slot_number < 2**31
    pre: 1 <= next_entry < 100
    pre: 0 <= position < 2**40
    post: __return__
    """
    header = EMPTY_HEADER._replace(next_entry=Index(next_entry), begin_at_ms=Milliseconds(1))
    step = put_key(header, slot_number, 7, CommitLogPosition(position), Milliseconds(1), entries=100)
    if step is None:
        return False
    linked = step.entry.previous == derive_previous(slot_number, next_entry) < step.number == next_entry
    counted = step.header.used_slots == int(step.entry.previous == 0)
    return linked and counted and step.header[3:] == (position, step.header.used_slots, next_entry + 1)


def full_file_takes_no_key(next_entry: int, entries: int) -> bool:
    """A key is taken exactly while its entry lies inside the file.

    clause: store.index.full
    pre: 1 <= next_entry < 2**31
    pre: 1 <= entries < 2**31
    post: __return__
    """
    header = EMPTY_HEADER._replace(next_entry=Index(next_entry))
    step = put_key(header, 0, 7, CommitLogPosition(0), Milliseconds(0), entries=entries)
    fits = derive_entry_position(next_entry, 5) + 20 <= derive_file_size(5, entries)
    return (step is not None) == fits


def seconds_fit_their_field(stored_at_ms: int, begin_at_ms: int) -> bool:
    """The seconds of an entry are a 31-bit number and never later than the message.

    clause: store.index.seconds
    pre: 0 <= stored_at_ms < 2**62
    pre: -1 <= begin_at_ms < 2**62
    post: __return__
    """
    seconds = derive_seconds(stored_at_ms, begin_at_ms)
    return 0 <= seconds < 2**31 and (seconds == 0 or begin_at_ms + seconds * 1000 <= stored_at_ms)


def entry_reads_back(key_hash: int, position: int, seconds: int, previous: int) -> bool:
    """An entry decodes to what was encoded.

    clause: store.index.layout
    pre: 0 <= key_hash < 2**31
    pre: 0 <= position < 2**31
    pre: 0 <= seconds < 2**31
    pre: 0 <= previous < 2**31
    post: __return__
    """
    entry = IndexEntry(key_hash, CommitLogPosition(position), seconds, Index(previous))
    return decode_entry(encode_entry(entry)) == entry
