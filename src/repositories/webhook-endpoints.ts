import type { Insertable, Updateable } from 'kysely';
import type { Connection } from '../database/connection.ts';
import type { WebhookEndpoint, WebhookEndpointsTable } from '../database/webhook-tables.ts';

export function insertWebhookEndpoint(
  db: Connection,
  row: Insertable<WebhookEndpointsTable>,
): Promise<WebhookEndpoint> {
  return db.insertInto('webhook_endpoints').values(row).returningAll().executeTakeFirstOrThrow();
}

export function findWebhookEndpoint(
  db: Connection,
  id: string,
): Promise<WebhookEndpoint | undefined> {
  return db.selectFrom('webhook_endpoints').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Reads an endpoint and locks its row until the transaction ends. */
export function lockWebhookEndpoint(
  db: Connection,
  id: string,
): Promise<WebhookEndpoint | undefined> {
  return db
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

export function updateWebhookEndpoint(
  db: Connection,
  id: string,
  change: Updateable<WebhookEndpointsTable>,
): Promise<WebhookEndpoint> {
  return db
    .updateTable('webhook_endpoints')
    .set(change)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** At most `limit` enabled endpoints of a merchant. */
export function listEnabledEndpoints(
  db: Connection,
  merchantId: string,
  limit: number,
): Promise<{ id: string; url: string }[]> {
  return db
    .selectFrom('webhook_endpoints')
    .select(['id', 'url'])
    .where('merchant_id', '=', merchantId)
    .where('disabled_at', 'is', null)
    .limit(limit)
    .execute();
}

/** Newest first, at most `limit`. With `before`, only those older than that endpoint. */
export function listWebhookEndpoints(
  db: Connection,
  {
    merchantId,
    limit,
    before,
  }: { merchantId?: string | undefined; limit: number; before?: string | undefined },
): Promise<WebhookEndpoint[]> {
  return db
    .selectFrom('webhook_endpoints')
    .selectAll()
    .$if(merchantId !== undefined, query => query.where('merchant_id', '=', merchantId ?? ''))
    .$if(before !== undefined, query => query.where('id', '<', before ?? ''))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/**
 * Wipes previous secrets whose grace period is over, of at most `limit` endpoints.
 * @returns The number of endpoints.
 */
export async function wipePreviousWebhookSecrets(
  db: Connection,
  now: Date,
  limit: number,
): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('webhook_endpoints')
    .set({
      previous_secret: null,
      previous_master_key_version: null,
      previous_valid_until: null,
    })
    .where(
      'id',
      'in',
      db
        .selectFrom('webhook_endpoints')
        .select('id')
        .where('previous_valid_until', '<=', now)
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}
