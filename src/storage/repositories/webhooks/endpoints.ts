import { type RawBuilder, sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { WebhookEndpoint } from '../../database/webhook-tables.ts';
import { wipePrevious } from '../keys/sealed-secrets.ts';
import { findById, findWhere, insertInto, lockById, updateByIdOrThrow } from '../rows.ts';

export const insertWebhookEndpoint = insertInto('webhook_endpoints');
export const findWebhookEndpoint = findById('webhook_endpoints');
export const lockWebhookEndpoint = lockById('webhook_endpoints', 'forNoKeyUpdate');
export const updateWebhookEndpoint = updateByIdOrThrow('webhook_endpoints');

/** Undefined for an endpoint of others, as for a missing one. */
export const findOwnEndpoint = findWhere('webhook_endpoints', 'merchant_id', 'id');

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

export interface TroubledEndpoint
  extends Pick<WebhookEndpoint, 'id' | 'url' | 'disabled_at' | 'disabled_reason'> {
  /** When one of its newest deliveries last succeeded; null if none of them did. */
  readonly succeeded_at: Date | null;
}

/** Lower than all IDs. */
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** How many deliveries of an endpoint are looked at, from each end of its backlog. */
const DELIVERIES_LOOKED_AT = 100;

/** The deliveries of an endpoint that tell whether anything arrives: the newest, and those that wait. */
const deliveriesOf = (since: Date) => sql`
    cross join lateral (
      select max(created_at) filter (where status = 'failed') as failed_at,
             max(finished_at) filter (where status = 'succeeded') as succeeded_at
      from (select created_at, finished_at, status from webhook_deliveries
            where endpoint_id = endpoint.id
            order by created_at desc, id desc limit ${DELIVERIES_LOOKED_AT}) as newest
    ) as newest
    cross join lateral (
      -- Those that have failed for longest are retried last. With an equality, the planner would read what waits
      -- for all other endpoints as well, by time.
      select max(created_at) filter (where attempts > 0 and created_at <= ${since}) as waiting_since
      from (select created_at, attempts from webhook_deliveries
            where endpoint_id between endpoint.id and endpoint.id and status = 'pending'
            order by endpoint_id desc, next_attempt_at desc
            limit ${DELIVERIES_LOOKED_AT}) as pending
    ) as pending`;

/** Whether an event could not be delivered, and nothing that came after it either. */
const IS_FAILING = sql<boolean>`
  greatest(waiting_since, failed_at) > coalesce(succeeded_at, '-infinity')`;

/** How troubled endpoints of a merchant are found, and how many at most. */
export interface TroubleQuestion {
  /** Events from before this time should have been delivered. */
  readonly since: Date;
  readonly limit: number;
}

/**
 * Selects at most `limit` endpoints of a merchant that are disabled, or to which an event from before `since` could
 * not be delivered, and nothing that came after it either.
 */
export function troubledEndpoints(
  merchantId: string,
  { since, limit }: TroubleQuestion,
): RawBuilder<TroubledEndpoint> {
  return sql`
    select endpoint.id, endpoint.url, endpoint.disabled_at, endpoint.disabled_reason, succeeded_at
    from webhook_endpoints as endpoint ${deliveriesOf(since)}
    where endpoint.merchant_id = ${merchantId}
      and (endpoint.disabled_at is not null or ${IS_FAILING})
    order by endpoint.id limit ${limit}`;
}

/** Reads what `troubledEndpoints` selects. */
export async function listTroubledEndpoints(
  db: Connection,
  merchantId: string,
  question: TroubleQuestion,
): Promise<TroubledEndpoint[]> {
  return (await troubledEndpoints(merchantId, question).execute(db)).rows;
}

/** Since when nothing can be delivered to an endpoint. */
export interface EndpointState extends Pick<WebhookEndpoint, 'id' | 'merchant_id' | 'url'> {
  /**
   * When the first event since the last success was made that could not be delivered; null while the endpoint does not
   * fail. It does not change until events from then are removed.
   */
  readonly failing_since: Date | null;
}

/** At most `limit` enabled endpoints of all merchants, in the order of their IDs after `after`. */
export async function listEndpointStates(
  db: Connection,
  {
    since,
    after,
    limit,
  }: { readonly since: Date; readonly after: string | null; readonly limit: number },
): Promise<EndpointState[]> {
  const { rows } = await sql<EndpointState>`
    select endpoint.id, endpoint.merchant_id, endpoint.url,
      case when ${IS_FAILING} then least(
        ${firstSince('failed')}, ${firstSince('pending')}
      ) end as failing_since
    from (
      select * from webhook_endpoints
      where disabled_at is null and id > ${after ?? FIRST_ID}::uuid
      order by id limit ${limit}
    ) as endpoint ${deliveriesOf(since)}
    left join lateral (
      select finished_at from webhook_deliveries
      where endpoint_id = endpoint.id and status = 'succeeded'
      order by created_at desc, id desc limit 1
    ) as success on true
    order by endpoint.id`.execute(db);
  return rows;
}

/** When the first delivery with a status was made that has been tried, and that came after the last success. */
const firstSince = (status: 'failed' | 'pending') => sql`(
    select created_at from webhook_deliveries
    where endpoint_id = endpoint.id and status = ${status} and attempts > 0
      and created_at > coalesce(success.finished_at, '-infinity')
    order by created_at, id limit 1)`;

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
