/**
 * The statements that the service is held against: those it runs itself, as pg sends them. They are
 * kept apart from the servers that run them, to be read beside the service's own.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { BenchMerchant } from './merchants.ts';

/** A statement as pg sends it, prepared under its name. */
export interface NamedStatement {
  readonly name: string;
  readonly text: string;
}

/** A payment by its primary key. */
export const SELECT_BY_ID: NamedStatement = {
  name: 'select_by_id',
  text: 'select * from payments where id = $1',
};

/** The newest payments of a merchant: merchant, how many. */
export const SELECT_FIRST_PAGE: NamedStatement = {
  name: 'select_first_page',
  text: `
    select * from payments where merchant_id = $1
    order by created_at desc, id desc limit $2`,
};

/** The payments of a merchant before one of them: merchant, how many, ID. */
export const SELECT_BEHIND_CURSOR: NamedStatement = {
  name: 'select_behind_cursor',
  text: `
    select * from payments where merchant_id = $1 and (created_at, id) <
      (select created_at, id from payments where id = $3 and merchant_id = $1)
    order by created_at desc, id desc limit $2`,
};

/** Columns and values of a payment: ID, merchant, branch, key, networks, expiry, creation, reference, token. */
const PAYMENT = {
  columns: `id, merchant_id, branch_id, created_by, offered_blockchain_ids, expires_at, created_at,
    customer_reference_id, checkout_token_hash, flow, amount, commission_amount, commission_bps,
    commission_payer, settlement_model`,
  values: `$1::uuid, $2::uuid, $3::uuid, $4::text, $5::text[], $6::timestamptz, $7::timestamptz,
    $8::text, $9::bytea, 'crypto', 4950, 0, 0, 'merchant', 'direct'`,
};

/** A create in one statement: what idempotency, payment, event and kept response need. */
export const CREATE: NamedStatement = {
  name: 'create',
  text: `
    with stored as (
      select body_sha256, status, body from idempotency_keys
      where account_id = $2::uuid and route = $10::text and key = $11::text and expires_at > $7),
    locked as (
      select pg_try_advisory_xact_lock(hashtextextended($2::text || $10 || $11, 0)) as taken),
    payment as (
      insert into payments (${PAYMENT.columns}) select ${PAYMENT.values}
      from locked where taken and not exists (select from stored)
      returning id),
    event as (
      insert into events (id, merchant_id, payment_id, type, created_at, data)
      select $12::uuid, $2, id, 'payment_prompt.created', $7, $13::json from payment
      returning id, merchant_id, type, created_at),
    delivery as (
      insert into webhook_deliveries (id, event_id, endpoint_id, next_attempt_at, created_at)
      select gen_random_uuid(), event.id, endpoint.id, event.created_at, event.created_at
      from event join webhook_endpoints as endpoint on endpoint.merchant_id = event.merchant_id
      where endpoint.disabled_at is null
        and (endpoint.types is null or event.type = any(endpoint.types))),
    kept as (
      insert into idempotency_keys
        (account_id, route, key, body_sha256, status, body, created_at, expires_at)
      select $2, $10, $11, $14::bytea, 201, $15::bytea, $7, $7 + interval '24 hours' from payment
      on conflict (account_id, route, key) do update set
        body_sha256 = excluded.body_sha256, status = excluded.status, body = excluded.body,
        created_at = excluded.created_at, expires_at = excluded.expires_at)
    select taken, stored.* from locked left join stored on true`,
};

/** The same create in six round trips, with BEGIN before and COMMIT after these four. */
export const SIX_ROUND_TRIPS = {
  /** Account, route, key, SHA-256, time. Waits for another request that has the key. */
  claim: {
    name: 'six_claim',
    text: `
      insert into idempotency_keys
        (account_id, route, key, body_sha256, status, body, created_at, expires_at)
      values ($1, $2, $3, $4, 0, '', $5, $5::timestamptz + interval '24 hours')
      on conflict (account_id, route, key) do nothing`,
  },
  payment: {
    name: 'six_payment',
    text: `insert into payments (${PAYMENT.columns}) values (${PAYMENT.values}) returning *`,
  },
  /** Event, merchant, payment, time, snapshot. */
  event: {
    name: 'six_event',
    text: `
      insert into events (id, merchant_id, payment_id, type, created_at, data)
      values ($1, $2, $3, 'payment_prompt.created', $4, $5)`,
  },
  /** Account, route, key, status, body. */
  response: {
    name: 'six_response',
    text: `
      update idempotency_keys set status = $4, body = $5
      where account_id = $1 and route = $2 and key = $3`,
  },
} as const;

/** A statement for pgbench, which sends it again and again as it is. */
export interface RepeatedStatement {
  readonly text: string;
  /** Values of $1, $2 and so on; one that must not come twice is left to `unique`. */
  readonly values: readonly unknown[];
  /** Columns, by name, of which each execution makes new ones: expressions of PostgreSQL. */
  readonly unique: Readonly<Record<string, string>>;
  /** Which of those columns stands in for which parameter, by its number. */
  readonly replaced: Readonly<Record<number, string>>;
}

/** The create that the service runs for a merchant, to be repeated by pgbench. */
export function repeatedCreate(merchant: BenchMerchant): RepeatedStatement {
  const now = new Date();
  const snapshot = JSON.stringify(SNAPSHOT);
  return {
    text: CREATE.text,
    values: [
      uuidv7(),
      merchant.id,
      merchant.branchId,
      merchant.credentials.keyId,
      ['btc', 'eth'],
      new Date(now.getTime() + 3_600_000),
      now,
      randomUUID(),
      randomBytes(32),
      'POST /external/v1/payments/prompt',
      randomUUID(),
      uuidv7(),
      snapshot,
      randomBytes(32),
      Buffer.from(`{"prompt":${snapshot},"checkoutUrl":"${'x'.repeat(80)}"}`),
    ],
    unique: {
      payment_id: 'uuidv7()',
      event_id: 'uuidv7()',
      created_at: 'now()',
      expires_at: "now() + interval '1 hour'",
      reference: 'gen_random_uuid()::text',
      token_hash: 'uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())',
      idempotency_key: 'gen_random_uuid()::text',
    },
    replaced: {
      1: 'payment_id',
      6: 'expires_at',
      7: 'created_at',
      8: 'reference',
      9: 'token_hash',
      11: 'idempotency_key',
      12: 'event_id',
    },
  };
}

/** As long as the snapshot of a payment is. */
const SNAPSHOT = {
  object: 'payment_prompt',
  id: randomUUID(),
  amount: 4_950,
  commissionAmount: 0,
  commissionPayer: 'merchant',
  settlementModel: 'direct',
  status: 'pending',
  sessionStatus: 'pending',
  blockchainId: null,
  tokenAmount: null,
  transactionHash: null,
  paidAt: null,
  expiresAt: new Date().toISOString(),
  createdAt: new Date().toISOString(),
  redirectUrl: null,
  customerReferenceId: randomUUID(),
  cancellationReason: null,
  lastError: null,
  externalId: null,
};

/** Type parsers of the service, as far as payments need them: bigints are numbers. */
export const readBigints: typeof pg.types.getTypeParser = (oid, format) =>
  oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format);
