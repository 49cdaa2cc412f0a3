import { type Insertable, sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import { type Given, prepare } from '../../database/prepared.ts';
import type {
  DeliveryStatus,
  WebhookAttempt,
  WebhookAttemptsTable,
  WebhookDelivery,
} from '../../database/webhook-tables.ts';
import { ALL_MONTHS, boundsOf, type IdRange, isBetween, monthsBetween } from './event-months.ts';
import type { DeliveryOfEvent } from './withheld.ts';

/** An attempt to record. */
export type NewAttempt = Insertable<WebhookAttemptsTable>;

interface AttemptKey extends DeliveryOfEvent {
  /** Number of the attempt, from 1. */
  readonly attempt: number;
}

/** New state of a delivery after an attempt. */
export type Verdict =
  | { readonly status: 'pending'; readonly nextAttemptAt: Date }
  | {
      readonly status: Exclude<DeliveryStatus, 'pending' | 'withheld'>;
      readonly finishedAt: Date;
    };

/**
 * Records an attempt and updates the delivery, in one statement. If this attempt number is already
 * recorded, since the claim ran out and another worker made it too, only adds the attempt.
 * @param eventId The delivery's event: only the partition of its month, which has the delivery, is searched.
 */
export async function recordAttempt(
  db: Connection,
  eventId: string,
  row: NewAttempt,
  verdict: Verdict,
): Promise<void> {
  const next = verdict.status === 'pending' ? verdict.nextAttemptAt : null;
  const finished = verdict.status === 'pending' ? null : verdict.finishedAt;
  await db
    .with('attempt', cte =>
      cte
        .insertInto('webhook_attempts')
        .values(row)
        .onConflict(conflict => conflict.column('id').doNothing()),
    )
    .updateTable('webhook_deliveries')
    .set({
      attempts: row.number,
      status: verdict.status,
      next_attempt_at: next,
      finished_at: finished,
      claimed_until: null,
    })
    .where('id', '=', row.delivery_id)
    .where('event_id', '=', eventId)
    .where('status', '=', 'pending')
    .where('attempts', '=', row.number - 1)
    .execute();
}

/** Releases the claim of an attempt that was not made, so that any worker can make it now. */
export async function releaseDelivery(
  db: Connection,
  { deliveryId, event, attempt }: AttemptKey,
): Promise<void> {
  await db
    .updateTable('webhook_deliveries')
    .set({ claimed_until: null })
    .where('id', '=', deliveryId)
    .where('event_id', '=', event.id)
    .where('status', '=', 'pending')
    .where('attempts', '=', attempt - 1)
    .execute();
}

/** A delivery whose attempts are read. */
export type TriedDelivery = Pick<WebhookDelivery, 'id' | 'created_at' | 'finished_at' | 'attempts'>;

/**
 * Largest difference between the clocks of processes that create deliveries and make attempts, in milliseconds. Also
 * how long after the end of a delivery an attempt may end that another worker has made too.
 */
const CLOCKS_APART_MS = 24 * 60 * 60_000;

/** Longest span of deliveries whose attempts are read from their months alone, in ms; planning more takes longer. */
const SPAN_MAXIMUM_MS = 45 * 24 * 60 * 60_000;

/** The months of the attempts at some deliveries, unless clocks differ by more than `CLOCKS_APART_MS`. */
function monthsOfAttempts(deliveries: readonly TriedDelivery[]): IdRange {
  const created = deliveries.map(({ created_at: at }) => at.getTime());
  const finished = deliveries.map(({ finished_at: at }) => at?.getTime() ?? null);
  const ends = finished.filter(time => time !== null);
  const [first, last] = [Math.min(...created), Math.max(...created, ...ends)];
  if (last - first > SPAN_MAXIMUM_MS) return ALL_MONTHS;
  const isOver = ends.length === finished.length;
  return monthsBetween(first - CLOCKS_APART_MS, isOver ? last + CLOCKS_APART_MS : null);
}

interface AttemptsWanted {
  readonly deliveryIds: readonly string[];
  /** Bounds of the months of the attempts. */
  readonly from: string;
  readonly until: string;
  readonly limit: number;
}

const attemptsAt = prepare(
  'webhook_attempts',
  (_, given: Given<AttemptsWanted>) => sql<WebhookAttempt>`
    select id, delivery_id, number, at, duration_ms, status_code, error, response_excerpt
    from webhook_attempts
    where delivery_id = any(${given('deliveryIds')}::uuid[])
      and ${isBetween('id', sql`${given('from')}::uuid`, sql`${given('until')}::uuid`)}
    order by at, id limit ${given('limit')}::integer`,
);

/**
 * At most `limit` attempts of these deliveries, oldest first. They are read from the months between the creation of
 * the deliveries and their end, and from all months if an attempt that was counted is missing there.
 */
export async function listAttempts(
  db: Connection,
  deliveries: readonly TriedDelivery[],
  limit: number,
): Promise<WebhookAttempt[]> {
  if (deliveries.length === 0) return [];
  const months = monthsOfAttempts(deliveries);
  const deliveryIds = deliveries.map(({ id }) => id);
  const read = (range: IdRange) => attemptsAt(db, { deliveryIds, ...boundsOf(range), limit });
  const found = await read(months);
  const numbers = Map.groupBy(found, ({ delivery_id: id }) => id);
  const isComplete = deliveries.every(
    ({ id, attempts }) => new Set(numbers.get(id)?.map(({ number }) => number)).size >= attempts,
  );
  return isComplete || found.length === limit ? found : read(ALL_MONTHS);
}
