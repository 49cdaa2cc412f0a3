import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { WebhookEndpoint } from '../../database/webhook-tables.ts';
import { wipePrevious } from '../keys/sealed-secrets.ts';
import { findById, insertInto, lockById, updateByIdOrThrow } from '../rows.ts';

export const insertWebhookEndpoint = insertInto('webhook_endpoints');
export const findWebhookEndpoint = findById('webhook_endpoints');
export const lockWebhookEndpoint = lockById('webhook_endpoints', 'forNoKeyUpdate');
export const updateWebhookEndpoint = updateByIdOrThrow('webhook_endpoints');

/** Undefined for an endpoint of others, as for a missing one. */
export function findOwnEndpoint(
  db: Connection,
  merchantId: string,
  id: string,
): Promise<WebhookEndpoint | undefined> {
  return db
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where('id', '=', id)
    .where('merchant_id', '=', merchantId)
    .executeTakeFirst();
}

/** At most `limit` endpoints of a merchant: the enabled ones first, then newest first. */
export function listOwnEndpoints(
  db: Connection,
  merchantId: string,
  limit: number,
): Promise<WebhookEndpoint[]> {
  return db
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where('merchant_id', '=', merchantId)
    .orderBy(sql`disabled_at is not null`)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
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

export type TroubledEndpoint = Pick<
  WebhookEndpoint,
  'id' | 'url' | 'disabled_at' | 'disabled_reason'
>;

/** How many deliveries of an endpoint are looked at, from each end of its backlog. */
const DELIVERIES_LOOKED_AT = 100;

/**
 * At most `limit` endpoints of a merchant that are disabled, or to which an event from before `since` could
 * not be delivered, and nothing that came after it either.
 */
export async function listTroubledEndpoints(
  db: Connection,
  merchantId: string,
  { since, limit }: { readonly since: Date; readonly limit: number },
): Promise<TroubledEndpoint[]> {
  const { rows } = await sql<TroubledEndpoint>`
    select endpoint.id, endpoint.url, endpoint.disabled_at, endpoint.disabled_reason
    from webhook_endpoints as endpoint
    cross join lateral (
      select max(created_at) filter (where status = 'failed') as failed_at,
             max(finished_at) filter (where status = 'succeeded') as succeeded_at
      from (select created_at, finished_at, status from webhook_deliveries
            where endpoint_id = endpoint.id
            order by created_at desc, id desc limit ${DELIVERIES_LOOKED_AT}) as newest
    ) as newest
    cross join lateral (
      -- Those that failed longest are tried again last. With an equality, the planner would go through what
      -- waits for all other endpoints as well, by time.
      select max(created_at) filter (where attempts > 0 and created_at <= ${since}) as waiting_since
      from (select created_at, attempts from webhook_deliveries
            where endpoint_id between endpoint.id and endpoint.id and status = 'pending'
            order by endpoint_id desc, next_attempt_at desc
            limit ${DELIVERIES_LOOKED_AT}) as pending
    ) as pending
    where endpoint.merchant_id = ${merchantId}
      and (endpoint.disabled_at is not null
           or greatest(waiting_since, failed_at) > coalesce(succeeded_at, '-infinity'))
    order by endpoint.id limit ${limit}`.execute(db);
  return rows;
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

/** Wipes previous secrets whose grace period is over, of at most `limit` endpoints; returns how many. */
export function wipePreviousWebhookSecrets(
  db: Connection,
  now: Date,
  limit: number,
): Promise<number> {
  return wipePrevious(db, 'webhook_endpoints', {}, now, limit);
}
