"""The requests of the API, and what their responses hold."""

from __future__ import annotations

import json
import urllib.parse
import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any, Generic, Optional, TypeVar, Union, cast

from .errors import PaymentsApiError
from .exchange import ApiRequest, ApiResponse
from .types import (
    Blockchain,
    CreatedPayment,
    EventPage,
    Payment,
    PaymentPage,
    RecordedEvent,
    Simulation,
)

T = TypeVar("T")

BASE = "/external/v1"
PAGE_SIZE = 100
#: How far before ``after`` the events begin: an event can be read only after its transaction has ended,
#: and has the clock of one of several servers.
LOOK_BACK = timedelta(minutes=1)


class Call(ApiRequest, Generic[T]):
    """A request whose response holds a T."""


def create_payment(payment: Mapping[str, Any], idempotency_key: Optional[str]) -> Call[CreatedPayment]:
    body = json.dumps(payment, ensure_ascii=False, separators=(",", ":")).encode()
    # A random key protects the retries of one call.
    key = str(uuid.uuid4()) if idempotency_key is None else idempotency_key
    return Call("POST", f"{BASE}/payments/prompt", body, key)


def get_payment(id: str) -> Call[Payment]:
    return Call("GET", f"{BASE}/payments/{urllib.parse.quote(id, safe='')}")


def list_payments(query: Mapping[str, Any]) -> Call[PaymentPage]:
    return Call("GET", f"{BASE}/payments{_query_string(query)}")


def get_event(id: str) -> Call[RecordedEvent]:
    return Call("GET", f"{BASE}/events/{urllib.parse.quote(id, safe='')}")


def list_events(query: Mapping[str, Any]) -> Call[EventPage]:
    return Call("GET", f"{BASE}/events{_query_string(query)}")


def active_blockchains() -> Call[list[Blockchain]]:
    return Call("GET", f"{BASE}/blockchains/active")


def simulate_payment(id: str, case: str, blockchain_id: Optional[str]) -> Call[Simulation]:
    chosen = {} if blockchain_id is None else {"blockchainId": blockchain_id}
    return _play(id, "simulate", {"case": case, **chosen})


def advance_clock(id: str, seconds: int) -> Call[Simulation]:
    return _play(id, "clock", {"seconds": seconds})


def _play(id: str, what: str, body: Mapping[str, Any]) -> Call[Simulation]:
    return Call("POST", f"{BASE}/test/payments/{urllib.parse.quote(id, safe='')}/{what}", json.dumps(body).encode())


def events_since(query: Mapping[str, Any], after: Union[datetime, str, None]) -> dict[str, Any]:
    """The query of all events from a little before an instant, the oldest first.

    :raises ValueError: for a time without a zone.
    """
    if after is None:
        return {**query, "order": "oldest"}
    # Python 3.10 does not read "Z".
    time = datetime.fromisoformat(after.replace("Z", "+00:00")) if isinstance(after, str) else after
    if time.tzinfo is None:
        raise ValueError("after must have a time zone")
    start = (time - LOOK_BACK).astimezone(timezone.utc)
    return {**query, "order": "oldest", "startDate": start.isoformat(timespec="milliseconds")}


def page_of(query: Mapping[str, Any], cursor: Optional[str]) -> dict[str, Any]:
    """The query of a page of all that match."""
    return {"limit": PAGE_SIZE, **query, **({} if cursor is None else {"startingAfter": cursor})}


def next_cursor(page: Mapping[str, Any]) -> Optional[str]:
    """Where the next page begins; None after the last one."""
    return page["data"][-1]["id"] if page["hasMore"] and page["data"] else None


def read(call: Call[T], response: ApiResponse) -> T:
    """:raises PaymentsApiError: unless the response is a success with JSON."""
    if not 200 <= response.status <= 299:
        raise PaymentsApiError(response)
    try:
        return cast(T, json.loads(response.body))
    except ValueError:
        raise PaymentsApiError(response, f"HTTP {response.status} with a body that is not JSON") from None


def _query_string(query: Mapping[str, Any]) -> str:
    given = {name: value for name, value in query.items() if value is not None}
    # The API writes false as JSON does.
    texts = {name: str(value).lower() if isinstance(value, bool) else value for name, value in given.items()}
    return f"?{urllib.parse.urlencode(texts)}" if texts else ""
