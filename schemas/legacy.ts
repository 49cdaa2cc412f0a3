import { type Static, Type } from '@sinclair/typebox';
import { BLOCKCHAIN_IDS, BlockchainIdSchema } from './blockchain.ts';
import {
  AMOUNT_MAXIMUM_CENTS,
  AMOUNT_MINIMUM_CENTS,
  NOTE_MAXIMUM,
  REDIRECT_URL_MAXIMUM,
} from './create-payment.ts';
import { PAYMENT_STATUSES, SESSION_STATUSES } from './payment.ts';
import { Nullable, StringEnum, Timestamp, Uuid } from './scalars.ts';

const CENTS_PER_DOLLAR = 100;

/** Body of the older contract's creation; what it does not name is let pass. */
export const LegacyPromptBodySchema = Type.Object({
  amount: Type.Number({
    minimum: AMOUNT_MINIMUM_CENTS / CENTS_PER_DOLLAR,
    maximum: AMOUNT_MAXIMUM_CENTS / CENTS_PER_DOLLAR,
    format: 'dollars',
    description: 'USD dollars with at most two decimals.',
  }),
  blockchainIds: Type.Array(BlockchainIdSchema, {
    minItems: 1,
    maxItems: BLOCKCHAIN_IDS.length,
    description: 'Networks to offer.',
  }),
  payer: StringEnum(['merchant', 'customer'], 'Who bears the commission of this payment.'),
  note: Type.Optional(Nullable(Type.String({ maxLength: NOTE_MAXIMUM }))),
  redirectUrl: Type.Optional(Nullable(Type.String({ maxLength: REDIRECT_URL_MAXIMUM }))),
});

export const LegacyCreatedSchema = Type.Object(
  {
    prompt: Type.Object(
      {
        id: Uuid('ID of the prompt.'),
        amount: Type.Number({ description: 'USD dollars.' }),
        commissionAmount: Type.String({ description: 'USD dollars with two decimals.' }),
        status: StringEnum(PAYMENT_STATUSES, '`pending` until one of the other, final values.'),
        sessionStatus: StringEnum(SESSION_STATUSES, 'Where the checkout stands.'),
        expiresAt: Timestamp('24 hours after creation.'),
        createdAt: Timestamp('When the prompt was created.'),
        redirectUrl: Nullable(Type.String({ description: 'As given at creation.' })),
      },
      { additionalProperties: false },
    ),
    checkoutUrl: Type.String({ description: 'Send the customer here.' }),
  },
  { additionalProperties: false },
);

export const LegacyPromptSchema = Type.Object(
  {
    id: Uuid('ID of the prompt.'),
    blockchainId: Nullable(Type.String({ description: 'The network the customer chose.' })),
    status: StringEnum(PAYMENT_STATUSES, '`pending` until one of the other, final values.'),
    createdAt: Timestamp('When the prompt was created.'),
  },
  { additionalProperties: false },
);

/** Every failure of the older contract. */
export const LegacyErrorSchema = Type.Object(
  {
    statusCode: Type.Integer({ description: 'The HTTP status.' }),
    message: Type.String({ description: 'All that tells one failure from another.' }),
    error: Type.String({ description: "The status's name." }),
  },
  { additionalProperties: false },
);

export type LegacyPromptBody = Static<typeof LegacyPromptBodySchema>;
export type LegacyCreated = Static<typeof LegacyCreatedSchema>;
export type LegacyPrompt = Static<typeof LegacyPromptSchema>;
