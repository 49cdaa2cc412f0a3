import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { ApiKey } from '../../database/key-tables.ts';
import type { SettledBy } from '../../database/network-tables.ts';
import { ownUnmatched, type UnmatchedFigures } from '../deposits/account-deposits.ts';
import { firstIdOf } from '../payments/events.ts';
import { putAsideBy } from '../people/attention-put-aside.ts';
import {
  type TroubledEndpoint,
  type TroubleQuestion,
  troubledEndpoints,
} from '../webhooks/endpoints.ts';
import { type SecurityEvent, type SecurityEventQuery, securityEvents } from './security-events.ts';

/** The columns of a key that tell whether somebody should look at it. */
export type KeyAttention = Pick<
  ApiKey,
  'id' | 'name' | 'created_at' | 'expires_at' | 'revoked_at' | 'previous_valid_until'
>;

/** Maximum number of keys that are read. */
const KEYS_MAXIMUM = 1000;

/** What tells that somebody should look at an account, or at their own sign-in. */
export interface AttentionFacts {
  /** The account's keys but for revoked ones, newest first, at most 1,000. */
  readonly keys: readonly KeyAttention[];
  readonly unmatched: UnmatchedFigures;
  readonly troubledEndpoints: readonly (Pick<TroubledEndpoint, 'id' | 'url' | 'disabled_reason'> & {
    /** ISO 8601, as in JSON; null for an endpoint that is failing, but enabled. */
    readonly disabled_at: string | null;
    readonly succeeded_at: string | null;
  })[];
  /** Errors that the account's keys got more often than is usual, by code. */
  readonly refused: readonly { readonly errorCode: string; readonly requests: number }[];
  /** Number of active networks without an address of the main branch, in the environments where it has addresses. */
  readonly networksWithoutAddress: number;
  /** UTC calendar day of the last request by the older contract, YYYY-MM-DD; null without a recent one. */
  readonly olderContractDay: string | null;
  readonly recoveryCodesLeft: number;
  readonly securityEvents: readonly SecurityEvent[];
  /** What the person has put aside in the account. */
  readonly putAside: readonly string[];
}

interface AttentionQuestion {
  readonly merchantId: string;
  readonly person: SecurityEventQuery;
  readonly unmatchedMaximum: number;
  readonly trouble: TroubleQuestion;
  /** Codes that are counted, since when, and how many of one are still usual. */
  readonly errors: {
    readonly codes: readonly string[];
    readonly since: Date;
    readonly usual: number;
  };
  /** What reports transfers on networks that customers are offered. */
  readonly settledBy: readonly SettledBy[];
  /** First UTC calendar day, YYYY-MM-DD, on which a request by the older contract counts. */
  readonly olderContractSince: string;
}

/** Reads all facts in one statement, each along an index. */
export async function readAttentionFacts(
  db: Connection,
  {
    merchantId,
    person,
    unmatchedMaximum,
    trouble,
    errors,
    settledBy,
    olderContractSince,
  }: AttentionQuestion,
): Promise<AttentionFacts> {
  const { rows } = await sql<Omit<AttentionFacts, 'keys'> & (KeyAttention | { id: null })>`
    with configured as materialized (
      select network.id, network.environment
      from branches join deposit_addresses on branch_id = branches.id
      join networks as network on network.id = blockchain_id
      where merchant_id = ${merchantId} and is_main
    ), facts as materialized (
      select
        ${ownUnmatched(merchantId, unmatchedMaximum)} as unmatched,
        (select coalesce(json_agg(endpoint order by endpoint.id), '[]')
         from (${troubledEndpoints(merchantId, trouble)}) as endpoint) as "troubledEndpoints",
        (select coalesce(json_agg(counted order by counted."errorCode"), '[]')
         from (select code as "errorCode", sum(entry.requests)::integer as requests
               from api_keys as key
               cross join unnest(${errors.codes}::text[]) as code
               -- The limit forces a look-up of each code of a key: otherwise all errors of 30 days might be read.
               cross join lateral (
                 select requests from request_log
                 where account_id = ${merchantId} and key_id = key.id and error_code = code
                   and id >= ${firstIdOf(errors.since.getTime())}
                 order by id limit 10000) as entry
               where key.merchant_id = ${merchantId}
               group by code having sum(entry.requests) > ${errors.usual}) as counted) as refused,
        (select count(*)::integer from networks
         where is_active and settled_by = any (${settledBy}::text[])
           and environment in (select environment from configured)
           and id not in (select id from configured)) as "networksWithoutAddress",
        (select max(day) from legacy_usage
         where merchant_id = ${merchantId} and day >= ${olderContractSince}) as "olderContractDay",
        (select count(*)::integer from recovery_codes
         where person_id = ${person.personId} and used_at is null) as "recoveryCodesLeft",
        ${securityEvents(person)} as "securityEvents",
        ${putAsideBy({ person_id: person.personId, account_id: merchantId })} as "putAside"
    )
    select facts.*, key.id, key.name, key.created_at, key.expires_at, key.revoked_at,
      key.previous_valid_until
    from facts left join api_keys as key
      on key.merchant_id = ${merchantId} and key.revoked_at is null
    order by key.created_at desc, key.id limit ${KEYS_MAXIMUM}`.execute(db);
  const [facts] = rows;
  if (facts === undefined) throw new Error('a statement without a condition returns a row');
  return { ...facts, keys: rows.filter(row => row.id !== null) };
}
