import { audited } from '#accounts/audit/audited-change.ts';
import { advanceClock } from '#onchain/settlement/advance-clock.ts';
import { readHistory } from '#payments/history.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { type ClaimedDelivery, claimDeliveriesOf } from '#storage/repositories/webhooks/claims.ts';
import type { CliCommand } from '../cli-command.ts';
import type { JsonFlag } from '../print.ts';
import type { Session } from '../session.ts';
import { parseDuration, parseId } from '../values.ts';
import { deliveryObject } from '../webhooks/webhook-object.ts';
import { paymentObject, requirePayment } from './payment-object.ts';
import { describeResult, requireSimulation } from './simulate.ts';

interface ClockFlags extends JsonFlag {
  /** Milliseconds. */
  readonly advance: number;
}

/** `mp clock ID --advance DURATION` */
export function define(command: CliCommand): void {
  command
    .json()
    .argument('<id>', 'payment ID', parseId)
    .requiredOption('--advance <duration>', 'for how long, like 90s, 20m, 36h or 3d', parseDuration)
    .addHelpText(
      'after',
      '\nWhat is due by then is done before the command returns: the price lapses, the payment\n' +
        'expires, and deliveries of its events are attempted, each once. Retries are due a tenth\n' +
        'sooner or later than scheduled. What has happened keeps its time, and no other payment\n' +
        'is affected. Of a payment that has ended only deliveries are left.',
    )
    .onDatabase(async (session, id: string, { advance, json }: ClockFlags) => {
      const before = await requirePayment(session.db, id);
      await requireSimulation(session, before);
      const claimed = await advanceAndClaim(session, id, advance);
      await attempt(session, claimed);
      const payment = await requirePayment(session.db, id);
      const deliveries = await deliveriesOf(session.db, payment);
      const hasLapsed = before.blockchain_id !== null && payment.blockchain_id === null;
      const result = [
        describeResult(before, payment),
        ...(hasLapsed ? ['Its price has lapsed: its customer chooses a network again.'] : []),
        ...deliveries.map(describe),
      ].join('\n');
      const shown = await paymentObject(session, payment);
      if (!json) return session.show(shown, result);
      session.show({ ...shown, clock: { result, deliveries } });
    });
}

/** Claims the deliveries that become due in the same transaction, so that no worker attempts them meanwhile. */
async function advanceAndClaim(
  session: Session,
  paymentId: string,
  milliseconds: number,
): Promise<ClaimedDelivery[]> {
  // Loaded on demand: it loads an HTTP client.
  const { CLAIM_MS } = await import('#payments/webhooks/attempt-delivery.ts');
  return audited(session, 'payment.clock', async (tx, now) => {
    const { simulation } = session.config;
    await advanceClock(tx, { paymentId, milliseconds, simulation }, now);
    const until = new Date(now.getTime() + CLAIM_MS);
    const claimed = await claimDeliveriesOf(tx, paymentId, { now, until });
    const { status } = await requirePayment(tx, paymentId);
    const detail = { seconds: milliseconds / 1_000, status };
    return { result: claimed, objectId: paymentId, detail };
  });
}

/** Attempts deliveries as a worker would. */
async function attempt(
  { db, keyring, clock, config }: Session,
  claimed: readonly ClaimedDelivery[],
): Promise<void> {
  if (claimed.length === 0) return;
  const [{ attemptDelivery }, { guardedConnector }, { ATTEMPT_TIMEOUT_MS }] = await Promise.all([
    import('#payments/webhooks/attempt-delivery.ts'),
    import('#outbound/guarded-connector.ts'),
    import('#payments/webhooks/send.ts'),
  ]);
  const allowPrivateAddresses = config.environment !== 'production';
  const connect = guardedConnector({ allowPrivateAddresses, timeoutMs: ATTEMPT_TIMEOUT_MS });
  const logger = { error: () => undefined, warn: () => undefined, info: () => undefined };
  const sending = { db, keyring, clock, connect, allowPrivateAddresses, logger };
  const { signal } = new AbortController();
  await Promise.all(claimed.map(delivery => attemptDelivery(sending, delivery, signal)));
}

/** The deliveries of a payment's events, oldest first. */
async function deliveriesOf(db: Connection, payment: Payment) {
  const facts = await readHistory(db, payment);
  const attempts = facts.flatMap(fact => (fact.kind === 'attempt' ? [fact.attempt] : []));
  return facts.flatMap(fact => {
    if (fact.kind !== 'delivery') return [];
    const { delivery } = fact;
    const own = attempts.filter(attempt => attempt.delivery_id === delivery.id);
    return [{ endpointUrl: delivery.endpoint_url, ...deliveryObject(delivery, own) }];
  });
}

type Delivery = Awaited<ReturnType<typeof deliveriesOf>>[number];

function describe({ eventType, endpointUrl, status, lastResult, nextAttemptAt }: Delivery): string {
  const answer = lastResult === null ? '' : `, ${lastResult}`;
  const due = nextAttemptAt === null ? '' : `, due at ${nextAttemptAt.toISOString()}`;
  return `${eventType} to ${endpointUrl}: ${status}${answer}${due}`;
}
