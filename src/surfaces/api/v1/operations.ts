import { BLOCKCHAIN_IDS } from '#schemas/blockchain.ts';
import type { Operation } from '../operation.ts';
import {
  ACTIVE_BLOCKCHAINS,
  CREATE_BODY,
  CREATED,
  EVENT_ID,
  EVENT_LIST,
  PAYMENT_ID,
  PAYMENT_LIST,
  RECORDED_EVENT,
  SIMULATED,
  SIMULATED_EXPIRY,
  SUCCESSFUL_PAYMENT,
} from './examples.ts';

export const CREATE_PAYMENT: Operation = {
  id: 'createPayment',
  tag: 'payments',
  summary: 'Create a payment',
  description: `Creates a payment prompt and returns the URL of the page to send the customer to.

Without \`blockchainIds\` the customer chooses among all offered networks that the merchant has a deposit address for. A list may contain any of the ${BLOCKCHAIN_IDS.length} supported networks that the merchant has an address for; the checkout shows those that are offered at the time.

Send an \`Idempotency-Key\` with every creation: a repeated request then gets the same response instead of creating a second payment. With a partner key, \`merchantId\` is the ID of one of the partner's active merchants.`,
  refusals: [
    'E1010',
    'E1011',
    'E1012',
    'E1020',
    'E1030',
    'E1040',
    'E2102',
    'E3001',
    'E4001',
    'E4002',
    'E4003',
  ],
  idempotent: true,
  example: { body: CREATE_BODY, response: CREATED },
};

export const READ_PAYMENT: Operation = {
  id: 'readPayment',
  tag: 'payments',
  summary: 'Read a payment',
  description:
    'Reads one payment of the account. Only this proves how the payment ended; a redirect back to your site does not.',
  example: { params: { id: PAYMENT_ID }, response: SUCCESSFUL_PAYMENT },
};

export const LIST_PAYMENTS: Operation = {
  id: 'listPayments',
  tag: 'payments',
  summary: 'List payments',
  description: `Payments of the account, newest first.

For the next page, pass the last \`id\` as \`startingAfter\` while \`hasMore\` is true. For newer payments, pass the first \`id\` as \`endingBefore\`. Only one of the two is allowed. A cursor that is not one of the account's payments is refused with E3001.`,
  refusals: ['E3001'],
  example: {
    query: {
      limit: 10,
      status: 'successful',
      customerReferenceId: 'order-1001',
      createdAfter: '2026-05-01',
      createdBefore: '2026-06-01T00:00:00Z',
    },
    response: PAYMENT_LIST,
  },
};

export const LIST_EVENTS: Operation = {
  id: 'listEvents',
  tag: 'events',
  summary: 'List events',
  description: `Events of the account, whether or not an endpoint was subscribed to them, with what became of their webhooks. \`data\` is byte by byte what the webhooks carry.

Pages work as those of payments; a cursor that is removed with its age is still a place in the list. For what has happened since the last event that you have processed, pass \`order=oldest\` and the time a minute before it as \`startDate\`, and skip the \`id\`s that you have processed: events become readable in no exact order.`,
  refusals: ['E3001'],
  example: {
    query: { limit: 10, type: 'payment_prompt.successful', delivered: false },
    response: EVENT_LIST,
  },
};

export const READ_EVENT: Operation = {
  id: 'readEvent',
  tag: 'events',
  summary: 'Read an event',
  description: 'Reads one event of the account, with what became of its webhooks.',
  example: { params: { id: EVENT_ID }, response: RECORDED_EVENT },
};

export const LIST_ACTIVE_BLOCKCHAINS: Operation = {
  id: 'listActiveBlockchains',
  tag: 'networks',
  summary: 'List active networks',
  description:
    'The networks that the platform offers now. A merchant can accept payments on those that it has a deposit address for.',
  example: { response: ACTIVE_BLOCKCHAINS },
};

export const SIMULATE_PAYMENT: Operation = {
  id: 'simulatePayment',
  tag: 'testing',
  summary: 'Simulate what happens to a payment',
  description: `Plays a case on a payment of a test merchant, through the same code as a real customer and a real chain: transfers are matched, the payment moves, events are delivered. No node, coins or waiting are needed, also in production. Keys of a live merchant are refused with E2008: its payments can never be simulated there.

A payment without a network gets \`blockchainId\`, or the first one that it offers. If a transfer arrives that the payment does not take, as with \`late\` or \`duplicate\`, it waits for a decision in the panel; \`waits\` says why, if the payment is still open. On a US account the sandbox processor plays \`confirm\`, \`detect\`, \`fail\` and \`cancel\`. A case that the state does not allow is refused with E1040.`,
  refusals: ['E1040', 'E3001'],
  example: { params: { id: PAYMENT_ID }, body: { case: 'confirm' }, response: SIMULATED },
};

export const ADVANCE_CLOCK: Operation = {
  id: 'advanceClock',
  tag: 'testing',
  summary: 'Advance the clock of a payment',
  description:
    'Moves the time of one payment of a test merchant forward: its price lapses, it expires, and failed webhooks about it are due again. What has happened keeps its time, and no other payment is affected.',
  refusals: ['E1040', 'E3001'],
  example: { params: { id: PAYMENT_ID }, body: { seconds: 3600 }, response: SIMULATED_EXPIRY },
};
