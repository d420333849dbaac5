"""Numbers of releases and languages, and what depends on them."""

import pytest

from spec.wire import version
from spec.wire.language import Language, derive_language_by_name, derive_language_by_number
from spec.wire.version import derive_version_name


@pytest.mark.clause("wire.version.two-numbers-a-release")
@pytest.mark.parametrize(
    ("number", "name"),
    [
        (28, "V3_0_7_SNAPSHOT"),
        (37, "V3_0_11"),
        (62, "V3_1_8_SNAPSHOT"),
        (121, "V3_4_9"),
        (213, "V4_0_0"),
        (232, "V4_1_0_SNAPSHOT"),
        (397, "V4_9_2"),
        (399, "V4_9_3"),
        (401, "V4_9_4"),
        (403, "V4_9_5"),
        (409, "V4_9_8"),
        (413, "V5_0_0"),
        (479, "V5_3_3"),
        (0, None),
        (480, None),
        (-1, None),
    ],
)
def test_a_number_names_its_release(number: int, name: str | None) -> None:
    assert derive_version_name(number) == name


@pytest.mark.clause(
    "wire.version.retry-limit",
    "wire.version.register-body",
    "wire.version.consumer-operations",
    "wire.version.sql-filter",
    "wire.version.standard-route-json",
    "wire.version.go-away",
)
@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("is_retry_limit_honoured", 121),
        ("is_register_body_complete", 37),
        ("is_offset_reset_possible", 28),
        ("is_running_info_possible", 62),
        ("is_sql_filter_possible", 232),
        ("is_route_json_standard", 401),
        ("is_go_away_understood", 476),
    ],
)
def test_a_feature_begins_with_its_number(name: str, least: int) -> None:
    rule = getattr(version, name)
    assert [rule(number) for number in (-1, 0, least - 1, least, 10_000)] == [False, False, False, True, True]


@pytest.mark.clause("wire.header.unknown-language")
def test_languages_are_found_by_number_and_name() -> None:
    assert [derive_language_by_number(language.value) for language in Language] == list(Language)
    assert [derive_language_by_name(language.name) for language in Language] == list(Language)
    assert [language.value for language in Language] == list(range(14))
    assert derive_language_by_number(14) is None
    assert derive_language_by_name("java") is None
