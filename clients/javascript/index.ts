export type { Blockchain, BlockchainId } from '#schemas/blockchain.ts';
export type { CreatePaymentBody, CreatePaymentResponse } from '#schemas/create-payment.ts';
export type { EventDelivery, ListEventsQuery } from '#schemas/list-events.ts';
export type { ListPaymentsQuery, PaymentList } from '#schemas/list-payments.ts';
export type { PaymentObject } from '#schemas/payment.ts';
export type {
  AdvanceClockBody,
  SimulatePaymentBody,
  SimulationResult,
} from '#schemas/simulate-payment.ts';
export type { SimulationCase } from '#schemas/simulation-cases.ts';
export { type ClientOptions, createClient, type PaymentsClient } from './client.ts';
export { PaymentsApiError, PaymentsConnectionError } from './errors.ts';
export type { EventList, EventsQuery, RecordedEvent } from './events.ts';
export type { ApiRequest, ApiResponse } from './exchange.ts';
export { type Credentials, type RequestToSign, signingHeaders } from './sign.ts';
export {
  type DepositWebhookEvent,
  type PaymentWebhookEvent,
  type ReceivedWebhook,
  verifyWebhook,
  type WebhookEvent,
  type WebhookFailure,
  WebhookVerificationError,
} from './verify-webhook.ts';
