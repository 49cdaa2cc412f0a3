import { type Static, Type } from '@sinclair/typebox';
import {
  EVENT_TYPES,
  eventEnvelope,
  type UnmatchedDeposit,
  UnmatchedDepositSchema,
} from './event.ts';
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAXIMUM } from './list-payments.ts';
import { type PaymentSnapshot, PaymentSnapshotSchema } from './payment.ts';
import { Closed, DateBound, Nullable, StringEnum, Timestamp, Uuid } from './scalars.ts';

export const DELIVERY_STATUSES = [
  'pending',
  'succeeded',
  'failed',
  'cancelled',
  'withheld',
] as const;

/** Maximum number of deliveries shown per event. */
export const DELIVERIES_SHOWN = 10;

export const EVENT_ORDERS = ['newest', 'oldest'] as const;

export const ListEventsQuerySchema = Closed({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: PAGE_SIZE_MAXIMUM,
      default: PAGE_SIZE_DEFAULT,
      description: 'Events per page.',
    }),
  ),
  order: Type.Optional(
    StringEnum(EVENT_ORDERS, 'Which events come first: the `newest`, unless `oldest` is given.'),
  ),
  startingAfter: Type.Optional(Uuid('Cursor: events that the list has after this one.')),
  endingBefore: Type.Optional(Uuid('Cursor: events that the list has before this one.')),
  type: Type.Optional(StringEnum(EVENT_TYPES, 'Only events of this type.')),
  paymentId: Type.Optional(Uuid('Only events of this payment.')),
  startDate: Type.Optional(DateBound('Happened at this instant or later.')),
  endDate: Type.Optional(
    DateBound('Happened at this instant or earlier; a date alone means that whole UTC day.'),
  ),
  delivered: Type.Optional(
    Type.Unsafe<false>({
      type: 'boolean',
      enum: [false],
      description:
        'Only events that an endpoint has not taken: the delivery to it waits, has failed, or was cancelled or withheld, and it has not succeeded by hand since. Events without a delivery are left out.',
    }),
  ),
});

const AttemptSchema = Closed({
  at: Timestamp('When the request was sent.'),
  durationMs: Type.Integer({ description: 'How long it took, in milliseconds.' }),
  statusCode: Nullable(Type.Integer({ description: 'Status of the response; null without one.' })),
  error: Nullable(Type.String({ description: 'Why there was no response.' })),
});

export const EventDeliverySchema = Closed({
  id: Uuid('ID of the delivery.'),
  endpointId: Uuid('ID of the endpoint.'),
  status: StringEnum(
    DELIVERY_STATUSES,
    '`pending`: waits for its next attempt. `failed`: every attempt failed. `cancelled`: the endpoint was disabled. `withheld`: the event is from a time that a restored database has lost.',
  ),
  redeliveryOf: Nullable(Uuid('The delivery that this one repeats by hand.')),
  createdAt: Timestamp('When the delivery was made.'),
  nextAttemptAt: Nullable(Timestamp('When it is tried next.')),
  attempts: Type.Array(AttemptSchema, { description: 'Oldest first.' }),
});

const data = Type.Unsafe<PaymentSnapshot | UnmatchedDeposit>({
  oneOf: [PaymentSnapshotSchema, UnmatchedDepositSchema],
  description:
    'The payment at the event, or the deposit of a `payment_prompt.deposit_unmatched`; exactly what the webhooks carry.',
});

/** An event and its deliveries. Webhooks carry the same without `deliveries`. */
export const RecordedEventSchema = Closed({
  ...eventEnvelope(EVENT_TYPES, data).properties,
  deliveries: Type.Array(EventDeliverySchema, {
    description: `Newest first, at most ${DELIVERIES_SHOWN}; empty if no enabled endpoint was subscribed to the type.`,
  }),
});

export const EventListSchema = Closed({
  object: Type.Literal('list'),
  data: Type.Array(RecordedEventSchema, {
    description: 'In the requested order, with either cursor.',
  }),
  hasMore: Type.Boolean({
    description: 'Whether there are more events in the requested direction.',
  }),
});

export const EventParamsSchema = Closed({ id: Uuid('ID of the event.') });

export type ListEventsQuery = Static<typeof ListEventsQuerySchema>;
export type EventDelivery = Static<typeof EventDeliverySchema>;
export type RecordedEvent = Static<typeof RecordedEventSchema>;
export type EventList = Static<typeof EventListSchema>;
