"""Whatever an administrator's tool sends, it gets one answer, and the broker no trouble."""

from itertools import count
from typing import Final

import pytest

from model_tests.refimpl.broker.admin_world import AdminWorld
from refimpl.effect import Severity
from refimpl.remoting.calls import derive_request
from spec.wire.code import ResponseCode
from spec.wire.header.table import REQUEST_HEADERS

CODES: Final = (
    *(17, 21, 25, 26, 28, 43, 45, 200, 201, 202, 203, 204, 207, 208, 215, 222, 223),
    *(300, 301, 303, 305, 306, 307, 308, 309, 314, 315, 316, 317, 321),
)
ODD: Final = (
    *("-1", "0", "2147483647", "-9223372036854775808"),
    *("", " ", "true", "..", "a@b", "T", "g", "\0", "é" * 300),
)
FIELDS: Final = (
    *("topic", "group", "consumerGroup", "producerGroup", "groupName", "srcGroup", "destGroup"),
    *("timestamp", "isForce", "isOrder", "queueId", "index", "count", "clientId", "clientAddr", "msgId"),
    *("statsName", "statsKey", "compareGroup", "filterGroups", "filterServerAddr", "removeOffset"),
    *("readQueueNums", "writeQueueNums", "perm", "defaultTopic", "topicFilterType", "order", "offline"),
)
KNOWN: Final = {
    "topic": "T",
    "group": "g",
    "consumerGroup": "g",
    "clientId": "c1",
    "topicFilterType": "SINGLE_TAG",
    "srcGroup": "g",
    "destGroup": "h",
}
"""What makes the other fields be looked at."""


@pytest.mark.parametrize("code", CODES)
def test_odd_requests_have_one_answer_each(code: int) -> None:
    world = AdminWorld()
    admin = world.administrator()
    admin.create()
    admin.store(1)
    admin.commit("g", "T", 0, 1)
    admin.commit("g", "T", 1, -7)
    world.member()
    opaques = count(1_000)
    assert code in REQUEST_HEADERS or code in (21, 25, 26, 28, 43, 45, 200, 201, 305, 306, 316)
    odd = [dict.fromkeys(FIELDS, text) for text in ODD]
    for fields in ({}, *odd, *({**one, **KNOWN} for one in odd)):
        for body in (b"", b"{}", b"\xff\xfe", b'{"groupName":[]}'):
            opaque = next(opaques)
            admin.caller.send(derive_request(code, opaque, fields, body, is_oneway=False))
            answer = admin.caller.await_reply(opaque)
            assert answer.code != ResponseCode.REQUEST_CODE_NOT_SUPPORTED
            assert answer.code == ResponseCode.SUCCESS or answer.remark
    assert [told.note for told in world.world.notes if told.note.severity is Severity.ERROR] == []
    world.judge()
