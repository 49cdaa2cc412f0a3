import { type Static, Type } from '@sinclair/typebox';
import { Closed, StringEnum, Timestamp } from './scalars.ts';

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

/** What the script of a checkout page polls to learn whether the page is still current. */
export const CheckoutStatusSchema = Closed({
  object: Type.Literal('checkout_status'),
  stage: StringEnum(CHECKOUT_STAGES, 'Stage of the payment on the checkout page.'),
  revision: Type.String({ description: 'Changes whenever the content of the page changes.' }),
  expiresAt: Timestamp('When the payment expires.'),
  serverTime: Timestamp("Server time, for a countdown independent of the customer's clock."),
});

export type CheckoutStatus = Static<typeof CheckoutStatusSchema>;
