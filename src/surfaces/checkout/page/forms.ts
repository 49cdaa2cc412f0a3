import { Type } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { OperationRefused } from '#accounts/audit/audited-change.ts';
import { ApiError } from '#errors/api-error.ts';
import { ERRORS } from '#errors/catalogue.ts';
import { EmptyForm } from '#http/page-validation.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { advanceClock } from '#onchain/settlement/advance-clock.ts';
import { selectNetwork } from '#onchain/settlement/select-network.ts';
import { simulate } from '#onchain/settlement/simulate.ts';
import { whyItWaits } from '#onchain/settlement/unmatched-reasons.ts';
import { auditRefusal, maySimulate } from '#payments/may-simulate.ts';
import { offeringFor } from '#payments/offered-networks.ts';
import { StringEnum } from '#schemas/scalars.ts';
import { SIMULATION_CASES } from '#schemas/simulation-cases.ts';
import { transact } from '#storage/database/transaction.ts';
import type { CheckoutPayment } from '#storage/repositories/payments/payments.ts';
import { DURATION_EXPECTED, parseDuration } from '#time/duration.ts';
import { cancelCheckout, findCheckoutPayment } from '../checkout.ts';
import { type CheckoutStage, stageOf } from '../stage.ts';
import type { CheckoutDependencies } from './dependencies.ts';
import { wantsJson } from './failures.ts';
import { localeOf } from './locale.ts';
import { CheckoutParams, type CheckoutRequest, type Pages } from './pages.ts';

const NetworkForm = Type.Object({ network: Type.String() });
const SimulateForm = Type.Object({
  case: StringEnum(SIMULATION_CASES, 'What a customer and the chain do.'),
});
const ClockForm = Type.Object({ advance: Type.String() });

/** Who has the link of a checkout, in the audit log. */
export const CUSTOMER = { actor: 'customer', origin: 'checkout' } as const;

/** What a form does. */
interface Action {
  /** Returns a notice for the page; null for none. */
  readonly perform: (payment: CheckoutPayment, now: Date) => Promise<string | null>;
  /** Key of the text about its refusal. */
  readonly failure: 'network' | 'cancel' | 'simulate';
  /** Stage in which the action has been done already, so that repeating it is no error. */
  readonly done?: CheckoutStage;
}

/** POST /checkout/:token/network, /cancel and, of a payment that may be simulated, /simulate and /clock. */
export function registerForms(
  app: TypedApp,
  { db, rates, clock, simulation }: CheckoutDependencies,
  pages: Pages,
): void {
  const params = CheckoutParams;

  app.post('/:token/network', { schema: { params, body: NetworkForm } }, (request, reply) => {
    const { network: blockchainId } = request.body;
    return act(request, reply, {
      perform: async (payment, now) => {
        const offering = offeringFor(simulation, payment.merchant_environment);
        const choice = { payment, blockchainId, offering, log: request.log };
        await selectNetwork(db, rates, choice, now);
        return null;
      },
      failure: 'network',
    });
  });

  app.post('/:token/cancel', { schema: { params, body: EmptyForm } }, (request, reply) =>
    act(request, reply, {
      perform: async (payment, now) => {
        await cancelCheckout(db, payment, now, request.trace);
        return null;
      },
      failure: 'cancel',
      done: 'cancelled',
    }),
  );

  /** A payment that may not be simulated has no such form. Its token is not validated yet. */
  const preValidation = async ({ params: sent, method, ip: address }: FastifyRequest) => {
    const { token } = sent as { token: string };
    const payment = await findCheckoutPayment(db, token);
    if (maySimulate(simulation, payment.merchant_environment)) return;
    if (method === 'POST') await auditRefusal({ ...CUSTOMER, db, clock, address }, payment);
    throw new ApiError('E3001');
  };
  const simulateRoute = { schema: { params, body: SimulateForm }, preValidation };
  app.post('/:token/simulate', simulateRoute, (request, reply) =>
    act(request, reply, {
      // For developers, in English only.
      perform: async (payment, now) => {
        const { case: played } = request.body;
        return whyItWaits(await simulate({ db, rates, simulation }, payment.id, played, now));
      },
      failure: 'simulate',
    }),
  );

  const clockRoute = { schema: { params, body: ClockForm }, preValidation };
  app.post('/:token/clock', clockRoute, (request, reply) => {
    const milliseconds = parseDuration(request.body.advance);
    if (milliseconds === undefined) {
      throw new ApiError('E1001', `advance must be ${DURATION_EXPECTED}`, { param: 'advance' });
    }
    return act(request, reply, {
      perform: async (payment, now) => {
        const advance = { paymentId: payment.id, milliseconds, simulation };
        await transact(db, tx => advanceClock(tx, advance, now));
        return null;
      },
      failure: 'simulate',
    });
  });

  // After a refused form, the address bar has the form's URL. Loading it redirects to the page.
  const shown = { schema: { params } };
  for (const [form, route] of [
    ['network', shown],
    ['cancel', shown],
    ['simulate', { ...shown, preValidation }],
    ['clock', { ...shown, preValidation }],
  ] as const) {
    app.get(`/:token/${form}`, route, (request, reply) =>
      reply.redirect(pages.locationOf(request), 303),
    );
  }

  /** Performs an action, then redirects to the page, or sends it with a notice if there is one. */
  async function act(
    request: CheckoutRequest,
    reply: FastifyReply,
    { perform, failure, done }: Action,
  ): Promise<FastifyReply> {
    const { token } = request.params;
    const payment = await findCheckoutPayment(db, token);
    const outcome = await attempt(() => perform(payment, new Date(clock())));
    if (outcome === null) return reply.redirect(pages.locationOf(request), 303);
    const current = await findCheckoutPayment(db, token);
    if (typeof outcome === 'string') {
      return pages.send(request, reply, current, { notice: outcome });
    }
    const stage = stageOf(current, new Date(clock()));
    if (stage === done) return reply.redirect(pages.locationOf(request), 303);
    if (wantsJson(request)) throw outcome;
    request.errorCode = outcome.errorCode;
    const { refusals } = localeOf(request).texts;
    const notice =
      outcome.errorCode === 'E1040'
        ? refusals[failure](refusals.reasons[reasonStage(failure, stage)])
        : refusals.unavailable;
    const { status } = ERRORS[outcome.errorCode];
    return pages.send(request, reply, current, { status, notice });
  }
}

/** @returns What the action returns, or a refusal that the page can explain. @throws any other failure. */
async function attempt(perform: () => Promise<string | null>): Promise<ApiError | string | null> {
  try {
    return await perform();
  } catch (error) {
    if (error instanceof OperationRefused) {
      return new ApiError('E1040', error.message, { cause: error });
    }
    if (error instanceof ApiError && ['E1040', 'E5002'].includes(error.errorCode)) return error;
    throw error;
  }
}

/**
 * The stage that explains a refusal: an open payment cannot be cancelled once anything has arrived, even too little.
 */
function reasonStage(failure: Action['failure'], stage: CheckoutStage): CheckoutStage {
  const isOpen = stage === 'choose' || stage === 'waiting';
  return failure === 'cancel' && isOpen ? 'confirming' : stage;
}
