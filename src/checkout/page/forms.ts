import type { FastifyInstance, FastifyReply } from 'fastify';
import { OperationRefused } from '../../audit/audited-change.ts';
import type { Payment } from '../../database/payment-tables.ts';
import { ApiError } from '../../errors/api-error.ts';
import { ERRORS } from '../../errors/catalogue.ts';
import { readFields } from '../../http/form-body.ts';
import { selectNetwork } from '../../settlement/select-network.ts';
import { SIMULATION_CASES, type SimulationCase, simulate } from '../../settlement/simulate.ts';
import { whyItWaits } from '../../settlement/untaken.ts';
import { cancelCheckout, findCheckoutPayment } from '../checkout.ts';
import { type CheckoutStage, stageOf } from '../stage.ts';
import type { CheckoutDependencies } from './dependencies.ts';
import { wantsJson } from './failures.ts';
import type { CheckoutRequest, Pages } from './pages.ts';
import { speechOf } from './speech.ts';

/** What a form does. */
interface Action {
  /** Answers what the page has to say of it; null for nothing. */
  readonly perform: (payment: Payment, now: Date) => Promise<string | null>;
  /** Key of the text that tells of its refusal. */
  readonly failure: 'network' | 'cancel' | 'simulate';
  /** Stage in which the action has already been done, so that repeating it is not an error. */
  readonly done?: CheckoutStage;
}

/** POST /checkout/:token/network, /cancel and, where payments are simulated, /simulate. */
export function registerForms(
  app: FastifyInstance,
  { db, rates, clock, simulation }: CheckoutDependencies,
  pages: Pages,
): void {
  app.post('/:token/network', async (request: CheckoutRequest, reply) => {
    const { network: blockchainId } = readFields(request, ['network']);
    return act(request, reply, {
      perform: async (payment, now) => {
        const choice = { payment, blockchainId, simulation, log: request.log };
        await selectNetwork(db, rates, choice, now);
        return null;
      },
      failure: 'network',
    });
  });

  app.post('/:token/cancel', async (request: CheckoutRequest, reply) => {
    readFields(request, []);
    return act(request, reply, {
      perform: async (payment, now) => {
        await cancelCheckout(db, payment, now, request.trace);
        return null;
      },
      failure: 'cancel',
      done: 'cancelled',
    });
  });

  if (simulation) {
    app.post('/:token/simulate', async (request: CheckoutRequest, reply) => {
      const { case: name } = readFields(request, ['case']);
      if (!isCase(name)) throw new ApiError('E1001', 'There is no such case.', { param: 'case' });
      return act(request, reply, {
        // For developers, in English alone.
        perform: async (payment, now) =>
          whyItWaits(await simulate({ db, rates }, payment.id, name, now)),
        failure: 'simulate',
      });
    });
  }

  // A refused form leaves its own URL in the address bar; loading that shows the page.
  for (const form of ['network', 'cancel', ...(simulation ? ['simulate'] : [])]) {
    app.get(`/:token/${form}`, (request: CheckoutRequest, reply) =>
      reply.redirect(pages.locationOf(request), 303),
    );
  }

  /** Performs an action, then redirects to the page, or renders it with a notice if there is something to say. */
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
    if (!(outcome instanceof ApiError)) {
      return pages.send(request, reply, current, { notice: outcome });
    }
    const refusal = outcome;
    const stage = stageOf(current, new Date(clock()));
    if (stage === done) return reply.redirect(pages.locationOf(request), 303);
    if (wantsJson(request)) throw refusal;
    request.errorCode = refusal.errorCode;
    const { refusals } = speechOf(request).texts;
    const notice =
      refusal.errorCode === 'E1040'
        ? refusals[failure](refusals.reasons[reasonStage(failure, stage)])
        : refusals.unavailable;
    const { status } = ERRORS[refusal.errorCode];
    return pages.send(request, reply, current, { status, notice });
  }
}

/** Returns also a refusal that the page can explain, and rethrows any other failure. */
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

function isCase(name: string): name is SimulationCase {
  return Object.hasOwn(SIMULATION_CASES, name);
}

/** An open payment cannot be cancelled once something has arrived, too little included. */
function reasonStage(failure: Action['failure'], stage: CheckoutStage): CheckoutStage {
  const isOpen = stage === 'choose' || stage === 'waiting';
  return failure === 'cancel' && isOpen ? 'confirming' : stage;
}
