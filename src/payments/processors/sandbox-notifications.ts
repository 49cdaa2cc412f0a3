import type { Payment } from '#storage/database/payment-tables.ts';
import { dueCents } from '../commission.ts';
import type { ProcessorNotification } from '../processor.ts';
import {
  type Log,
  type NotificationDependencies,
  type ReceivedNotification,
  receiveNotification,
} from './receive-notification.ts';
import type { SandboxProcessor } from './sandbox-processor.ts';

export type NotificationKind = ProcessorNotification['kind'];

/** Sends notifications about a payment, signed and verified like those of a real processor. */
export async function sendNotifications(
  deps: NotificationDependencies,
  sandbox: SandboxProcessor,
  payment: Payment,
  kinds: readonly NotificationKind[],
  { log, ...origin }: Omit<ReceivedNotification, 'headers' | 'body'> & { readonly log: Log },
): Promise<void> {
  for (const kind of kinds) {
    const signed = sandbox.notify(toNotification(payment, kind), deps.clock());
    await receiveNotification(deps, sandbox, { ...signed, ...origin }, log);
  }
}

function toNotification(
  payment: Payment,
  kind: NotificationKind,
): Omit<ProcessorNotification, 'notificationId'> {
  const externalId = payment.external_id ?? '';
  return {
    externalId,
    kind,
    amountCents: dueCents(payment),
    currency: 'usd',
    // The same in every notification: a session is paid only once.
    transactionReference: externalId.replace('sandbox_', 'sandbox_transaction_'),
    commissionCents: null,
  };
}
