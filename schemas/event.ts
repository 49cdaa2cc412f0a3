import { type Static, Type } from '@sinclair/typebox';
import { PaymentSnapshotSchema } from './payment.ts';
import { StringEnum, Timestamp, Uuid } from './scalars.ts';

/** Types of the events that webhooks deliver. */
export const EVENT_TYPES = [
  'payment_prompt.created',
  'payment_prompt.detected',
  'payment_prompt.successful',
  'payment_prompt.unsuccessful',
  'payment_prompt.expired',
  'payment_prompt.cancelled',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** The body of a webhook. */
export const EventSchema = Type.Object(
  {
    id: Uuid('ID of the event, the same in all its deliveries.'),
    object: Type.Literal('event'),
    type: StringEnum(EVENT_TYPES, 'Type of the event.'),
    createdAt: Timestamp('When the event happened.'),
    data: PaymentSnapshotSchema,
  },
  { additionalProperties: false },
);

export type Event = Static<typeof EventSchema>;
