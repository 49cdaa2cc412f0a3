"""Client of the External Payments Service."""

from .async_client import AsyncPaymentsClient
from .client import PaymentsClient
from .errors import PaymentsApiError, PaymentsConnectionError, PaymentsError
from .exchange import ApiRequest, ApiResponse
from .signing import Credentials, signing_headers
from .types import (
    Blockchain,
    CreatedPayment,
    CreatePayment,
    EventDelivery,
    EventFilter,
    EventPage,
    EventPageFilter,
    Payment,
    PaymentFilter,
    PaymentPage,
    PaymentPageFilter,
    PaymentStatus,
    RecordedEvent,
    Simulation,
    SimulationCase,
    WebhookEvent,
)
from .webhooks import WebhookFailure, WebhookVerificationError, verify_webhook

__all__ = [
    "ApiRequest",
    "ApiResponse",
    "AsyncPaymentsClient",
    "Blockchain",
    "CreatePayment",
    "CreatedPayment",
    "Credentials",
    "EventDelivery",
    "EventFilter",
    "EventPage",
    "EventPageFilter",
    "Payment",
    "PaymentFilter",
    "PaymentPage",
    "PaymentPageFilter",
    "PaymentStatus",
    "PaymentsApiError",
    "PaymentsClient",
    "PaymentsConnectionError",
    "PaymentsError",
    "RecordedEvent",
    "Simulation",
    "SimulationCase",
    "WebhookEvent",
    "WebhookFailure",
    "WebhookVerificationError",
    "signing_headers",
    "verify_webhook",
]
