import { CHECKOUT_PREFIX } from '#payments/checkout-path.ts';
import type { Blockchain } from '#schemas/blockchain.ts';
import type { CreatePaymentBody, CreatePaymentResponse } from '#schemas/create-payment.ts';
import type { EventList, RecordedEvent } from '#schemas/list-events.ts';
import type { PaymentList } from '#schemas/list-payments.ts';
import type { PaymentObject } from '#schemas/payment.ts';
import type { SimulationResult } from '#schemas/simulate-payment.ts';

/** Base URL in examples. Documents that are served replace it with the service's own. */
export const EXAMPLE_BASE = 'https://payments.example.com';

/** The payment in all examples of the documentation. */
export const PAYMENT_ID = '019e35ce-b600-7c21-9b5e-0d1f5a7c9e42';

export const CREATE_BODY: CreatePaymentBody = {
  amount: 5000,
  customerReferenceId: 'order-1001',
};

export const PENDING_PAYMENT: PaymentObject = {
  object: 'payment_prompt',
  id: PAYMENT_ID,
  amount: 5000,
  commissionAmount: null,
  commissionPayer: 'merchant',
  settlementModel: 'split',
  status: 'pending',
  sessionStatus: 'pending',
  blockchainId: null,
  tokenAmount: null,
  transactionHash: null,
  paidAt: null,
  expiresAt: '2026-05-17T13:00:00.000Z',
  createdAt: '2026-05-17T12:00:00.000Z',
  redirectUrl: null,
  customerReferenceId: 'order-1001',
  cancellationReason: null,
  lastError: null,
};

export const SUCCESSFUL_PAYMENT: PaymentObject = {
  ...PENDING_PAYMENT,
  commissionAmount: 50,
  status: 'successful',
  sessionStatus: 'completed',
  blockchainId: 'eth-usdc',
  tokenAmount: '50.000137',
  transactionHash: '0x8f0c7d1f3b5a49e2c6d8b1a07e9f4c3d2b6a5988776655443322110fedcba987',
  paidAt: '2026-05-17T12:04:31.000Z',
  expiresAt: '2026-05-17T12:32:10.000Z',
};

export const CREATED: CreatePaymentResponse = {
  prompt: PENDING_PAYMENT,
  checkoutUrl: `${EXAMPLE_BASE}${CHECKOUT_PREFIX}/q1sWb0F3Yx9Zk2N7uVtR5cJ8hL4mEoPdAiGgTzXyC6w`,
};

export const PAYMENT_LIST: PaymentList = {
  object: 'list',
  data: [SUCCESSFUL_PAYMENT],
  hasMore: false,
};

export const ACTIVE_BLOCKCHAINS: readonly Blockchain[] = [
  {
    object: 'blockchain',
    id: 'btc',
    name: 'Bitcoin Mainnet',
    isActive: true,
    assetSymbol: 'BTC',
    assetName: 'Bitcoin',
  },
  {
    object: 'blockchain',
    id: 'eth-usdc',
    name: 'Ethereum Mainnet',
    isActive: true,
    assetSymbol: 'USDC',
    assetName: 'USD Coin',
  },
];

/** The event in all examples of the documentation. */
export const EVENT_ID = '019e35d2-d8d8-7f60-8a4e-2b6d9c1f0e35';

export const RECORDED_EVENT: RecordedEvent = {
  id: EVENT_ID,
  object: 'event',
  type: 'payment_prompt.successful',
  createdAt: '2026-05-17T12:04:31.000Z',
  data: { ...SUCCESSFUL_PAYMENT, externalId: null },
  deliveries: [
    {
      id: '019e35d2-d8d8-7a11-b3c4-5d6e7f809102',
      endpointId: '019e2f10-4c00-7b52-8d3e-6f708192a3b4',
      status: 'pending',
      redeliveryOf: null,
      createdAt: '2026-05-17T12:04:31.000Z',
      nextAttemptAt: '2026-05-17T12:09:38.000Z',
      attempts: [
        { at: '2026-05-17T12:04:31.020Z', durationMs: 84, statusCode: 503, error: null },
        {
          at: '2026-05-17T12:04:36.410Z',
          durationMs: 12,
          statusCode: null,
          error: 'connect ECONNREFUSED 203.0.113.7:443',
        },
      ],
    },
  ],
};

export const EVENT_LIST: EventList = { object: 'list', data: [RECORDED_EVENT], hasMore: false };

export const SIMULATED: SimulationResult = {
  object: 'simulation',
  payment: { ...SUCCESSFUL_PAYMENT, blockchainId: 'eth-usdc-test' },
  waits: null,
};

export const SIMULATED_EXPIRY: SimulationResult = {
  object: 'simulation',
  payment: { ...PENDING_PAYMENT, status: 'expired', sessionStatus: 'expired' },
  waits: null,
};
