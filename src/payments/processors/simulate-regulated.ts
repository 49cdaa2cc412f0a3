import { OperationRefused } from '#accounts/audit/audited-change.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { requireSimulable } from '../may-simulate.ts';
import { movePayment } from '../move-payment.ts';
import { MOVES, type MoveName } from '../moves.ts';
import type { NotificationDependencies } from './receive-notification.ts';
import { type NotificationKind, sendNotifications } from './sandbox-notifications.ts';
import type { SandboxProcessor } from './sandbox-processor.ts';

/** Cases of a payment on a US account, and the notifications that simulate them. */
const CASES = {
  confirm: ['seen', 'settled'],
  detect: ['seen'],
  fail: ['failed'],
  cancel: ['cancelled'],
} as const satisfies Partial<Record<MoveName, readonly NotificationKind[]>>;

export const REGULATED_CASES = Object.keys(CASES) as (keyof typeof CASES)[];

const SANDBOX: SandboxProcessor['name'] = 'sandbox';

/** Actor of simulated moves in a payment's history. */
export const SIMULATION_ACTOR = 'simulation';

const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** The cases that the state of a payment allows: the notifications of any other would be ignored. */
export function listRegulatedCases({
  processor,
  status,
  session_status: session,
}: Payment): (keyof typeof CASES)[] {
  if (processor !== SANDBOX) return [];
  return REGULATED_CASES.filter(name =>
    MOVES[name].from.some(from => from.status === status && from.session === session),
  );
}

/**
 * Simulates a case on a payment of the sandbox processor, by the notifications that it would send.
 * @param deps.simulation Whether the service simulates the payments of all merchants.
 * @throws OperationRefused for a payment that may not be simulated or is another processor's, and for a case that it
 * does not have.
 */
export async function simulateRegulated(
  { simulation: simulates, ...deps }: NotificationDependencies & { readonly simulation: boolean },
  sandbox: SandboxProcessor,
  payment: Payment,
  simulation: string,
): Promise<void> {
  await requireSimulable(deps.db, simulates, payment);
  requireSandbox(payment);
  const name = REGULATED_CASES.find(each => each === simulation);
  if (name === undefined) {
    throw new OperationRefused('simulation-case-unknown', {
      name: simulation,
      known: REGULATED_CASES,
    });
  }
  return sendNotifications(deps, sandbox, payment, CASES[name], {
    trace: null,
    actor: SIMULATION_ACTOR,
    log: SILENT,
  });
}

/**
 * Expires a payment of the sandbox if it is due. No processor has to be asked: the sandbox's page has sent a
 * notification for whatever its customer did. Call it in a transaction.
 */
export async function expireRegulatedIfDue(
  tx: Connection,
  { id, expires_at: expiresAt }: Payment,
  now: Date,
): Promise<void> {
  if (expiresAt > now) return;
  const reason = 'expired without payment, confirmed by the processor';
  await movePayment(tx, { paymentId: id, move: 'expire', actor: SIMULATION_ACTOR, reason, now });
}

/** @throws OperationRefused for a payment of another processor. */
export function requireSandbox({ processor }: Payment): void {
  if (processor === SANDBOX) return;
  throw new OperationRefused('simulation-of-other-processor', { processor });
}
