"""The objects of the API, with its own names: plain dicts to the program, types to the checker."""

from __future__ import annotations

from typing import Any, Literal, Optional, TypedDict

PaymentStatus = Literal["pending", "successful", "unsuccessful", "expired", "cancelled"]


class LastError(TypedDict):
    code: str
    message: str
    occurredAt: str


class Payment(TypedDict):
    """Amounts are USD cents, instants ISO 8601."""

    object: Literal["payment_prompt"]
    id: str
    amount: int
    commissionAmount: Optional[int]
    commissionPayer: Literal["merchant", "shopper"]
    settlementModel: Optional[Literal["split", "direct"]]
    #: ``pending`` until the payment ends; all other values are final.
    status: PaymentStatus
    sessionStatus: Optional[Literal["pending", "cancelled", "expired", "completed"]]
    blockchainId: Optional[str]
    #: Amount of the asset as a decimal string.
    tokenAmount: Optional[str]
    transactionHash: Optional[str]
    paidAt: Optional[str]
    expiresAt: str
    createdAt: str
    redirectUrl: Optional[str]
    customerReferenceId: Optional[str]
    cancellationReason: Optional[str]
    lastError: Optional[LastError]


class _CreatePayment(TypedDict):
    #: USD cents.
    amount: int


class CreatePayment(_CreatePayment, total=False):
    blockchainIds: list[str]
    note: str
    redirectUrl: str
    customerReferenceId: str
    #: Required with a partner's key, not allowed with a merchant's.
    merchantId: str


class CreatedPayment(TypedDict):
    prompt: Payment
    #: Send the customer there. Use it as it is.
    checkoutUrl: str


class PaymentFilter(TypedDict, total=False):
    status: PaymentStatus
    #: Exact match.
    customerReferenceId: str
    #: ISO 8601; both bounds are exclusive.
    createdAfter: str
    createdBefore: str
    #: Payments per page, 1 to 100.
    limit: int
    #: Cursor: payments created before this one.
    startingAfter: str


class PaymentPageFilter(PaymentFilter, total=False):
    #: Cursor: payments created after this one.
    endingBefore: str


class PaymentPage(TypedDict):
    object: Literal["list"]
    data: list[Payment]
    hasMore: bool


class Blockchain(TypedDict):
    object: Literal["blockchain"]
    id: str
    name: str
    isActive: bool
    assetSymbol: str
    assetName: str


SimulationCase = Literal[
    "confirm",
    "detect",
    "under",
    "rest",
    "over",
    "late",
    "duplicate",
    "revert",
    "reorg",
    "fail",
    "cancel",
    "expire",
]


class Simulation(TypedDict):
    """What became of a test merchant's payment."""

    object: Literal["simulation"]
    payment: Payment
    #: Why the payment waits although a transfer has arrived.
    waits: Optional[str]


class WebhookEvent(TypedDict):
    """The body of a webhook."""

    #: The same in every delivery of the event: store it to act on the event only once.
    id: str
    object: Literal["event"]
    type: str
    createdAt: str
    #: The payment as it was at the event, with ``externalId``; a deposit if the type says so.
    data: dict[str, Any]


class Attempt(TypedDict):
    at: str
    durationMs: int
    #: Status of the response; None without one.
    statusCode: Optional[int]
    #: Why there was no response.
    error: Optional[str]


class EventDelivery(TypedDict):
    id: str
    endpointId: str
    status: Literal["pending", "succeeded", "failed", "cancelled", "withheld"]
    redeliveryOf: Optional[str]
    createdAt: str
    nextAttemptAt: Optional[str]
    #: Oldest first.
    attempts: list[Attempt]


class RecordedEvent(WebhookEvent):
    """An event with what became of its webhooks, which carry the same without ``deliveries``."""

    #: Newest first, at most 10; empty if no enabled endpoint was subscribed to the type.
    deliveries: list[EventDelivery]


class EventFilter(TypedDict, total=False):
    type: str
    paymentId: str
    #: ISO 8601, inclusive; a date alone means that whole UTC day.
    endDate: str
    #: Only events that an endpoint has not taken.
    delivered: Literal[False]
    #: Events per page, 1 to 100.
    limit: int


class EventPageFilter(EventFilter, total=False):
    #: ISO 8601, inclusive.
    startDate: str
    order: Literal["newest", "oldest"]
    #: Cursors: events that the list has after or before this one.
    startingAfter: str
    endingBefore: str


class EventPage(TypedDict):
    object: Literal["list"]
    data: list[RecordedEvent]
    hasMore: bool
