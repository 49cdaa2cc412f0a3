/** Types of the events of a payment. */
export const PAYMENT_EVENT_TYPES = [
  'payment_prompt.created',
  'payment_prompt.detected',
  'payment_prompt.successful',
  'payment_prompt.unsuccessful',
  'payment_prompt.expired',
  'payment_prompt.cancelled',
] as const;

/** Types of the events of a deposit. */
export const DEPOSIT_EVENT_TYPES = ['payment_prompt.deposit_unmatched'] as const;

/** Types of the events that webhooks deliver. */
export const EVENT_TYPES = [...PAYMENT_EVENT_TYPES, ...DEPOSIT_EVENT_TYPES] as const;

export type PaymentEventType = (typeof PAYMENT_EVENT_TYPES)[number];
export type DepositEventType = (typeof DEPOSIT_EVENT_TYPES)[number];
export type EventType = (typeof EVENT_TYPES)[number];
