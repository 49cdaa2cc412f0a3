import type { Database } from '../database/connection.ts';
import { isRefusedByDatabase } from '../database/failures.ts';
import { afterCommit } from '../database/transaction.ts';
import { ApiError } from '../errors/api-error.ts';
import { insertCreation } from '../repositories/payment-creation.ts';
import { type Decision, type Draft, paymentsCreated, toCreation } from './create-payment.ts';
import {
  executeOnce,
  findReplay,
  type IdempotentRequest,
  type Outcome,
  RESPONSE_LIFETIME_MS,
  type Response,
  replayOrInProgress,
} from './idempotency.ts';
import { writeCreation } from './write-creation.ts';

/** A creation under an idempotency key. */
export interface CreationOnce {
  /** @throws ApiError for whatever is wrong with the request itself (E1001, E1002). */
  readonly check: () => void;
  /** @throws ApiError for every business rule that refuses it. */
  readonly decide: () => Promise<Decision>;
  /** The answer to a creation, as it is sent and kept. */
  readonly answer: (draft: Draft) => Response;
  /** Renders and logs a failure of the execution. */
  readonly onFailure: (error: unknown) => Response;
}

/**
 * Creates a payment at most once for the key, on whichever replica.
 *
 * The ordinary case is one statement that claims the key and writes the payment, its event and the
 * response. Whether there is a response already is looked at only when that claim is refused, or
 * when the request would be: what was answered before comes first. A repeated request pays for that:
 * it tries to write before it reads.
 *
 * @throws ApiError E4003 while the original runs, E4002 for another body, and every refusal.
 * @throws UncertainCommit
 */
export async function createOnce(
  db: Database,
  request: IdempotentRequest,
  now: Date,
  creation: CreationOnce,
): Promise<Outcome> {
  const execute = (work: Parameters<typeof executeOnce>[3]) =>
    executeOnce(db, request, now, work, creation.onFailure);
  try {
    creation.check();
  } catch (refusal) {
    const replay = await findReplay(db, request, now);
    if (replay !== undefined) return replay;
    throw refusal;
  }
  let decision: Decision;
  try {
    decision = await creation.decide();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return execute(() => Promise.reject(error));
  }
  if (decision.kind === 'drafted') {
    try {
      return await write(db, request, now, decision, creation.answer(decision));
    } catch (error) {
      if (!isRefusedByDatabase(error)) throw error;
      return execute(() => Promise.reject(error));
    }
  }
  const { open } = decision;
  return execute(async tx => {
    const draft = await open();
    await insertCreation(tx, toCreation(draft));
    afterCommit(tx, () => paymentsCreated.inc({ flow: draft.payment.flow }));
    return creation.answer(draft);
  });
}

/** @throws ApiError E4002, E4003 */
async function write(
  db: Database,
  request: IdempotentRequest,
  now: Date,
  draft: Draft,
  response: Response,
): Promise<Outcome> {
  const written = await writeCreation(db, {
    ...toCreation(draft),
    scope: request.scope,
    response: { ...response, bodySha256: request.bodySha256 },
    now,
    expiresAt: new Date(now.getTime() + RESPONSE_LIFETIME_MS),
  });
  if (written === 'created') {
    paymentsCreated.inc({ flow: draft.payment.flow });
    return { ...response, replayed: false };
  }
  return replayOrInProgress(db, request, now);
}
