import { type Selectable, sql } from 'kysely';
import { type BoundColumns, selectRows } from '../../database/bound-rows.ts';
import type { Connection } from '../../database/connection.ts';
import type { RequestLogTable, SignatureExplanation } from '../../database/key-tables.ts';
import { firstIdOf } from '../payments/events.ts';
import { countRows, type PageCursor } from '../rows.ts';
import { type KeyHolder, keysHeldBy } from './api-keys.ts';

/** A verified request, or the unverified ones of a key, error and minute. */
export interface LoggedRequest {
  readonly id: string;
  readonly at: Date;
  /** Not necessarily the ID of an existing key. */
  readonly keyId: string;
  readonly verified: boolean;
  readonly requests: number;
  readonly method: string;
  readonly target: string;
  readonly status: number;
  readonly errorCode: string | null;
  readonly param: string | null;
  readonly milliseconds: number;
  readonly address: string;
  readonly replayed: boolean;
  readonly paymentId: string | null;
  readonly explanation: SignatureExplanation | null;
}

const COLUMNS: BoundColumns<LoggedRequest> = {
  id: ['uuid', ({ id }) => id],
  at: ['timestamptz', ({ at }) => at],
  key_id: ['text', ({ keyId }) => keyId],
  verified: ['boolean', ({ verified }) => verified],
  requests: ['integer', ({ requests }) => requests],
  method: ['text', ({ method }) => method],
  target: ['text', ({ target }) => target],
  status: ['smallint', ({ status }) => status],
  error_code: ['text', ({ errorCode }) => errorCode],
  param: ['text', ({ param }) => param],
  milliseconds: ['integer', ({ milliseconds }) => milliseconds],
  address: ['text', ({ address }) => address],
  replayed: ['boolean', ({ replayed }) => replayed],
  payment_id: ['uuid', ({ paymentId }) => paymentId],
  explanation: ['jsonb', ({ explanation }) => explanation],
};

/** Columns by which a row that stands for several requests shows one of them. */
const SHOWN = [
  'id',
  'method',
  'target',
  'status',
  'param',
  'milliseconds',
  'address',
  'explanation',
];

/**
 * Adds requests of existing keys, in one statement. Unverified requests of a minute that has a row already are added
 * to its count; the row shows the first one, or the first that is explained.
 */
export async function writeRequests(db: Connection, rows: readonly LoggedRequest[]): Promise<void> {
  const isBetter = sql`known.explanation is null and excluded.explanation is not null`;
  const shown = SHOWN.map(
    column => sql`${sql.ref(column)} =
      case when ${isBetter} then ${sql.ref(`excluded.${column}`)} else ${sql.ref(`known.${column}`)} end`,
  );
  await sql`
    insert into request_log as known
      (id, at, account_id, key_id, verified, requests, method, target, status, error_code, param,
       milliseconds, address, replayed, payment_id, explanation)
    select given.id, at, coalesce(api_keys.merchant_id, member.partner_id), key_id, verified,
           requests, method, target, given.status, error_code, param, milliseconds, address, replayed,
           payment_id, explanation
    from (${selectRows(COLUMNS, rows)}) as given
    join api_keys on api_keys.id = key_id
    left join partner_members as member on member.id = api_keys.partner_member_id
    -- In a fixed order, so that processes that update the same rows do not deadlock.
    order by key_id, error_code, at, given.id
    on conflict (key_id, error_code, at) where not verified do update set
      requests = known.requests + excluded.requests, ${sql.join(shown)}`.execute(db);
}

/** Which requests a list shows. */
export interface RequestFilters {
  readonly keyId?: string | undefined;
  readonly errorCode?: string | undefined;
  readonly status?: number | undefined;
}

/** Whose requests: those of an account's keys that somebody may see. */
export interface LogHolder {
  readonly accountId: string;
  readonly keys: KeyHolder;
}

