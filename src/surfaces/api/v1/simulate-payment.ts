import type { FastifyReply, FastifyRequest } from 'fastify';
import { audited, OperationRefused, type Operator } from '#accounts/audit/audited-change.ts';
import { type AccessRule, LiveMerchantRefused } from '#accounts/keys/principal.ts';
import { ApiError } from '#errors/api-error.ts';
import { principalOf } from '#http/authentication.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { advanceClock } from '#onchain/settlement/advance-clock.ts';
import { simulate } from '#onchain/settlement/simulate.ts';
import { whyItWaits } from '#onchain/settlement/unmatched-reasons.ts';
import { auditRefusal } from '#payments/may-simulate.ts';
import { toPaymentObject } from '#payments/payment-object.ts';
import { simulateRegulated } from '#payments/processors/simulate-regulated.ts';
import { EmptyQuerySchema, PaymentParamsSchema } from '#schemas/list-payments.ts';
import {
  AdvanceClockBodySchema,
  SimulatePaymentBodySchema,
  type SimulationResult,
  SimulationSchema,
} from '#schemas/simulate-payment.ts';
import { UUID } from '#schemas/uuid.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { findOwnPayment } from '#storage/repositories/payments/payments.ts';
import type { V1Dependencies } from './dependencies.ts';
import { ADVANCE_CLOCK, SIMULATE_PAYMENT } from './operations.ts';

/** Only test merchants: the payment's own row is asked once more, and so is the database. */
const ACCESS: AccessRule = {
  principals: ['merchant'],
  testOnly: true,
  scope: 'payment_prompts:write',
};

/**
 * POST /external/v1/test/payments/:id/simulate and /clock. They are not in the specified contract: a merchant's tests
 * play what a customer and a chain do.
 */
export function registerSimulatePayment(app: TypedApp, deps: V1Dependencies): void {
  const { db, clock, rates, sandbox } = deps;
  // Not that of the service: only a test merchant's payments are simulated here, whatever it does for others.
  const simulation = false;

  app.post(
    '/test/payments/:id/simulate',
    {
      onError,
      config: { access: ACCESS, operation: SIMULATE_PAYMENT },
      schema: {
        params: PaymentParamsSchema,
        querystring: EmptyQuerySchema,
        body: SimulatePaymentBodySchema,
        response: { 200: SimulationSchema },
      },
    },
    async request => {
      const { params, body } = request;
      const payment = await find(principalOf(request).accountId, params.id);
      const waits = await orConflict(() => play(payment, body.case, body.blockchainId));
      await audited(operatorOf(request), 'payment.simulate', async () => ({
        result: undefined,
        objectId: payment.id,
        detail: { case: body.case },
      }));
      return resultOf(payment, waits);
    },
  );

  app.post(
    '/test/payments/:id/clock',
    {
      onError,
      config: { access: ACCESS, operation: ADVANCE_CLOCK },
      schema: {
        params: PaymentParamsSchema,
        querystring: EmptyQuerySchema,
        body: AdvanceClockBodySchema,
        response: { 200: SimulationSchema },
      },
    },
    async request => {
      const { params, body } = request;
      const payment = await find(principalOf(request).accountId, params.id);
      const advance = { paymentId: payment.id, milliseconds: body.seconds * 1_000, simulation };
      await orConflict(() =>
        audited(operatorOf(request), 'payment.clock', async (tx, now) => {
          await advanceClock(tx, advance, now);
          return { result: undefined, objectId: payment.id, detail: { seconds: body.seconds } };
        }),
      );
      return resultOf(payment, null);
    },
  );

  /** An attempt on a payment of the live merchant's own is worth knowing; others' IDs tell nothing here. */
  async function onError(
    { params: sent, ip: address }: FastifyRequest,
    _reply: FastifyReply,
    error: Error,
  ): Promise<void> {
    if (!(error instanceof LiveMerchantRefused)) return;
    // The request is refused before it is validated.
    const { id } = sent as { id: string };
    const payment = UUID.test(id) && (await findOwnPayment(db, error.merchantId, id));
    if (!payment) return;
    await auditRefusal({ db, clock, actor: error.keyId, origin: 'api', address }, payment);
  }

  /** @throws ApiError E3001 for a payment of another merchant. */
  async function find(accountId: string, id: string): Promise<Payment> {
    const payment = await findOwnPayment(db, accountId, id);
    if (payment === undefined) throw new ApiError('E3001', 'There is no such payment.');
    return payment;
  }

  /** @returns Why the payment still waits; null if no transfer has arrived that it did not take. */
  async function play(
    payment: Payment,
    played: Parameters<typeof simulate>[2],
    blockchainId: string | undefined,
  ): Promise<string | null> {
    if (payment.flow === 'crypto') {
      const now = new Date(clock());
      const simulator = { db, rates, simulation };
      return whyItWaits(await simulate(simulator, payment.id, played, now, blockchainId));
    }
    await simulateRegulated({ db, clock, simulation }, sandbox, payment, played);
    return null;
  }

  async function resultOf(
    { id, merchant_id: merchantId }: Payment,
    waits: string | null,
  ): Promise<SimulationResult> {
    const payment = await find(merchantId, id);
    return { object: 'simulation', payment: toPaymentObject(payment), waits };
  }

  function operatorOf(request: FastifyRequest): Operator {
    return { db, clock, actor: principalOf(request).keyId, origin: 'api', address: request.ip };
  }
}

/** Reports a case that the payment's state does not allow as E1040. */
async function orConflict<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof OperationRefused)) throw error;
    throw new ApiError('E1040', error.message, { cause: error });
  }
}
