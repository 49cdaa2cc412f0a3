import { type Static, Type } from '@sinclair/typebox';
import { Nullable, StringEnum, Timestamp, Uuid } from './scalars.ts';

export const PAYMENT_STATUSES = [
  'pending',
  'successful',
  'unsuccessful',
  'expired',
  'cancelled',
] as const;

export const SESSION_STATUSES = ['pending', 'cancelled', 'expired', 'completed'] as const;

export const PaymentStatusSchema = StringEnum(
  PAYMENT_STATUSES,
  '`pending` until one of the other, final values.',
);

export const PaymentSchema = Type.Object(
  {
    object: Type.Literal('payment_prompt'),
    id: Uuid('ID of the payment.'),
    amount: Type.Integer({ description: 'USD cents.' }),
    commissionAmount: Nullable(
      Type.Integer({ description: 'USD cents; null until determined, 0 for direct settlement.' }),
    ),
    commissionPayer: StringEnum(['merchant', 'shopper'], 'Who bears the commission.'),
    settlementModel: Nullable(
      StringEnum(
        ['split', 'direct'],
        'Whether a commission is split off, or all goes straight to the merchant; null on US merchant accounts.',
      ),
    ),
    status: PaymentStatusSchema,
    sessionStatus: Nullable(
      StringEnum(
        SESSION_STATUSES,
        'Where the checkout stands; `completed` as soon as enough funds are seen.',
      ),
    ),
    blockchainId: Nullable(
      Type.String({ description: 'The network the customer chose; null on US merchant accounts.' }),
    ),
    tokenAmount: Nullable(
      Type.String({ description: 'Amount of the asset as a decimal string, never a float.' }),
    ),
    transactionHash: Nullable(
      Type.String({ description: 'On-chain hash, or the reference the processor reported.' }),
    ),
    paidAt: Nullable(Timestamp('When the payment was confirmed.')),
    expiresAt: Timestamp('When a payment that has not been paid expires.'),
    createdAt: Timestamp('When the payment was created.'),
    redirectUrl: Nullable(Type.String({ description: 'As given at creation.' })),
    customerReferenceId: Nullable(Type.String({ description: 'As given at creation.' })),
    cancellationReason: Nullable(Type.String({ description: 'Why it was cancelled.' })),
    lastError: Nullable(
      Type.Object(
        {
          code: Type.String({ description: 'What went wrong, for example `amount_underpaid`.' }),
          message: Type.String({ description: 'Developer-facing text.' }),
          occurredAt: Timestamp('When it happened.'),
        },
        { additionalProperties: false, description: 'Diagnostic detail of the latest failure.' },
      ),
    ),
  },
  { additionalProperties: false },
);

/** The payment as events tell it. */
export const PaymentSnapshotSchema = Type.Object(
  {
    ...PaymentSchema.properties,
    externalId: Nullable(
      Type.String({ description: "The regulated processor's reference; null on chain." }),
    ),
  },
  { additionalProperties: false },
);

export type PaymentObject = Static<typeof PaymentSchema>;
export type PaymentSnapshot = Static<typeof PaymentSnapshotSchema>;
