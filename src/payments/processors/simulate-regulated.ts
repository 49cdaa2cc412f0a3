import { OperationRefused } from '#accounts/audit/audited-change.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { movePayment } from '../move-payment.ts';
import type { NotificationDependencies } from './receive-notification.ts';
import { type NotificationKind, sendNotifications } from './sandbox-notifications.ts';
import type { SandboxProcessor } from './sandbox-processor.ts';

/** Cases of a payment on a US account, and the notifications that simulate them. */
const CASES: Readonly<Record<string, readonly NotificationKind[]>> = {
  confirm: ['seen', 'settled'],
  detect: ['seen'],
  fail: ['failed'],
  cancel: ['cancelled'],
};

export const REGULATED_CASES = Object.keys(CASES);

/** Actor of simulated moves in a payment's history. */
export const SIMULATION_ACTOR = 'simulation';

const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };

/**
 * Simulates a case on a payment of the sandbox processor, by the notifications that it would send.
 * @throws OperationRefused for a payment of another processor, and for a case that it does not have.
 */
export function simulateRegulated(
  deps: NotificationDependencies,
  sandbox: SandboxProcessor,
  payment: Payment,
  simulation: string,
): Promise<void> {
  requireSandbox(payment);
  const kinds = CASES[simulation];
  if (kinds === undefined) {
    throw new OperationRefused('simulation-case-unknown', {
      name: simulation,
      known: REGULATED_CASES,
    });
  }
  return sendNotifications(deps, sandbox, payment, kinds, {
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
  const sandbox: SandboxProcessor['name'] = 'sandbox';
  if (processor === sandbox) return;
  throw new OperationRefused('simulation-of-other-processor', { processor });
}
