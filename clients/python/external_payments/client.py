"""The client for programs without an event loop."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, Optional, Union, cast

from . import requests
from .attempts import NO_RESPONSE, Outcome, Service, attempts
from .exchange import ApiRequest, ApiResponse, exchange
from .requests import Call, T
from .signing import Credentials
from .types import (
    Blockchain,
    CreatedPayment,
    CreatePayment,
    EventFilter,
    EventPage,
    EventPageFilter,
    Payment,
    PaymentFilter,
    PaymentPage,
    PaymentPageFilter,
    RecordedEvent,
    Simulation,
    SimulationCase,
)


class PaymentsClient:
    """The API for the server of a merchant or a partner. It may be shared between threads.

    Except ``request``, every call raises PaymentsApiError when the response is an error. Every call
    raises PaymentsConnectionError when there is no response.

    :param base_url: Scheme and host of the service, for example ``https://payments.example.com``.
    :param timeout: Seconds that one attempt waits for a connection, and for each next byte.
    :param max_attempts: Maximum attempts per call, the first included.
    :param now: Unix seconds.
    """

    def __init__(
        self,
        base_url: str,
        key_id: str,
        secret: str,
        passphrase: str,
        *,
        timeout: float = 30.0,
        max_attempts: int = 4,
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._service = Service(base_url, Credentials(key_id, secret, passphrase), max_attempts, now)
        self._timeout = timeout
        self._sleep = sleep

    def create_payment(self, payment: CreatePayment, *, idempotency_key: Optional[str] = None) -> CreatedPayment:
        """Creates a payment. By default a random idempotency key protects the retries of this call.
        Pass your order's ID to be protected across calls and restarts too.
        """
        return self._call(requests.create_payment(payment, idempotency_key))

    def get_payment(self, id: str) -> Payment:
        """:raises PaymentsApiError: with the error_code E3001 when there is no such payment."""
        return self._call(requests.get_payment(id))

    def list_payments(self, query: PaymentPageFilter = {}) -> PaymentPage:
        """One page, newest first."""
        return self._call(requests.list_payments(query))

    def payments(self, query: PaymentFilter = {}) -> Iterator[Payment]:
        """All matching payments, newest first. A page is fetched when its first payment is read.
        ``limit`` is the page size, not the number of payments.
        """
        return self._walk(requests.list_payments, query)

    def get_event(self, id: str) -> RecordedEvent:
        """:raises PaymentsApiError: with the error_code E3001 when there is no such event."""
        return self._call(requests.get_event(id))

    def list_events(self, query: EventPageFilter = {}) -> EventPage:
        """One page, newest first unless ``order`` is ``oldest``."""
        return self._call(requests.list_events(query))

    def events(
        self, query: EventFilter = {}, *, after: Union[str, datetime, None] = None
    ) -> Iterator[RecordedEvent]:
        """All matching events from a minute before ``after``, oldest first; ends with the newest. Keep
        the ID of the last one that you have processed, and pass it as ``after`` the next time: then none
        is missed. Those of the minute before it come again, since events become readable in no exact
        order, so act once on each ``id``, as for webhooks.

        :param after: The ID of an event, or a time with its zone. Default: the oldest event that is kept.
        :raises PaymentsApiError: with the error_code E3001 when the event ``after`` is no longer kept.
        """
        mark = self.get_event(after) if isinstance(after, str) else None
        since = requests.events_since(query, mark["createdAt"] if mark else cast(Optional[datetime], after))
        for event in self._walk(requests.list_events, since):
            if mark is None or event["id"] != mark["id"]:
                yield event

    def simulate_payment(
        self, id: str, case: SimulationCase, *, blockchain_id: Optional[str] = None
    ) -> Simulation:
        """Plays what a customer and a chain do, on a payment of a test merchant.

        :param blockchain_id: The network to choose if the payment has none. Default: the first one it offers.
        :raises PaymentsApiError: with the error_code E1040 for a case that the payment's state does not
            allow, and E2008 with a key of a live merchant.
        """
        return self._call(requests.simulate_payment(id, case, blockchain_id))

    def advance_clock(self, id: str, *, seconds: int) -> Simulation:
        """Moves the time of a test merchant's payment forward; raises as ``simulate_payment`` does."""
        return self._call(requests.advance_clock(id, seconds))

    def active_blockchains(self) -> list[Blockchain]:
        return self._call(requests.active_blockchains())

    def request(self, request: ApiRequest) -> ApiResponse:
        """Sends any signed request, with retries. Returns the last response, of any status."""
        steps = attempts(self._service, request)
        outcome: Outcome = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as end:
                response: ApiResponse = end.value
                return response
            if isinstance(step, float):
                self._sleep(step)
                outcome = None
                continue
            try:
                outcome = exchange(step, self._timeout)
            except NO_RESPONSE as error:
                outcome = error

    def _walk(self, request_of: Callable[[Mapping[str, Any]], Call[Any]], query: Mapping[str, Any]) -> Iterator[Any]:
        cursor: Optional[str] = None
        while True:
            page = self._call(request_of(requests.page_of(query, cursor)))
            yield from page["data"]
            cursor = requests.next_cursor(page)
            if cursor is None:
                return

    def _call(self, call: Call[T]) -> T:
        return requests.read(call, self.request(call))
