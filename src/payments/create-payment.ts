import { Counter } from 'prom-client';
import { ApiError } from '#errors/api-error.ts';
import type { CreatePaymentResponse } from '#schemas/create-payment.ts';
import type { Connection, Database } from '#storage/database/connection.ts';
import {
  DatabaseTooSlow,
  isDatabaseUnavailable,
  isRefusedByDatabase,
} from '#storage/database/errors.ts';
import { WORK_TIMEOUT_MS } from '#storage/database/time-limits.ts';
import {
  afterCommit,
  inOneStatement,
  transact,
  UncertainCommit,
} from '#storage/database/transaction.ts';
import { type Creation, insertCreation } from '#storage/repositories/payments/creation.ts';
import { within } from '#time/within.ts';
import {
  type CreatePaymentDependencies,
  type Decision,
  type Draft,
  decideCreation,
} from './decide-creation.ts';
import {
  claimAndCreate,
  claimAndExecute,
  findReplay,
  type IdempotentRequest,
  type Outcome,
} from './idempotency.ts';
import { newEvent } from './new-event.ts';
import type { CreatePaymentRequest } from './new-payment.ts';
import { toPaymentObject } from './payment-object.ts';
import type { Response } from './stored-response.ts';

const paymentsCreated = new Counter({
  name: 'eps_payments_created_total',
  help: 'Payments created by this process, by flow',
  labelNames: ['flow'],
});

/**
 * Creates a payment with its first event.
 * @throws ApiError for every business rule that refuses it.
 * @throws ProcessorUnavailable on US accounts.
 * @throws UncertainCommit
 */
export async function createPayment(
  db: Database,
  deps: CreatePaymentDependencies,
  request: CreatePaymentRequest,
): Promise<CreatePaymentResponse> {
  const decision = await decideCreation(deps, request);
  if (decision.kind === 'regulated') {
    return transact(db, async tx => toResponse(await openAndInsert(tx, decision.open)));
  }
  await inOneStatement(db, connection => insertCreation(connection, toCreation(decision)));
  paymentsCreated.inc({ flow: decision.payment.flow });
  return toResponse(decision);
}

/** What a creation under an idempotency key needs besides the request. */
export interface Once {
  readonly claim: IdempotentRequest;
  /** @throws ApiError when the request itself is invalid (E1001, E1002). */
  readonly check: () => void;
  /** Serializes the response to a creation, as it is sent and kept. */
  readonly respond: (created: CreatePaymentResponse) => Response;
  /** Renders and logs a failure of the execution. */
  readonly onFailure: (error: unknown) => Response;
}

/**
 * Creates a payment at most once for the key, on all replicas together.
 *
 * Usually that is one statement, which claims the key and writes payment, event and response. A stored response takes
 * precedence over any refusal, so it is looked up whenever the request would be refused. Otherwise it is looked up
 * only after the claim has failed, which costs repeated requests an extra query.
 *
 * @throws ApiError E4003 while the original runs, E4002 for another body, and every refusal.
 * @throws UncertainCommit
 */
export async function createPaymentOnce(
  db: Database,
  deps: CreatePaymentDependencies,
  request: CreatePaymentRequest,
  { claim, check, respond, onFailure }: Once,
): Promise<Outcome> {
  const { keyring } = deps;
  try {
    check();
  } catch (refusal) {
    const replay = await findReplay(db, keyring, claim);
    if (replay !== undefined) return replay;
    throw refusal;
  }
  const fail = (error: unknown) =>
    claimAndExecute(db, keyring, claim, () => Promise.reject(error), onFailure);
  let decision: Decision;
  try {
    decision = await decideCreation(deps, request);
  } catch (error) {
    if (error instanceof ApiError) return fail(error);
    throw error;
  }
  if (decision.kind === 'regulated') {
    const { open } = decision;
    const work = async (tx: Connection) => respond(toResponse(await openAndInsert(tx, open)));
    return claimAndExecute(db, keyring, claim, work, onFailure);
  }
  const draft = decision;
  const write = async () => {
    try {
      const response = respond(toResponse(draft));
      const outcome = await claimAndCreate(db, keyring, claim, toCreation(draft), response);
      if (!outcome.replayed) paymentsCreated.inc({ flow: draft.payment.flow });
      return outcome;
    } catch (error) {
      // A creation that waited for too long has written nothing and claimed nothing: the key is free.
      if (isRefusedByDatabase(error) && !isDatabaseUnavailable(error)) return fail(error);
      throw error;
    }
  };
  // The creation may be tried in a batch, then alone, and then fail: each step may take as long as a statement.
  return within(WORK_TIMEOUT_MS, write(), () => new UncertainCommit(new DatabaseTooSlow()));
}

/** Opens the processor's session and writes the payment, in an open transaction. */
async function openAndInsert(tx: Connection, open: () => Promise<Draft>): Promise<Draft> {
  const draft = await open();
  await insertCreation(tx, toCreation(draft));
  afterCommit(tx, () => paymentsCreated.inc({ flow: draft.payment.flow }));
  return draft;
}

/** What is written for a draft: the payment and its first event. */
function toCreation({ payment, trace }: Draft): Creation {
  return { payment, event: newEvent('payment_prompt.created', payment, payment.created_at, trace) };
}

function toResponse({ payment, checkoutUrl }: Draft): CreatePaymentResponse {
  return { prompt: toPaymentObject(payment), checkoutUrl };
}
