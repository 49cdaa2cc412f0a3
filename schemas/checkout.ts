import { type Static, Type } from '@sinclair/typebox';
import { StringEnum, Timestamp } from './scalars.ts';

export const CHECKOUT_STAGES = [
  'choose',
  'waiting',
  'overdue',
  'confirming',
  'paid',
  'unsuccessful',
  'expired',
  'cancelled',
] as const;

/** What a checkout page polls: whether it still shows what there is to see. */
export const CheckoutStatusSchema = Type.Object(
  {
    object: Type.Literal('checkout_status'),
    stage: StringEnum(CHECKOUT_STAGES, 'What the customer sees of the payment.'),
    revision: Type.String({ description: 'Another value: the page shows something else now.' }),
    expiresAt: Timestamp('Until when to pay.'),
    serverTime: Timestamp("For a countdown that does not depend on the customer's clock."),
  },
  { additionalProperties: false },
);

export type CheckoutStatus = Static<typeof CheckoutStatusSchema>;
