import pytest

from spec.broker.access import PUBLISH, SUBSCRIBE, Account
from spec.broker.account import KnownAccount
from spec.broker.admission import Admitted, Trust, admit, check_permissions
from spec.rejection import Rejection
from spec.wire.code import RequestCode
from spec.wire.signature import sign_fields

ACCOUNT = Account(permissions={"T": PUBLISH})
TRUST = Trust(("10.0.0.*",), {"ak": KnownAccount("sk", "10.0.1.1", ACCOUNT)})
TRUSTED = Admitted("", None)
ADMITTED = Admitted("ak", ACCOUNT)
FIELDS = sign_fields({"topic": "T"}, b"body", "ak", "sk")


@pytest.mark.clause("broker.access.trusted-address-passes")
def test_an_address_that_everybody_trusts_needs_nothing() -> None:
    assert admit(TRUST, "10.0.0.7", {}, b"") == TRUSTED
    assert admit(TRUST, "10.0.0.7", {"AccessKey": "nobody"}, b"") == TRUSTED


@pytest.mark.clause("broker.access.trusted-address-passes")
def test_an_address_that_an_account_trusts_needs_only_its_name() -> None:
    assert admit(TRUST, "10.0.1.1", {"AccessKey": "ak"}, b"") == TRUSTED


@pytest.mark.clause("broker.access.identity")
@pytest.mark.parametrize(
    ("fields", "body", "reason"),
    [
        ({}, b"body", "No accessKey is configured"),
        ({**FIELDS, "AccessKey": "nobody"}, b"body", "No acl config for nobody"),
        ({**FIELDS, "topic": "U"}, b"body", "Check signature failed for accessKey=ak"),
        ({**FIELDS, "ns": "x"}, b"body", "Check signature failed for accessKey=ak"),
        (FIELDS, b"bodies", "Check signature failed for accessKey=ak"),
        ({"AccessKey": "ak"}, b"", "Check signature failed for accessKey=ak"),
        ({"AccessKey": "ak", "Signature": ""}, b"", "Check signature failed for accessKey=ak"),
    ],
)
def test_everybody_else_shows_whose_the_request_is(fields: dict[str, str], body: bytes, reason: str) -> None:
    assert admit(TRUST, "10.0.2.1", FIELDS, b"body") == ADMITTED
    with pytest.raises(Rejection) as refused:
        admit(TRUST, "10.0.2.1", fields, body)
    assert refused.value == Rejection("broker.access.identity", 0, reason)


@pytest.mark.clause("broker.access.admin-only", "broker.access.needed-by-code")
def test_the_first_right_that_is_missing_is_named() -> None:
    check_permissions(TRUSTED, RequestCode.DELETE_TOPIC_IN_BROKER, {"U": PUBLISH})
    check_permissions(ADMITTED, RequestCode.SEND_MESSAGE, {"T": PUBLISH})
    admin = "Need admin permission for request code=215, but accessKey=ak is not"
    for code, needed, refusal in (
        (RequestCode.DELETE_TOPIC_IN_BROKER, {}, Rejection("broker.access.admin-only", 0, admin)),
        (
            RequestCode.SEND_MESSAGE,
            {"T": PUBLISH, "%RETRY%G": SUBSCRIBE, "U": PUBLISH},
            Rejection("broker.access.needed-by-code", 0, "No default permission for %RETRY%G"),
        ),
    ):
        with pytest.raises(Rejection) as refused:
            check_permissions(ADMITTED, code, needed)
        assert refused.value == refusal
