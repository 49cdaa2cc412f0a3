"""How webhooks are verified (Standard Webhooks)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, Union, cast

from .errors import PaymentsError
from .types import WebhookEvent

TOLERANCE_SECONDS = 300
SECRET_PREFIX = "whsec_"
SIGNATURE_VERSION = "v1,"
SIGNATURE_BYTES = 32
#: More signatures than a rotation produces; any others are ignored.
SIGNATURES_MAXIMUM = 16

#: Part of a webhook that is invalid: a header, the time, the signature or the body.
WebhookFailure = Literal[
    "webhook-id",
    "webhook-timestamp",
    "timestamp-too-old",
    "timestamp-too-new",
    "webhook-signature",
    "signature-mismatch",
    "body",
]


class WebhookVerificationError(PaymentsError):
    """The webhook must not be processed: respond with 400 and do nothing."""

    failure: WebhookFailure

    def __init__(self, failure: WebhookFailure, message: str) -> None:
        self.failure = failure
        super().__init__(message)


def verify_webhook(
    body: bytes,
    headers: Mapping[str, str],
    secret: Union[str, Iterable[str]],
    *,
    tolerance: int = TOLERANCE_SECONDS,
    now: Callable[[], float] = time.time,
) -> WebhookEvent:
    """Verifies a webhook, then parses it. The same event may be delivered more than once.

    :param body: Exactly the bytes that were received, before they are parsed.
    :param headers: Those of the request, with names in any case.
    :param secret: ``whsec_…``, as shown at its creation; or several, of which one has to match.
    :param tolerance: Largest difference between the webhook's timestamp and now, in seconds.
    :raises WebhookVerificationError: when the service did not send it, or not within the tolerance.
    :raises ValueError: for a missing or invalid secret.
    """
    keys = [_read_secret(each) for each in ([secret] if isinstance(secret, str) else secret)]
    if not keys:
        raise ValueError("verify_webhook needs a secret")

    given = {name.lower(): value for name, value in headers.items()}
    id = _read_header(given, "webhook-id")
    timestamp = _read_header(given, "webhook-timestamp")
    signatures = _read_signatures(_read_header(given, "webhook-signature"))
    _check_time(timestamp, tolerance, int(now()))
    if not isinstance(body, (bytes, bytearray, memoryview)):
        # A framework has parsed or decoded it: written anew, it differs from what was signed.
        raise WebhookVerificationError(
            "body", "the body is not the raw bytes that were received: pass those, before a framework parses them"
        )

    matches = 0
    # A header that is no text cannot be part of what was signed.
    signed = f"{id}.{timestamp}.".encode(errors="replace") + body
    for key in keys:
        expected = hmac.new(key, signed, hashlib.sha256).digest()
        # Compares every pair, so that the time does not depend on which one matches.
        for signature in signatures:
            matches += hmac.compare_digest(expected, signature)
    if not matches:
        raise WebhookVerificationError(
            "signature-mismatch",
            "no signature matches: the secret is wrong, or the body is not exactly the bytes received",
        )
    try:
        return cast(WebhookEvent, json.loads(body))
    except ValueError:
        raise WebhookVerificationError("body", "the body is signed, but is not JSON") from None


def _read_secret(secret: str) -> bytes:
    try:
        key = _decode(secret.removeprefix(SECRET_PREFIX))
    except ValueError:
        key = b""
    if not key:
        # An empty key would let anybody sign.
        raise ValueError(f"a webhook secret is {SECRET_PREFIX} and base64")
    return key


def _decode(text: str) -> bytes:
    """:raises ValueError: unless it is base64, with its padding or without."""
    bare = text.rstrip("=")
    return base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)


def _read_header(
    headers: Mapping[str, str], name: Literal["webhook-id", "webhook-timestamp", "webhook-signature"]
) -> str:
    value = headers.get(name)
    if value:
        return value
    raise WebhookVerificationError(name, f"the header {name} is missing")


def _read_signatures(header: str) -> list[bytes]:
    signatures = []
    for part in header.split(" ")[:SIGNATURES_MAXIMUM]:
        if not part.startswith(SIGNATURE_VERSION):
            continue
        try:
            signature = _decode(part.removeprefix(SIGNATURE_VERSION))
        except ValueError:
            continue
        if len(signature) == SIGNATURE_BYTES:
            signatures.append(signature)
    if signatures:
        return signatures
    raise WebhookVerificationError(
        "webhook-signature", "the header webhook-signature has no signature of version v1"
    )


def _check_time(timestamp: str, tolerance: int, now: int) -> None:
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        raise WebhookVerificationError(
            "webhook-timestamp", "the header webhook-timestamp is not an integer of Unix seconds"
        )
    age = now - int(timestamp)
    if age > tolerance:
        raise WebhookVerificationError(
            "timestamp-too-old", f"it was sent {age} s before now, but {tolerance} s are allowed"
        )
    if -age > tolerance:
        raise WebhookVerificationError(
            "timestamp-too-new", f"it was sent {-age} s after now, but {tolerance} s are allowed"
        )
