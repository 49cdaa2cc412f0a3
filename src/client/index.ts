export type { Blockchain, BlockchainId } from '#schemas/blockchain.ts';
export type { CreatePaymentBody, CreatePaymentResponse } from '#schemas/create-payment.ts';
export type { ListPaymentsQuery, PaymentList } from '#schemas/list-payments.ts';
export type { PaymentObject } from '#schemas/payment.ts';
export { type ClientOptions, createClient, type PaymentsClient } from './client.ts';
export type { ApiRequest, ApiResponse } from './exchange.ts';
export { PaymentsApiError } from './payments-api-error.ts';
export { PaymentsConnectionError } from './payments-connection-error.ts';
export { type Credentials, type RequestToSign, signingHeaders } from './sign.ts';
