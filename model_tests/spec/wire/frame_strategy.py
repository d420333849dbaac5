"""Frames and headers for Hypothesis."""

from hypothesis import strategies as st

from spec.wire.frame import Frame
from spec.wire.language import Language
from spec.wire.remoting_header import Header, Serialization

INT16 = st.integers(-(2**15), 2**15 - 1)
INT32 = st.integers(-(2**31), 2**31 - 1)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
LANGUAGE = st.one_of(st.none(), st.sampled_from(Language))
FIELDS = st.one_of(st.none(), st.dictionaries(TEXT, TEXT, max_size=6))

JSON_HEADERS = st.builds(Header, INT32, LANGUAGE, INT32, INT32, INT32, st.one_of(st.none(), TEXT), FIELDS)
BINARY_HEADERS = st.builds(
    Header,
    INT16,
    LANGUAGE,
    INT16,
    INT32,
    INT32,
    st.one_of(st.none(), TEXT.filter(bool)),
    st.one_of(st.none(), st.dictionaries(TEXT, TEXT, min_size=1, max_size=6)),
)
"""Without an empty remark and an empty table, which the format cannot tell from none."""

BODIES = st.binary(max_size=40)


def _frame(serialization: Serialization, header: Header, body: bytes) -> Frame:
    return Frame(*header, serialization, body)


FRAMES = st.one_of(
    st.builds(_frame, st.just(Serialization.JSON), JSON_HEADERS, BODIES),
    st.builds(_frame, st.just(Serialization.ROCKETMQ), BINARY_HEADERS, BODIES),
)
