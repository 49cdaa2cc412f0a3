import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { DEPOSIT_EVENT_TYPES, PAYMENT_EVENT_TYPES } from './event-types.ts';
import { PaymentSnapshotSchema } from './payment.ts';
import { Closed, Nullable, StringEnum, Timestamp, Uuid } from './scalars.ts';

export {
  DEPOSIT_EVENT_TYPES,
  type DepositEventType,
  EVENT_TYPES,
  type EventType,
  PAYMENT_EVENT_TYPES,
  type PaymentEventType,
} from './event-types.ts';

/** Why no payment took a deposit. */
export const UNMATCHED_OUTCOMES = [
  'ambiguous',
  'duplicate',
  'late',
  'over',
  'superseded',
  'under',
  'unknown',
  'untraceable',
] as const;

/** A deposit that no payment took, as it was when it became final. */
export const UnmatchedDepositSchema = Closed({
  id: Uuid('ID of the deposit.'),
  blockchainId: Type.String({ description: 'Network of the transfer.' }),
  transactionHash: Nullable(
    Type.String({ description: 'Transaction of the transfer; null if it is `untraceable`.' }),
  ),
  address: Type.String({ description: 'Address of yours that received it.' }),
  tokenAmount: Type.String({ description: 'What arrived, as a decimal string of the asset.' }),
  outcome: StringEnum(
    UNMATCHED_OUTCOMES,
    '`ambiguous`: several payments were open at the address. `duplicate`: its payment has its funds already. `late`: its payment has ended. `over`: far more than the payment asks for. `superseded`: it is for what an open payment asked for before another quote. `under`: neither the whole amount nor the rest that the payment waits for. `unknown`: no payment asks for it. `untraceable`: a contract has sent it, and no node of the operator’s can tell in which transaction; `id` is that of the operator’s finding.',
  ),
  observedAt: Timestamp('When the transfer was first seen.'),
  payments: Type.Array(
    Closed({
      id: Uuid('ID of the payment.'),
      tokenAmount: Type.String({ description: 'What it waits for, as a decimal string.' }),
    }),
    { description: 'Your open payments at the address, the closest amount first; at most 5.' },
  ),
});

export type UnmatchedDeposit = Static<typeof UnmatchedDepositSchema>;

/** The fields that events of all types have, around their `data`. */
export function eventEnvelope<const T extends readonly string[], D extends TSchema>(
  types: T,
  data: D,
) {
  return Closed({
    id: Uuid('ID of the event, the same in all its deliveries.'),
    object: Type.Literal('event'),
    type: StringEnum(types, 'Type of the event.'),
    createdAt: Timestamp('When the event happened.'),
    data,
  });
}

/** The body of a webhook about a payment. */
export const EventSchema = eventEnvelope(PAYMENT_EVENT_TYPES, PaymentSnapshotSchema);

/** The body of a webhook about a deposit. */
export const DepositEventSchema = eventEnvelope(DEPOSIT_EVENT_TYPES, UnmatchedDepositSchema);

export type PaymentEvent = Static<typeof EventSchema>;
export type DepositEvent = Static<typeof DepositEventSchema>;
/** The body of a webhook. */
export type Event = PaymentEvent | DepositEvent;
