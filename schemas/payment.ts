import { type Static, Type } from '@sinclair/typebox';
import { Closed, Nullable, StringEnum, Timestamp, Uuid } from './scalars.ts';

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
  '`pending` until the payment ends; all other values are final.',
);

export const PaymentSchema = Closed({
  object: Type.Literal('payment_prompt'),
  id: Uuid('ID of the payment.'),
  amount: Type.Integer({ description: 'USD cents.' }),
  commissionAmount: Nullable(
    Type.Integer({ description: 'USD cents. Null until determined, 0 for direct settlement.' }),
  ),
  commissionPayer: StringEnum(['merchant', 'shopper'], 'Who pays the commission.'),
  settlementModel: Nullable(
    StringEnum(
      ['split', 'direct'],
      '`split`: a commission is deducted. `direct`: the merchant gets the full amount. Null on US merchant accounts.',
    ),
  ),
  status: PaymentStatusSchema,
  sessionStatus: Nullable(
    StringEnum(
      SESSION_STATUSES,
      'State of the checkout; `completed` as soon as enough funds have been seen.',
    ),
  ),
  blockchainId: Nullable(
    Type.String({
      description: 'The network that the customer chose. Null before, and on US merchant accounts.',
    }),
  ),
  tokenAmount: Nullable(Type.String({ description: 'Amount of the asset as a decimal string.' })),
  transactionHash: Nullable(
    Type.String({ description: 'On-chain hash, or the reference that the processor reported.' }),
  ),
  paidAt: Nullable(Timestamp('When the payment was confirmed.')),
  expiresAt: Timestamp('When the payment expires unless it is paid.'),
  createdAt: Timestamp('When the payment was created.'),
  redirectUrl: Nullable(Type.String({ description: 'As given at creation.' })),
  customerReferenceId: Nullable(Type.String({ description: 'As given at creation.' })),
  cancellationReason: Nullable(Type.String({ description: 'Why the payment was cancelled.' })),
  lastError: Nullable(
    Closed(
      {
        code: Type.String({ description: 'What went wrong, for example `amount_underpaid`.' }),
        message: Type.String({ description: 'Developer-facing text.' }),
        occurredAt: Timestamp('When it happened.'),
      },
      { description: 'Diagnostic detail of the latest failure.' },
    ),
  ),
});

/** The payment as events carry it. */
export const PaymentSnapshotSchema = Closed({
  ...PaymentSchema.properties,
  externalId: Nullable(
    Type.String({
      description: "The regulated processor's reference. Null for on-chain payments.",
    }),
  ),
});

export type PaymentObject = Static<typeof PaymentSchema>;
export type PaymentSnapshot = Static<typeof PaymentSnapshotSchema>;
