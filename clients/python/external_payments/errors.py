"""What can go wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .exchange import ApiResponse


class PaymentsError(Exception):
    """Base of the errors of this package."""


class PaymentsApiError(PaymentsError):
    """The response is an error of the service, or an unexpected one of a proxy in front of it."""

    #: HTTP status.
    status: int
    #: Category, e.g. ``invalid_request_error``; empty when the response is not the service's own.
    type: str
    #: Slug for programmatic handling, e.g. ``parameter_invalid``; may be empty like ``type``.
    code: str
    #: Short code, e.g. ``E1001``; may be empty like ``type``.
    error_code: str
    message: str
    param: str | None
    #: Quote it when you contact support.
    request_id: str | None
    doc_url: str | None
    #: Whether ``message`` may be shown to your customers as it is.
    user_safe_message: bool
    #: Whether another attempt may succeed, after the client has used all of its own.
    retryable: bool
    #: Seconds to wait before another attempt, if the response says so.
    retry_after: int | None

    def __init__(self, response: ApiResponse, message: str | None = None) -> None:
        error = _read_error(response.body)

        def text(name: str) -> str | None:
            value = error.get(name)
            return value if isinstance(value, str) else None

        self.status = response.status
        self.type = text("type") or ""
        self.code = text("code") or ""
        self.error_code = text("errorCode") or ""
        self.message = text("message") or message or f"HTTP {response.status}"
        self.param = text("param")
        self.request_id = text("requestId") or response.headers.get("x-request-id")
        self.doc_url = text("docUrl")
        self.user_safe_message = error.get("userSafeMessage") is True
        self.retryable = response.headers.get("x-mp-should-retry") == "true"
        self.retry_after = response.retry_after
        super().__init__(f"{self.error_code}: {self.message}" if self.error_code else self.message)


class PaymentsConnectionError(PaymentsError):
    """There was no response: the service could not be reached, was too slow, or the connection broke.

    It is unknown whether a creation took effect. Repeat it with the same idempotency key, or look the
    payment up by its customerReferenceId, before you create it under another key. ``__cause__`` has the
    reason.
    """

    #: Number of times that the request was sent.
    attempts: int

    def __init__(self, method: str, path: str, attempts: int, cause: BaseException) -> None:
        self.attempts = attempts
        # Leaves out the query: it may contain references of customers.
        super().__init__(f"{method} {path.partition('?')[0]} got no answer: {cause!r}")


def _read_error(body: bytes) -> Mapping[str, Any]:
    """Fields of the error envelope; none for the response of a proxy, which may be anything."""
    try:
        envelope = json.loads(body)
    except ValueError:
        return {}
    error = envelope.get("error") if isinstance(envelope, dict) else None
    return error if isinstance(error, dict) else {}
