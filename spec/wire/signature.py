"""Who sent this: the ACL signature.

A signed request carries `AccessKey`, maybe `SecurityToken`, and `Signature`: base64 of HMAC-SHA1
under the secret key, over the values of all other extension fields in the order of their keys,
then the body. Only values are signed, without separators; keys decide the order and nothing else.
Order is Java's, by UTF-16 units. Header fields outside the extension (code, opaque, flag) are not
signed, so a signature says who made the request, not which exchange it belongs to.

The verifier takes what arrived. A sender that adds a field after signing breaks its own signature,
which is how clients before 4.9.4 fail when a hook adds fields that are not of the header class.
"""

import hmac
from base64 import b64encode
from collections.abc import Mapping
from typing import Final

from spec.values.java_text import utf16_key

ACCESS_KEY: Final = "AccessKey"
SIGNATURE: Final = "Signature"
SECURITY_TOKEN: Final = "SecurityToken"  # noqa: S105 - the name of a field, not a secret

UNSIGNED_FIELDS: Final = frozenset({SIGNATURE, "_UNIQUE_KEY_QUERY"})
"""What a verifier leaves out, Apache's `PlainAccessValidator`: the signature, and a mark that tools add."""


def derive_signed_content(fields: Mapping[str, str], body: bytes) -> bytes:
    """The bytes that are signed: values in the order of their keys, then the body.

    Clauses: wire.signature.order, wire.signature.content
    """
    keys = sorted(fields.keys() - UNSIGNED_FIELDS, key=utf16_key)
    return "".join(fields[key] for key in keys).encode("utf-8", "replace") + body


def derive_signature(fields: Mapping[str, str], body: bytes, secret_key: str) -> str:
    """The signature of a request with these fields and this body.

    Clause: wire.signature.hmac
    """
    key = secret_key.encode("utf-8", "replace")
    return b64encode(hmac.digest(key, derive_signed_content(fields, body), "sha1")).decode()


def sign_fields(
    fields: Mapping[str, str],
    body: bytes,
    access_key: str,
    secret_key: str,
    security_token: str | None = None,
) -> dict[str, str]:
    """All fields as they must be sent: those given, the sender's key, and the signature over both.

    Clauses: wire.signature.hmac, wire.signature.all-fields
    """
    signed = {**fields, ACCESS_KEY: access_key}
    if security_token is not None:
        signed[SECURITY_TOKEN] = security_token
    signed[SIGNATURE] = derive_signature(signed, body, secret_key)
    return signed


def is_signature_valid(fields: Mapping[str, str], body: bytes, secret_key: str) -> bool:
    """Whether the fields carry the signature that this secret makes over all that arrived.

    Clause: wire.signature.all-fields
    """
    claimed = fields.get(SIGNATURE)
    if claimed is None:
        return False
    # Compared in constant time: how long a wrong guess takes must not say how much of it was right.
    expected = derive_signature(fields, body, secret_key)
    return hmac.compare_digest(claimed.encode("utf-8", "replace"), expected.encode())
