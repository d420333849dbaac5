"""Filter servers of old brokers announce themselves."""

from model_tests.refimpl.broker.admin_world import AdminWorld
from refimpl.broker.filter_server_desk import IDLE_MS, SERVER_LIMIT, FilterServerDesk
from refimpl.remoting.calls import derive_request
from refimpl.remoting.request import Request
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.header.admin import FilterServerHeader, FilterServerResponseHeader

CODE = RequestCode.REGISTER_FILTER_SERVER


def test_one_that_announces_itself_hears_whom_it_belongs_to() -> None:
    admin = AdminWorld().administrator()
    answer = admin.call(CODE, FilterServerHeader("127.0.0.1:1"))
    assert FilterServerResponseHeader.decode(answer.extension_fields) == FilterServerResponseHeader(
        "broker-a", 0
    )


def announce(desk: FilterServerDesk, address: str, now_ms: int) -> int:
    world = AdminWorld()
    frame = derive_request(CODE, 1, FilterServerHeader(address).encode(), b"", is_oneway=False)
    return desk.on_register(Request(1, world.settings.host, frame, now_ms)).code


def test_one_that_falls_silent_is_forgotten_and_their_number_is_limited() -> None:
    desk = FilterServerDesk(AdminWorld().broker.parts)
    for number in range(SERVER_LIMIT):
        assert announce(desk, str(number), number) == ResponseCode.SUCCESS
    assert announce(desk, "more", SERVER_LIMIT) == ResponseCode.SYSTEM_ERROR
    assert announce(desk, "x" * 256, IDLE_MS * 2) == ResponseCode.SYSTEM_ERROR
    assert announce(desk, "0", SERVER_LIMIT) == ResponseCode.SUCCESS
    assert desk.addresses(IDLE_MS + 2) == ("0", *map(str, range(2, SERVER_LIMIT)))
    assert announce(desk, "more", IDLE_MS + 2) == ResponseCode.SUCCESS
    assert desk.addresses(SERVER_LIMIT - 1 + IDLE_MS) == ("0", "63", "more")
