import pytest

from spec.layout.record_text import check_texts, has_zero
from spec.rejection import Rejection


@pytest.mark.clause("store.record.no-zero-in-texts")
def test_texts_without_zeros_may_be_written() -> None:
    check_texts("T", "a\x01b\x02")
    check_texts("%RETRY%G", "")
    assert not has_zero("T", "a\x01b\x02")


@pytest.mark.clause("store.record.no-zero-in-texts")
@pytest.mark.parametrize(
    ("topic", "property_text", "refusal"),
    [
        ("T\0", "a\x01b", Rejection("store.record.no-zero-in-texts", 1, "U+0000 stands in the topic")),
        (
            "T",
            "a\x01b\0",
            Rejection("store.record.no-zero-in-texts", 3, "U+0000 stands in the property string"),
        ),
        ("\0", "\0", Rejection("store.record.no-zero-in-texts", 0, "U+0000 stands in the topic")),
    ],
)
def test_zero_in_a_text_is_refused_where_it_stands(
    topic: str, property_text: str, refusal: Rejection
) -> None:
    assert has_zero(topic, property_text)
    with pytest.raises(Rejection) as caught:
        check_texts(topic, property_text)
    assert caught.value == refusal
