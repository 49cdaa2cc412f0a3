import { type Static, Type } from '@sinclair/typebox';
import { BLOCKCHAIN_IDS, BlockchainIdSchema } from './blockchain.ts';
import {
  AMOUNT_MAXIMUM_CENTS,
  AMOUNT_MINIMUM_CENTS,
  NOTE_MAXIMUM,
  REDIRECT_URL_MAXIMUM,
} from './create-payment.ts';
import { PaymentStatusSchema, SESSION_STATUSES } from './payment.ts';
import { Closed, Nullable, StringEnum, Timestamp, Uuid } from './scalars.ts';

const CENTS_PER_DOLLAR = 100;

/** Body of a creation in the older contract. Unknown fields are ignored. */
export const LegacyPromptBodySchema = Type.Object({
  amount: Type.Number({
    minimum: AMOUNT_MINIMUM_CENTS / CENTS_PER_DOLLAR,
    maximum: AMOUNT_MAXIMUM_CENTS / CENTS_PER_DOLLAR,
    format: 'dollars',
    description: 'US dollars with at most two decimals.',
  }),
  blockchainIds: Type.Array(BlockchainIdSchema, {
    minItems: 1,
    maxItems: BLOCKCHAIN_IDS.length,
    description: 'Networks to offer.',
  }),
  payer: StringEnum(['merchant', 'customer'], 'Who pays the commission of this payment.'),
  note: Type.Optional(Nullable(Type.String({ maxLength: NOTE_MAXIMUM }))),
  redirectUrl: Type.Optional(Nullable(Type.String({ maxLength: REDIRECT_URL_MAXIMUM }))),
});

export const LegacyCreatedSchema = Closed({
  prompt: Closed({
    id: Uuid('ID of the prompt.'),
    amount: Type.Number({ description: 'US dollars.' }),
    commissionAmount: Type.String({ description: 'US dollars with two decimals.' }),
    status: PaymentStatusSchema,
    sessionStatus: StringEnum(SESSION_STATUSES, 'State of the checkout.'),
    expiresAt: Timestamp('24 hours after creation.'),
    createdAt: Timestamp('When the prompt was created.'),
    redirectUrl: Nullable(Type.String({ description: 'As given at creation.' })),
  }),
  checkoutUrl: Type.String({ description: 'URL to send the customer to.' }),
});

export const LegacyPromptSchema = Closed({
  id: Uuid('ID of the prompt.'),
  blockchainId: Nullable(Type.String({ description: 'The network the customer chose.' })),
  status: PaymentStatusSchema,
  createdAt: Timestamp('When the prompt was created.'),
});

/** Body of every error in the older contract. */
export const LegacyErrorSchema = Closed({
  statusCode: Type.Integer({ description: 'The HTTP status.' }),
  message: Type.String({
    description:
      'Text of the error. The contract has no error codes: only this text tells errors apart.',
  }),
  error: Type.String({ description: 'Reason phrase of the status, for example `Bad Request`.' }),
});

export type LegacyPromptBody = Static<typeof LegacyPromptBodySchema>;
export type LegacyCreated = Static<typeof LegacyCreatedSchema>;
export type LegacyPrompt = Static<typeof LegacyPromptSchema>;