/** A row with the name of its key. */
export type RequestRow = Selectable<RequestLogTable> & { key_name: string };

/**
 * At most `limit` rows next to the cursor in its direction: newest first, but oldest first for `newer`. Without
 * a cursor, the newest. Each key's are read along an index, so many keys and many requests cost little.
 */
export function listRequests(
  db: Connection,
  { accountId, keys }: LogHolder,
  { keyId, errorCode, status }: RequestFilters,
  cursor: PageCursor | undefined,
  limit: number,
): Promise<RequestRow[]> {
  const order = cursor?.direction === 'newer' ? 'asc' : 'desc';
  let own = keysHeldBy(db, keys);
  if (keyId !== undefined) own = own.where('api_keys.id', '=', keyId);
  return db
    .selectFrom(own.as('own'))
    .innerJoinLateral(
      ({ selectFrom }) => {
        let query = selectFrom('request_log')
          .selectAll()
          .where('request_log.account_id', '=', accountId)
          .whereRef('request_log.key_id', '=', 'own.id');
        if (errorCode !== undefined) query = query.where('error_code', '=', errorCode);
        if (status !== undefined) query = query.where('request_log.status', '=', status);
        if (cursor !== undefined) {
          query = query.where('request_log.id', order === 'asc' ? '>' : '<', cursor.id);
        }
        return query.orderBy('request_log.id', order).limit(limit).as('entry');
      },
      join => join.onTrue(),
    )
    .selectAll('entry')
    .select('own.name as key_name')
    .orderBy('entry.id', order)
    .limit(limit)
    .execute();
}

/** Undefined also for a request with another holder's key. */
export function findRequest(
  db: Connection,
  { accountId, keys }: LogHolder,
  id: string,
): Promise<RequestRow | undefined> {
  return db
    .selectFrom('request_log as entry')
    .innerJoin(keysHeldBy(db, keys).as('own'), 'own.id', 'entry.key_id')
    .selectAll('entry')
    .select('own.name as key_name')
    .where('entry.id', '=', id)
    .where('entry.account_id', '=', accountId)
    .executeTakeFirst();
}

/** How many verified requests of a key the log has since a time, at most `limit`. */
export function countRequests(
  db: Connection,
  accountId: string,
  keyId: string,
  { since, limit }: { readonly since: Date; readonly limit: number },
): Promise<number> {
  const found = db
    .selectFrom('request_log')
    .select('id')
    .where('account_id', '=', accountId)
    .where('key_id', '=', keyId)
    .where('verified', '=', true)
    .where('id', '>=', firstIdOf(since.getTime()))
    .orderBy('id', 'desc')
    .limit(limit);
  return countRows(db.selectFrom(found.as('found')));
}

/** How often a key's requests have failed with an error. */
export interface ErrorCount {
  readonly errorCode: string;
  readonly requests: number;
  /** Whether there are more than were counted. */
  readonly isMore: boolean;
}

/**
 * How often a key's requests have failed with each of these errors since a time, the most frequent first. At most
 * `most` entries of each are counted, the newest: a key that always fails has 100,000.
 */
export async function countErrors(
  db: Connection,
  accountId: string,
  keyId: string,
  {
    codes,
    since,
    most,
  }: { readonly codes: readonly string[]; readonly since: Date; readonly most: number },
): Promise<ErrorCount[]> {
  const { rows } = await sql<ErrorCount>`
    select code as "errorCode", sum(entry.requests)::bigint as requests, count(*) > ${most} as "isMore"
    from unnest(${codes}::text[]) as code
    -- Looks each code up in the index, and reads no further than the limit.
    cross join lateral (
      select requests from request_log
      where account_id = ${accountId} and key_id = ${keyId} and error_code = code
        and id >= ${firstIdOf(since.getTime())}
      order by id desc limit ${most + 1}) as entry
    group by code
    order by requests desc, code`.execute(db);
  return rows;
}
