/** Everything a merchant is told of a payment. */
export const EVENT_TYPES = [
  'payment_prompt.created',
  'payment_prompt.detected',
  'payment_prompt.successful',
  'payment_prompt.unsuccessful',
  'payment_prompt.expired',
  'payment_prompt.cancelled',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];
