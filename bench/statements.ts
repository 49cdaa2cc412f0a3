/** Statements of the baselines: the service's own, as pg sends them, and a create in six round trips. */
import { randomBytes, randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { type CreatePaymentRequest, newPayment } from '#payments/new-payment.ts';
import type { Payee } from '#payments/payee.ts';
import { type Given, type Prepared, prepare } from '#storage/database/prepared.ts';
import { createPaymentsOnce, toCreations } from '#storage/repositories/payments/creation.ts';
import { lockNameOf } from '#storage/repositories/payments/idempotency-keys.ts';
import { merchantPaymentsPage } from '#storage/repositories/payments/merchant-payments.ts';
import type { BenchMerchant } from './merchants.ts';

/** The columns of a payment that the service reads. */
const COLUMNS = [
  'id',
  'amount',
  'commission_amount',
  'commission_payer',
  'settlement_model',
  'status',
  'session_status',
  'blockchain_id',
  'token_amount',
  'token_decimals',
  'transaction_hash',
  'paid_at',
  'expires_at',
  'created_at',
  'redirect_url',
  'customer_reference_id',
  'cancellation_reason',
  'last_error_code',
  'last_error_message',
  'last_error_at',
] as const;

/** A payment by its primary key. */
export const SELECT_BY_ID = asNamed(
  prepare('bench_payment', (db, given: Given<{ id: string; merchantId: string }>) =>
    db
      .selectFrom('payments')
      .select(COLUMNS)
      .where('id', '=', given('id'))
      .where('merchant_id', '=', given('merchantId')),
  ),
);
/** The newest payments of a merchant. */
export const SELECT_FIRST_PAGE = asNamed(merchantPaymentsPage({}, undefined));
/** The payments of a merchant before one of them. */
export const SELECT_BEHIND_CURSOR = asNamed(merchantPaymentsPage({}, 'older'));

/** A prepared statement of the service for pg, with a function that binds its values. */
function asNamed<P>({ statementName: name, text, parameters }: Prepared<P, unknown>) {
  const bind = (values: P) =>
    parameters.map(({ name, value }) => (name === undefined ? value : values[name]));
  return { name, text, bind };
}

/** Columns and values of a payment: ID, merchant, branch, key, networks, expiry, creation, reference, token. */
const PAYMENT = {
  columns: `id, merchant_id, branch_id, created_by, offered_blockchain_ids, expires_at, created_at,
    customer_reference_id, checkout_token_hash, flow, amount, commission_amount, commission_bps,
    commission_payer, settlement_model`,
  values: `$1::uuid, $2::uuid, $3::uuid, $4::text, $5::text[], $6::timestamptz, $7::timestamptz,
    $8::text, $9::bytea, 'crypto', 4950, 0, 0, 'merchant', 'direct'`,
};

/** A create in six round trips: BEGIN, these four, COMMIT. */
export const SIX_ROUND_TRIPS = {
  /** Account, route, key, SHA-256, time. Waits for another request with the same key. */
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

/** A statement that pgbench repeats. */
export interface RepeatedStatement {
  readonly text: string;
  /** The value of each parameter: pieces of text, and names of expressions that each execution evaluates. */
  readonly values: readonly (readonly (string | { readonly fresh: string })[])[];
  /** SQL expressions by name. */
  readonly fresh: Readonly<Record<string, string>>;
}

/** The service's create for a merchant, for pgbench. */
export function repeatedCreate(merchant: BenchMerchant): RepeatedStatement {
  const now = new Date();
  const snapshot = JSON.stringify(SNAPSHOT);
  const request = requestOf(merchant);
  const token = randomBytes(32);
  const payment = newPayment(uuidv7(), payeeOf(merchant), request, {
    kind: 'crypto',
    settlementModel: 'direct',
    commissionAmount: 0,
    blockchainIds: ['btc', 'eth'],
    expiresAt: new Date(now.getTime() + 3_600_000),
    inquireAt: null,
    createdAt: now,
    checkoutTokenHash: token,
    processor: null,
    externalId: null,
  });
  const event = {
    id: uuidv7(),
    merchantId: merchant.id,
    paymentId: payment.id,
    type: 'payment_prompt.created',
    createdAt: now,
    data: snapshot,
    traceparent: null,
    tracestate: null,
  };
  const scope = {
    accountId: merchant.id,
    route: 'POST /external/v1/payments/prompt',
    key: randomUUID(),
  };
  const body = Buffer.from(`{"prompt":${snapshot},"checkoutUrl":"${'x'.repeat(80)}"}`);
  const response = { bodySha256: randomBytes(32), status: null, body, masterKeyVersion: 1 };
  const expiresAt = new Date(now.getTime() + 86_400_000);
  const unique = new Map([
    [payment.id, 'id'],
    [event.id, 'event'],
    [scope.key, 'key'],
    [request.body.customerReferenceId, 'reference'],
    [token.toString('hex'), 'token'],
  ]);
  const values = toCreations(
    new Map([[lockNameOf(scope), { payment, event, scope, response, now, expiresAt }]]),
  );
  const anyUnique = new RegExp(`(${[...unique.keys()].join('|')})`);
  return {
    text: createPaymentsOnce.text,
    values: createPaymentsOnce.parameters.map(({ name, value }) =>
      toText(name === undefined ? value : values[name])
        .split(anyUnique)
        .map(piece => {
          const fresh = unique.get(piece);
          return fresh === undefined ? piece : { fresh };
        }),
    ),
    fresh: FRESH,
  };
}

/** A value as pg writes it: of arrays the literal. */
function toText(value: unknown): string {
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`;
  if (value instanceof Date) return value.toISOString();
  if (!Array.isArray(value)) return String(value);
  const elements = value.map(each =>
    each === null ? 'NULL' : `"${toText(each).replaceAll(/["\\]/g, '\\$&')}"`,
  );
  return `{${elements}}`;
}

/** Values that must be unique. */
const FRESH: Readonly<Record<string, string>> = {
  id: 'uuidv7()::text',
  event: 'uuidv7()::text',
  key: 'gen_random_uuid()::text',
  reference: 'gen_random_uuid()::text',
  token: "encode(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()), 'hex')",
};

function payeeOf({ id, branchId }: BenchMerchant): Payee {
  const merchant = {
    id,
    partner_id: null,
    commission_bps: 0,
    commission_payer: 'merchant',
  } as Payee['merchant'];
  return { merchant, mainBranchId: branchId, networks: [], redirectDomains: [] };
}

function requestOf({ id, credentials }: BenchMerchant) {
  const { keyId } = credentials;
  return {
    principal: {
      kind: 'merchant',
      keyId,
      accountId: id,
      accountKind: 'standard',
      environment: 'live',
    },
    body: { amount: 4_950, customerReferenceId: randomUUID() },
    trace: null,
  } satisfies CreatePaymentRequest;
}

/** As large as a payment's snapshot. */
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
