import type { Insertable } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type {
  DeliveryStatus,
  WebhookAttempt,
  WebhookAttemptsTable,
} from '../../database/webhook-tables.ts';

/** An attempt to record. */
export type NewAttempt = Insertable<WebhookAttemptsTable>;

export interface AttemptKey {
  readonly deliveryId: string;
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
 * @param eventId The delivery's event: its month is that of the delivery, and no other one is searched.
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
  { deliveryId, attempt }: AttemptKey,
): Promise<void> {
  await db
    .updateTable('webhook_deliveries')
    .set({ claimed_until: null })
    .where('id', '=', deliveryId)
    .where('status', '=', 'pending')
    .where('attempts', '=', attempt - 1)
    .execute();
}

/** At most `limit` attempts of these deliveries, oldest first. */
export function listAttempts(
  db: Connection,
  deliveryIds: readonly string[],
  limit: number,
): Promise<WebhookAttempt[]> {
  if (deliveryIds.length === 0) return Promise.resolve([]);
  return db
    .selectFrom('webhook_attempts')
    .selectAll()
    .where('delivery_id', 'in', deliveryIds)
    .orderBy('at')
    .orderBy('id')
    .limit(limit)
    .execute();
}
