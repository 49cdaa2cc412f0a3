import { type Static, Type } from '@sinclair/typebox';
import { BLOCKCHAIN_IDS } from './blockchain.ts';
import { PaymentSchema } from './payment.ts';
import { Closed, StringEnum } from './scalars.ts';
import { SIMULATION_CASES } from './simulation-cases.ts';

export const SimulatePaymentBodySchema = Closed({
  case: StringEnum(SIMULATION_CASES, 'What the customer and the chain, or the processor, do.'),
  blockchainId: Type.Optional(
    StringEnum(BLOCKCHAIN_IDS, 'Network to choose if the customer has chosen none.'),
  ),
});

/** Longest time that a clock is advanced by at once, in seconds: past every deadline of a payment and its webhooks. */
const ADVANCE_MAXIMUM = 30 * 24 * 60 * 60;

export const AdvanceClockBodySchema = Closed({
  seconds: Type.Integer({
    minimum: 1,
    maximum: ADVANCE_MAXIMUM,
    description: 'By how much the time of the payment is moved forward.',
  }),
});

export const SimulationSchema = Closed({
  object: Type.Literal('simulation'),
  payment: PaymentSchema,
  waits: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description:
      'Why the payment waits although a transfer has arrived, which then waits for a decision in the panel.',
  }),
});

export type SimulatePaymentBody = Static<typeof SimulatePaymentBodySchema>;
export type AdvanceClockBody = Static<typeof AdvanceClockBodySchema>;
export type SimulationResult = Static<typeof SimulationSchema>;
