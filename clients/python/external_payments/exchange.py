"""One request and its response."""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPMessage
from typing import IO, Any


@dataclass(frozen=True)
class ApiRequest:
    method: str
    #: Path with its query, percent-encoded.
    path: str
    #: JSON, sent unchanged; None without a body.
    body: bytes | None = None
    idempotency_key: str | None = None

    @property
    def repeatable(self) -> bool:
        """Whether the service executes it once, however often it arrives."""
        return self.method == "GET" or self.idempotency_key is not None


@dataclass(frozen=True)
class ApiResponse:
    status: int
    #: By lower-case names.
    headers: Mapping[str, str]
    body: bytes

    @property
    def retry_after(self) -> int | None:
        """Retry-After in seconds; None when it is missing or a date, which the service never sends."""
        text = self.headers.get("retry-after", "")
        return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A signed request must not follow a redirect to another server."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirect)


def exchange(request: urllib.request.Request, timeout: float) -> ApiResponse:
    """Sends a request and reads its response, of any status.

    :raises OSError, http.client.HTTPException: when there is none.
    """
    try:
        with _opener.open(request, timeout=timeout) as response:
            return _read(response.status, response.headers, response)
    except urllib.error.HTTPError as refused:
        with refused:
            return _read(refused.code, refused.headers, refused)


def _read(status: int, headers: Any, body: IO[bytes]) -> ApiResponse:
    return ApiResponse(status, {name.lower(): value for name, value in headers.items()}, body.read())
