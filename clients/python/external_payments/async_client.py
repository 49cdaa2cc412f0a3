"""The client for asyncio."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
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


class AsyncPaymentsClient:
    """PaymentsClient for asyncio, with the same calls.

    Each attempt runs in a thread of the event loop's default executor (``asyncio.to_thread``); pauses
    between attempts occupy none. Cancelling a call ends it at once, but a request that is under way is
    still sent.
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
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._service = Service(base_url, Credentials(key_id, secret, passphrase), max_attempts, now)
        self._timeout = timeout
        self._sleep = sleep

    async def create_payment(
        self, payment: CreatePayment, *, idempotency_key: Optional[str] = None
    ) -> CreatedPayment:
        """As PaymentsClient.create_payment."""
        return await self._call(requests.create_payment(payment, idempotency_key))

    async def get_payment(self, id: str) -> Payment:
        """As PaymentsClient.get_payment."""
        return await self._call(requests.get_payment(id))

    async def list_payments(self, query: PaymentPageFilter = {}) -> PaymentPage:
        """As PaymentsClient.list_payments."""
        return await self._call(requests.list_payments(query))

    async def payments(self, query: PaymentFilter = {}) -> AsyncIterator[Payment]:
        """As PaymentsClient.payments, for ``async for``."""
        async for payment in self._walk(requests.list_payments, query):
            yield payment

    async def get_event(self, id: str) -> RecordedEvent:
        """As PaymentsClient.get_event."""
        return await self._call(requests.get_event(id))

    async def list_events(self, query: EventPageFilter = {}) -> EventPage:
        """As PaymentsClient.list_events."""
        return await self._call(requests.list_events(query))

    async def events(
        self, query: EventFilter = {}, *, after: Union[str, datetime, None] = None
    ) -> AsyncIterator[RecordedEvent]:
        """As PaymentsClient.events, for ``async for``."""
        mark = await self.get_event(after) if isinstance(after, str) else None
        since = requests.events_since(query, mark["createdAt"] if mark else cast(Optional[datetime], after))
        async for event in self._walk(requests.list_events, since):
            if mark is None or event["id"] != mark["id"]:
                yield event

    async def simulate_payment(
        self, id: str, case: SimulationCase, *, blockchain_id: Optional[str] = None
    ) -> Simulation:
        """As PaymentsClient.simulate_payment."""
        return await self._call(requests.simulate_payment(id, case, blockchain_id))

    async def advance_clock(self, id: str, *, seconds: int) -> Simulation:
        """As PaymentsClient.advance_clock."""
        return await self._call(requests.advance_clock(id, seconds))

    async def active_blockchains(self) -> list[Blockchain]:
        return await self._call(requests.active_blockchains())

    async def request(self, request: ApiRequest) -> ApiResponse:
        """As PaymentsClient.request."""
        steps = attempts(self._service, request)
        outcome: Outcome = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as end:
                response: ApiResponse = end.value
                return response
            if isinstance(step, float):
                await self._sleep(step)
                outcome = None
                continue
            try:
                outcome = await asyncio.to_thread(exchange, step, self._timeout)
            except NO_RESPONSE as error:
                outcome = error

    async def _walk(
        self, request_of: Callable[[Mapping[str, Any]], Call[Any]], query: Mapping[str, Any]
    ) -> AsyncIterator[Any]:
        cursor: Optional[str] = None
        while True:
            page = await self._call(request_of(requests.page_of(query, cursor)))
            for each in page["data"]:
                yield each
            cursor = requests.next_cursor(page)
            if cursor is None:
                return

    async def _call(self, call: Call[T]) -> T:
        return requests.read(call, await self.request(call))
