import pytest

from spec.wire.code import (
    ADMIN_REQUESTS,
    NAME_SERVER_REQUESTS,
    SERVER_INITIATED_REQUESTS,
    AclResponseCode,
    Generation,
    LaterRequestCode,
    LaterResponseCode,
    RequestCode,
    ResponseCode,
    derive_request_code,
    derive_response_code,
    is_stored,
)


@pytest.mark.clause("wire.code.request-table")
def test_request_codes_of_4_9_3_have_their_numbers() -> None:
    assert {int(code) for code in RequestCode} == {
        *range(10, 16),
        17,
        *range(21, 24),
        *range(25, 44),
        45,
        46,
        *range(50, 55),
        *range(100, 107),
        *range(200, 217),
        *range(219, 225),
        *range(300, 328),
    }
    assert (RequestCode.PULL_MESSAGE, RequestCode.HEART_BEAT, RequestCode.SEND_MESSAGE_V2) == (11, 34, 310)


@pytest.mark.clause("wire.code.request-table")
def test_no_later_request_code_takes_a_number_of_4_9_3() -> None:
    assert {int(code) for code in LaterRequestCode}.isdisjoint({int(code) for code in RequestCode})
    assert derive_request_code(361) is LaterRequestCode.LITE_PULL_MESSAGE
    assert derive_request_code(105) is RequestCode.GET_ROUTEINFO_BY_TOPIC
    assert derive_request_code(99_999) is None


@pytest.mark.clause("wire.code.response-table")
def test_response_codes_have_their_numbers() -> None:
    numbers = {int(code) for code in ResponseCode}
    assert numbers == {*range(5), *range(10, 29), *range(200, 209), 215}
    assert (ResponseCode.NO_PERMISSION, ResponseCode.TOPIC_NOT_EXIST) == (16, 17)
    assert (ResponseCode.PULL_NOT_FOUND, ResponseCode.PULL_OFFSET_MOVED) == (19, 21)


@pytest.mark.clause("wire.code.generation-decides-209-to-211")
@pytest.mark.parametrize(
    ("number", "in_4_9", "in_5"),
    [
        (209, AclResponseCode.UPDATE_AND_CREATE_ACL_CONFIG_FAILED, LaterResponseCode.POLLING_FULL),
        (210, AclResponseCode.DELETE_ACL_CONFIG_FAILED, LaterResponseCode.POLLING_TIMEOUT),
        (211, AclResponseCode.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG_FAILED, LaterResponseCode.BROKER_NOT_EXIST),
    ],
)
def test_generation_decides_what_209_to_211_mean(
    number: int, in_4_9: AclResponseCode, in_5: LaterResponseCode
) -> None:
    assert derive_response_code(number) is in_4_9
    assert derive_response_code(number, Generation.V5) is in_5
    assert number not in {int(code) for code in ResponseCode}


@pytest.mark.clause("wire.code.generation-decides-209-to-211")
def test_results_of_5_are_unknown_to_4_9_and_shared_results_are_the_same() -> None:
    assert derive_response_code(29) is None
    assert derive_response_code(29, Generation.V5) is LaterResponseCode.INVALID_PARAMETER
    for generation in Generation:
        assert derive_response_code(17, generation) is ResponseCode.TOPIC_NOT_EXIST
        assert derive_response_code(-5, generation) is None


@pytest.mark.clause("wire.code.stored-results")
def test_only_success_and_the_three_weak_results_mean_stored() -> None:
    assert [code for code in range(-10, 3000) if is_stored(code)] == [0, 10, 11, 12]


def test_special_sets_have_the_numbers_that_apache_gives_them() -> None:
    assert sorted(ADMIN_REQUESTS) == [17, 25, 200, 207, 215]
    assert sorted(SERVER_INITIATED_REQUESTS) == [39, 40, 220, 221, 307, 309, 326]
    assert sorted(NAME_SERVER_REQUESTS) == [
        *range(100, 107),
        205,
        206,
        216,
        219,
        224,
        304,
        *range(311, 314),
        318,
        319,
        322,
        327,
    ]
