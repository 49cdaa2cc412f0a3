import type { LegacyCreated, LegacyPrompt, LegacyPromptBody } from '#schemas/legacy.ts';
import type { Operation } from '../../api/operation.ts';
import { ACTIVE_BLOCKCHAINS, CREATED, PAYMENT_ID } from '../../api/v1/examples.ts';

const BODY: LegacyPromptBody = {
  amount: 19.99,
  blockchainIds: ['btc', 'eth'],
  payer: 'merchant',
};

const CREATED_PROMPT: LegacyCreated = {
  prompt: {
    id: PAYMENT_ID,
    amount: 19.99,
    commissionAmount: '0.00',
    status: 'pending',
    sessionStatus: 'pending',
    expiresAt: '2026-05-18T12:00:00.000Z',
    createdAt: '2026-05-17T12:00:00.000Z',
    redirectUrl: null,
  },
  checkoutUrl: CREATED.checkoutUrl,
};

const PROMPT: LegacyPrompt = {
  id: PAYMENT_ID,
  blockchainId: 'eth',
  status: 'successful',
  createdAt: '2026-05-17T12:00:00.000Z',
};

export const CREATE_PROMPT: Operation = {
  id: 'createPrompt',
  tag: 'older',
  summary: 'Create a prompt',
  description: 'Creates a payment with an amount in dollars. Use `createPayment` instead.',
  example: { body: BODY, response: CREATED_PROMPT },
};

export const READ_PROMPT: Operation = {
  id: 'readPrompt',
  tag: 'older',
  summary: 'Read a prompt',
  description: 'Reads four fields of a payment. Use `readPayment` instead.',
  example: { params: { id: PAYMENT_ID }, response: PROMPT },
};

export const LIST_BLOCKCHAINS: Operation = {
  id: 'listBlockchains',
  tag: 'older',
  summary: 'List active networks',
  description: 'The networks that the platform offers now. Use `listActiveBlockchains` instead.',
  example: { response: ACTIVE_BLOCKCHAINS },
};
