"""When a request is repeated, without saying how it is sent: sync and async clients share it."""

from __future__ import annotations

import http.client
import random
import time
import urllib.parse
import urllib.request
import uuid
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Union

from .errors import PaymentsConnectionError
from .exchange import ApiRequest, ApiResponse
from .signing import Credentials, signing_headers

BACKOFF_FIRST_SECONDS = 0.5
BACKOFF_MAXIMUM_SECONDS = 8.0
#: Longest Retry-After that the client waits for: the default window of the rate limit.
RETRY_AFTER_MAXIMUM_SECONDS = 60
#: Statuses of a proxy that cannot reach the service. Its responses have no X-MP-Should-Retry.
PROXY_FAILURES = (429, 502, 503, 504)
#: What urllib raises when there is no response.
NO_RESPONSE = (OSError, http.client.HTTPException)

#: What a path may have besides letters, digits and -._~ (RFC 3986).
IN_PATHS = "/%:@!$&'()*+,;="

#: What to do next: send a request, or wait for so many seconds.
Step = Union[urllib.request.Request, float]
#: What came of a step: the response, why there was none, or nothing after a pause.
Outcome = Union[ApiResponse, Exception, None]


@dataclass(frozen=True)
class Service:
    """Where requests go, and what they are signed with."""

    base_url: str
    credentials: Credentials
    max_attempts: int
    now: Callable[[], float] = time.time

    def __post_init__(self) -> None:
        url = urllib.parse.urlsplit(self.base_url)
        plain = not (url.username or url.password or url.query or url.fragment)
        if url.scheme not in ("http", "https") or not url.hostname or not plain:
            raise ValueError(
                "base_url must be an http or https URL without user, query and fragment, "
                "for example https://payments.example.com"
            )
        if self.max_attempts < 1:
            raise ValueError("max_attempts must be above 0")

    def prepare(self, request: ApiRequest) -> urllib.request.Request:
        """Signs a request for one attempt. A path in the base URL is a proxy's: sent, but not signed."""
        headers = signing_headers(
            self.credentials,
            request.method,
            request.path,
            request.body or b"",
            timestamp=int(self.now()),
            nonce=str(uuid.uuid4()),
        )
        if request.body is not None:
            headers["Content-Type"] = "application/json"
        if request.idempotency_key is not None:
            headers["Idempotency-Key"] = request.idempotency_key
        base = urllib.parse.urlsplit(self.base_url)
        prefix = urllib.parse.quote(base.path.rstrip("/"), safe=IN_PATHS)
        url = base._replace(path=prefix).geturl() + request.path
        return urllib.request.Request(url, request.body, headers, method=request.method)


def attempts(service: Service, request: ApiRequest) -> Generator[Step, Outcome, ApiResponse]:
    """The steps of a call: each attempt has a new nonce, timestamp and signature, and the same
    idempotency key. Returns the last response, of any status.

    A request that might execute twice is never repeated. A refusal (4xx) has executed nothing and is
    retried when X-MP-Should-Retry is ``true``. A failure (5xx) or a missing response is retried only
    for reads and for writes with an idempotency key. A response that asks for a longer wait than
    RETRY_AFTER_MAXIMUM_SECONDS is returned.

    :raises PaymentsConnectionError: when the last attempt got no response.
    """
    _check(request)
    for attempt in range(1, service.max_attempts + 1):
        last = attempt == service.max_attempts
        outcome = yield service.prepare(request)
        if isinstance(outcome, ApiResponse):
            wait = outcome.retry_after
            too_long = wait is not None and wait > RETRY_AFTER_MAXIMUM_SECONDS
            if last or too_long or not _may_retry(outcome, request.repeatable):
                return outcome
            yield _backoff(attempt) if wait is None else float(wait)
        elif isinstance(outcome, NO_RESPONSE):
            if last or not request.repeatable:
                raise PaymentsConnectionError(request.method, request.path, attempt, outcome) from outcome
            yield _backoff(attempt)
    raise AssertionError("the last attempt returns or raises")


def _check(request: ApiRequest) -> None:
    """Refuses what would be sent otherwise than it is signed, or not at all."""
    if not request.path.startswith("/") or not request.path.isascii():
        raise ValueError("a path starts with / and is percent-encoded")
    if any(character <= " " or character in "#\x7f" for character in request.path):
        raise ValueError("a path is percent-encoded")
    key = request.idempotency_key
    if key is not None and any(ord(c) > 255 or (c < " " and c != "\t") or c == "\x7f" for c in key):
        raise ValueError("an idempotency key is Latin-1 text on one line")


def _may_retry(response: ApiResponse, repeatable: bool) -> bool:
    should_retry = response.headers.get("x-mp-should-retry")
    if should_retry is None:
        return repeatable and response.status in PROXY_FAILURES
    return should_retry == "true" and (repeatable or response.status < 500)


def _backoff(attempt: int) -> float:
    """Exponential backoff. Half of it is random, so that clients do not retry at the same time."""
    full = min(BACKOFF_FIRST_SECONDS * 2.0 ** (attempt - 1), BACKOFF_MAXIMUM_SECONDS)
    return full / 2 + random.random() * full / 2
