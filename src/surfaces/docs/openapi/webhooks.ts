import { ATTEMPT_TIMEOUT_MS } from '#payments/webhooks/send.ts';
import {
  type DepositEvent,
  EVENT_TYPES,
  type Event,
  type EventType,
  PAYMENT_EVENT_TYPES,
  type PaymentEvent,
  type PaymentEventType,
} from '#schemas/event.ts';
import { TAGS } from '../../api/operation.ts';
import { PENDING_PAYMENT, SUCCESSFUL_PAYMENT } from '../../api/v1/examples.ts';
import type { OperationObject, Parameter, PathItem } from './document.ts';

const MEANINGS: Readonly<Record<EventType, string>> = {
  'payment_prompt.created': 'A payment was created.',
  'payment_prompt.detected': 'Enough funds were seen, but they are not final yet.',
  'payment_prompt.successful': 'The funds are final. The payment is paid.',
  'payment_prompt.unsuccessful':
    'The transaction failed, or the time ran out after an underpayment.',
  'payment_prompt.expired': 'The time ran out without a payment.',
  'payment_prompt.cancelled': 'The payment was cancelled before any funds were seen.',
  'payment_prompt.deposit_unmatched':
    'A transfer to one of your addresses is final, and no payment took it. Only endpoints that name this type get it.',
};

/** What an event of the type means. */
export function meaningOf(type: EventType): string {
  return MEANINGS[type];
}

const EVENT_ID = '019e35d2-d4f8-7a3c-b1e6-5f7d9b0c2e48';

/** The example event of the documentation. */
export const EVENT_EXAMPLE: PaymentEvent = paymentEvent('payment_prompt.successful');

/** The example event of a deposit. */
export const DEPOSIT_EVENT_EXAMPLE: DepositEvent = {
  id: '019e35d9-1a40-7c52-a8d3-2f6b4e0c9d17',
  object: 'event',
  type: 'payment_prompt.deposit_unmatched',
  createdAt: '2026-05-17T12:09:20.000Z',
  data: {
    id: '019e35d6-5c20-7e81-9b04-8a1d3f5c7e62',
    blockchainId: 'eth-usdc',
    transactionHash: '0x1d2c3b4a5968778695a4b3c2d1e0f0e1d2c3b4a5968778695a4b3c2d1e0f0e1d',
    address: '0x52908400098527886E0F7030069857D2E4169EE7',
    tokenAmount: '49.5',
    outcome: 'ambiguous',
    observedAt: '2026-05-17T12:06:50.000Z',
    payments: [{ id: PENDING_PAYMENT.id, tokenAmount: '50.000137' }],
  },
};

function eventOf(type: EventType): Event {
  return type === DEPOSIT_EVENT_EXAMPLE.type ? DEPOSIT_EVENT_EXAMPLE : paymentEvent(type);
}

function paymentEvent(type: PaymentEventType): PaymentEvent {
  const payment =
    type === 'payment_prompt.successful'
      ? SUCCESSFUL_PAYMENT
      : { ...PENDING_PAYMENT, ...STATES[type] };
  const createdAt = payment.paidAt ?? payment.createdAt;
  return {
    id: EVENT_ID,
    object: 'event',
    type,
    createdAt,
    data: { ...payment, externalId: null },
  };
}

const STATES: Readonly<
  Record<Exclude<PaymentEventType, 'payment_prompt.successful'>, Partial<PaymentEvent['data']>>
> = {
  'payment_prompt.created': {},
  'payment_prompt.detected': {
    sessionStatus: 'completed',
    commissionAmount: SUCCESSFUL_PAYMENT.commissionAmount,
    blockchainId: SUCCESSFUL_PAYMENT.blockchainId,
    tokenAmount: SUCCESSFUL_PAYMENT.tokenAmount,
    transactionHash: SUCCESSFUL_PAYMENT.transactionHash,
  },
  'payment_prompt.unsuccessful': { status: 'unsuccessful', sessionStatus: 'completed' },
  'payment_prompt.expired': { status: 'expired', sessionStatus: 'expired' },
  'payment_prompt.cancelled': { status: 'cancelled', sessionStatus: 'cancelled' },
};

const HEADERS: readonly Parameter[] = [
  {
    name: 'webhook-id',
    description: 'ID of the event, the same in every delivery of it. Use it to deduplicate.',
    schema: { type: 'string', format: 'uuid' },
  },
  {
    name: 'webhook-timestamp',
    description: 'Unix time in seconds at which this attempt was signed.',
    schema: { type: 'string' },
  },
  {
    name: 'webhook-signature',
    description:
      'One signature or, after a rotation of the secret, two separated by a space: `v1,` and base64 of HMAC-SHA256 over `id.timestamp.body`.',
    schema: { type: 'string' },
  },
].map(({ name, ...header }) => ({ in: 'header', name, required: true, ...header }));

/** An OpenAPI webhook for each type of event. */
export const WEBHOOKS: Readonly<Record<string, PathItem>> = Object.fromEntries(
  EVENT_TYPES.map(type => [type, { post: describe(type) }]),
);

function isOfPayment(type: EventType): boolean {
  return PAYMENT_EVENT_TYPES.some(each => each === type);
}

function capitalized(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}

function describe(type: EventType): OperationObject {
  const [, name = ''] = type.split('.');
  return {
    operationId: `payment${name.split('_').map(capitalized).join('')}`,
    tags: [TAGS.webhooks.name],
    summary: type,
    description: MEANINGS[type],
    security: [],
    parameters: [...HEADERS],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: {
            allOf: [
              { $ref: `#/components/schemas/${isOfPayment(type) ? 'Event' : 'DepositEvent'}` },
              { type: 'object', properties: { type: { type: 'string', const: type } } },
            ],
          },
          example: eventOf(type),
        },
      },
    },
    responses: {
      '2XX': { description: `Received. Respond within ${ATTEMPT_TIMEOUT_MS / 1000} seconds.` },
      '410': {
        description: 'The endpoint is gone. The service disables it until an operator enables it.',
      },
      '4XX': { description: 'Not received. The service retries the delivery later.' },
      '5XX': { description: 'Not received. The service retries the delivery later.' },
    },
  };
}
