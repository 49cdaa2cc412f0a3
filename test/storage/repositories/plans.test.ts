import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createMerchant } from '#accounts/merchants.ts';
import { ERROR_CODES } from '#errors/catalogue.ts';
import type { Database } from '#storage/database/connection.ts';
import { listActivity } from '#storage/repositories/accounts/activity.ts';
import {
  hasSuccessfulPayment,
  listDueChanges,
  listOpenChanges,
  listToldChanges,
} from '#storage/repositories/accounts/address-changes.ts';
import { listAddressHolders } from '#storage/repositories/accounts/address-holders.ts';
import { readAttentionFacts } from '#storage/repositories/accounts/attention.ts';
import {
  hastenInquiries,
  lockOpenOfInactive,
} from '#storage/repositories/accounts/inactive-merchants.ts';
import { readPersonAttention } from '#storage/repositories/accounts/security-events.ts';
import { listWalletAddressesByUse } from '#storage/repositories/accounts/wallet-addresses.ts';
import { countPendingPayments } from '#storage/repositories/backlog.ts';
import { countHeldPayments, findOldestSeen } from '#storage/repositories/chains/status.ts';
import { listEndingPlaces } from '#storage/repositories/chains/watch-list.ts';
import {
  countSharedUnmatched,
  countUnmatchedOf,
  type InboxFilters,
  listOwnUnmatched,
} from '#storage/repositories/deposits/account-deposits.ts';
import {
  findMeantPayments,
  listStrayDeposits,
  readArrivals,
} from '#storage/repositories/deposits/deviations.ts';
import { listMerchantTransfers, listTransfers } from '#storage/repositories/deposits/transfers.ts';
import { listUnpricedNetworks, priceDeposits } from '#storage/repositories/deposits/values.ts';
import { deleteExcessRequests } from '#storage/repositories/keys/excess-requests.ts';
import {
  countErrors,
  countRequests,
  findRequest,
  listRequests,
  type RequestFilters,
} from '#storage/repositories/keys/request-log.ts';
import { claimMail } from '#storage/repositories/mails.ts';
import { deleteBefore } from '#storage/repositories/old-rows.ts';
import {
  findFirstPaidDay,
  listMerchantMonths,
  sumMonth,
} from '#storage/repositories/partners/months.ts';
import { findFirstPaymentSetup } from '#storage/repositories/payments/first-payment.ts';
import { readHistoricEvents } from '#storage/repositories/payments/history.ts';
import {
  findMerchantPayment,
  listMerchantPayments,
  type PaymentFilters,
} from '#storage/repositories/payments/merchant-payments.ts';
import { listMovements } from '#storage/repositories/payments/movements.ts';
import { lockDuePayments, lockLapsedQuotes } from '#storage/repositories/payments/moves.ts';
import { sumPaidByDay } from '#storage/repositories/payments/paid-figures.ts';
import {
  findOwnPaymentsByHash,
  findPaymentByCheckoutToken,
} from '#storage/repositories/payments/payments.ts';
import { claimInquiries } from '#storage/repositories/payments/processor-sessions.ts';
import { type PaymentSearch, searchPayments } from '#storage/repositories/payments/search.ts';
import { listTeam } from '#storage/repositories/people/team.ts';
import type { PageCursor } from '#storage/repositories/rows.ts';
import { claimDeliveries, findDueEndpoints } from '#storage/repositories/webhooks/claims.ts';
import {
  listCancelled,
  listDeliveries,
  listUndelivered,
  requeueDeliveries,
} from '#storage/repositories/webhooks/deliveries.ts';
import {
  listEndpointStates,
  listTroubledEndpoints,
} from '#storage/repositories/webhooks/endpoints.ts';
import {
  countPending,
  type DeliveryFilters,
  findOldestPending,
  findOwnDelivery,
  listOwnDeliveries,
} from '#storage/repositories/webhooks/own-deliveries.ts';
import { insertPayments } from '../../../bench/payment-history.ts';
import { cloneDatabase, type TestDatabase } from '../../helpers/database.ts';
import { idAt } from '../../helpers/id-at.ts';
import { openShop } from '../../payments/webhooks/shop.ts';

/** How the frequent statements are planned on a year of payments. */

const MERCHANTS = 10;
const PAYMENTS = 20_000;
const LIMIT = 26;

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Plan Rows': number;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Filter?: string;
  readonly Plans?: readonly PlanNode[];
}

let database: TestDatabase;
let session: pg.Client;
let merchantId: string;
let paymentId: string;
let depositId: string;
let endpointId: string;
let walletId: string;
let entryId: string;
/** Indexes of partitions, and the partitioned indexes that they belong to. */
let partOf: Map<string, string>;
const now = new Date();

beforeAll(async () => {
  database = await cloneDatabase();
  const { db } = database;
  const operator = { db, clock: Date.now, actor: 'test' };
  for (let n = 0; n < MERCHANTS; n++) {
    await createMerchant(operator, { name: `Shop ${n}`, email: 'shop@example.com' });
  }
  await insertPayments(db, PAYMENTS, { merchants: MERCHANTS });
  const shop = await openShop(database);
  endpointId = (await shop.addEndpoint('http://127.0.0.1:1/')).endpoint.id;
  await sql`
    with event as (
      insert into events
      select ${idAt(sql`created_at`)}, merchant_id, id, 'payment_prompt.created', created_at, '{}'
      from payments returning id, created_at)
    insert into webhook_deliveries (id, event_id, endpoint_id, status, next_attempt_at, finished_at,
                                    created_at)
    select gen_random_uuid(), id, ${endpointId}, case when late then 'pending' else 'succeeded' end,
           case when late then created_at end, case when not late then created_at end, created_at
    from event, lateral (select created_at > now() - interval '1 day' as late) as it`.execute(db);
  await sql`
    insert into webhook_attempts
    select ${idAt(sql`created_at`)}, id, 1, created_at, 12, 200, null, null from webhook_deliveries`.execute(
    db,
  );
  await sql`
    insert into deposits
    select gen_random_uuid(), blockchain_id, transaction_hash, 0, address, token_amount, 1, 'final',
           'exact', id, null, created_at, created_at
    from payments where status = 'successful'`.execute(db);
  await sql`
    insert into reservations (payment_id, blockchain_id, address, token_amount, reserved_at, released_at)
    select id, blockchain_id, address, token_amount, created_at, created_at
    from payments where status = 'successful'`.execute(db);
  await sql`
    insert into reservations (payment_id, blockchain_id, address, token_amount, reserved_at, released_at)
    select id, 'eth', '0x' || row_number() over (), 1, created_at, created_at
    from payments limit 5000`.execute(db);
  // All but the latest have a price.
  await sql`
    update deposits set usd_price = 1 where observed_at < now() - interval '1 day'`.execute(db);
  await sql`
    insert into account_addresses
    select 'eth', '0x' || n, merchants.id
    from merchants, generate_series(1, 500) as n`.execute(db);
  await sql`
    insert into wallets
    select gen_random_uuid(), merchants.id, 'btc', 'wpkh', 'bc', '00000000', merchants.id::text || n, '', 1, 0, now()
    from merchants, generate_series(1, 50) as n`.execute(db);
  await sql`
    insert into wallet_addresses (wallet_id, index, blockchain_id, address, received_at, is_funded)
    select wallets.id, n, 'btc', 'bc ' || wallets.id || n, case when n < 8 then now() end, n < 7
    from wallets, generate_series(0, 9) as n`.execute(db);
  await sql`
    insert into reservations (payment_id, blockchain_id, address, token_amount, reserved_at, released_at)
    select payment.id, 'btc', wallet_addresses.address, 1, now(), now()
    from wallet_addresses, (select id from payments limit 1) as payment where index = 8`.execute(
    db,
  );
  await sql`
    insert into deposits
    select gen_random_uuid(), 'eth', 'left ' || n, 0, '0x' || n, 1, 1, 'final', 'unknown', null, null,
           now() - n * interval '1 minute', now()
    from generate_series(1, 500) as n`.execute(db);
  await sql`
    insert into deposits
    select gen_random_uuid(), 'eth', 'settled ' || n, 0, '0x' || n % 500, 1, 1, 'final', 'unknown', null,
           now() - n * interval '1 hour', now(), now()
    from generate_series(1, 100) as n`.execute(db);
  await sql`
    insert into booked_deposits
    select distinct on (deposits.id) deposits.id, merchants.id, observed_at
    from deposits cross join merchants where outcome = 'unknown'
    order by deposits.id, md5(deposits.id::text || merchants.id)`.execute(db);
  await sql`
    insert into booked_returns
    select gen_random_uuid(), merchants.id, now() - n * interval '1 hour', 'Ada', '0xback ' || n, null
    from generate_series(1, 1000) as n cross join merchants`.execute(db);
  await sql`
    insert into deviating_deposits
    select deposits.id, payments.id, case when random() < 0.5 then 'late' else 'under' end,
           merchant_id, created_at
    from deposits join payments on payments.id = payment_id`.execute(db);
  await sql`
    insert into payment_transitions
    select gen_random_uuid(), id, 'pending', 'pending', status, session_status, created_at, '', ''
    from payments where status <> 'pending'`.execute(db);
  await sql`
    insert into nonces select 'mpk', n::text, now() + n * interval '1 second'
    from generate_series(-500, 20000) as n`.execute(db);
  await sql`
    insert into idempotency_keys
    select ${shop.merchant.id}, 'POST /', n::text, '', 201, '', now(), now() + n * interval '1 second'
    from generate_series(-500, 20000) as n`.execute(db);
  await sql`
    insert into findings
    select gen_random_uuid(), 'eth', 'unreadable', 'eth', 'odd ' || n, null, '0x' || n, null, n, 'odd',
           now(), case when n > 20 then now() end, null
    from generate_series(1, 5000) as n`.execute(db);
  await sql`
    insert into api_keys (id, merchant_id, name, scopes, secret, passphrase_hash, master_key_version, created_at)
    select 'mpk_' || lpad((row_number() over ())::text, 24, '0'), merchants.id, 'key', '{}', '', '', 1, now()
    from merchants, generate_series(1, 3)`.execute(db);
  // Mostly creations, one each minute.
  await sql`
    insert into request_log
    select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7000' || substr(md5(n::text), 17))::uuid,
           at, merchant_id, 1, 3, case when n % 20 = 0 then 400 else 201 end, true, false, null, id,
           case when n % 20 = 0 then 'E' || 1000 + n % 7 end, null, 'POST', '/', '192.0.2.1'
    from generate_series(1, ${PAYMENTS}) as n,
         lateral (select now() - n * interval '1 minute' as at) as time,
         lateral (select id, merchant_id from api_keys where id = 'mpk_' || lpad((1 + n % ${3 * MERCHANTS})::text, 24, '0')) as key`.execute(
    db,
  );
  await sql`
    insert into people (id, name, email, created_at)
    select gen_random_uuid(), 'Ada', n || '@example.com', now() from generate_series(1, 2000) as n`.execute(
    db,
  );
  await sql`
    insert into branches
    select gen_random_uuid(), id, 'Branch ' || n, false, now()
    from merchants, generate_series(1, 200) as n`.execute(db);
  await sql`
    insert into deposit_addresses
    select id, 'eth', 'own ' || id, now() from branches`.execute(db);
  await sql`
    insert into recovery_codes
    select id, sha256(n::text::bytea), case when n < 4 then now() end
    from people, generate_series(1, 8) as n`.execute(db);
  await sql`
    insert into attention_put_aside
    select people.id, account.id, 'key-made:mpk_' || lpad(n::text, 24, '0'), now() - n * interval '1 day'
    from people, (select id from merchants limit 2) as account, generate_series(1, 10) as n
    order by n desc`.execute(db);
  await sql`
    insert into legacy_usage
    select id, current_date - n, route, 5
    from merchants, generate_series(1, 300) as n, unnest(array['POST /', 'GET /']) as route`.execute(
    db,
  );
  await sql`
    insert into merchant_users (id, merchant_id, name, email, role, created_at)
    select gen_random_uuid(), id, 'Ada', n || '@example.com', 'member', now() - n * interval '1 hour'
    from merchants, generate_series(1, 200) as n`.execute(db);
  // From these merchants, and from others, each of which has a small share.
  await sql`
    insert into audit_log (id, at, actor, action, object_type, object_id, detail, account_id)
    select gen_random_uuid(), now() - n * interval '1 minute', 'Ada', 'user.set', 'user', '', '{}', id
    from (select id from merchants union all select gen_random_uuid() from generate_series(1, 190)) as it,
         generate_series(1, 100) as n`.execute(db);
  // A few of them are open.
  await sql`
    insert into address_changes (id, merchant_id, kind, branch_id, blockchain_id, address, former,
      proposed_by, person_id, proposed_at, effective_at, needs_approval, outcome, ended_at)
    select gen_random_uuid(), merchant_id, 'address.set', branches.id, 'eth', '0x' || n || branches.id, '{}', '',
           (select id from people limit 1), now(), now() + n * interval '1 hour', false,
           case when n > 1 or name not like '%7' then 'applied' end,
           case when n > 1 or name not like '%7' then now() - n * interval '1 hour' end
    from branches, generate_series(1, 10) as n`.execute(db);
  await sql`
    insert into mails (id, kind, person_id, occasion, facts, created_at, due_at, outcome, ended_at)
    select gen_random_uuid(), 'key-made', people.id, n::text, '{}', now() - n * interval '1 hour',
           case when n = 1 then now() end, case when n > 1 then 'sent' end, case when n > 1 then now() end
    from (select id from people limit 300) as people, generate_series(1, 20) as n`.execute(db);
  await sql`vacuum (analyze)`.execute(db);
  // A payment in the middle of its merchant's.
  const middle = await db
    .selectFrom('payments')
    .select(['id', 'merchant_id'])
    .orderBy('created_at')
    .offset(PAYMENTS / 2)
    .limit(1)
    .executeTakeFirstOrThrow();
  [paymentId, merchantId] = [middle.id, middle.merchant_id];
  const deposit = await db
    .selectFrom('deposits')
    .select('id')
    .where('payment_id', 'is', null)
    .executeTakeFirstOrThrow();
  depositId = deposit.id;
  walletId = (await db.selectFrom('wallets').select('id').executeTakeFirstOrThrow()).id;
  const entry = await db
    .selectFrom('audit_log')
    .select('id')
    .where('account_id', '=', merchantId)
    .orderBy('at')
    .offset(50)
    .limit(1)
    .executeTakeFirstOrThrow();
  entryId = entry.id;
  session = new pg.Client({ connectionString: database.url });
  await session.connect();
  const { rows: parts } = await sql<{ part: string; index: string }>`
    select part.relname as part, coalesce(whole.relname, owner.relname || '_pkey') as index
    from pg_index join pg_class as part on part.oid = indexrelid
    join pg_inherits as tables on tables.inhrelid = indrelid
    join pg_class as owner on owner.oid = tables.inhparent
    left join pg_inherits as indexes on indexes.inhrelid = indexrelid
    left join pg_class as whole on whole.oid = indexes.inhparent
    where whole.oid is not null or indisprimary`.execute(db);
  partOf = new Map(parts.map(({ part, index }) => [part, index]));
});
afterAll(async () => {
  await session.end();
  await database.drop();
});

/**
 * The nodes of the plans of what `run` sends: as planned for its values, and as planned generically for a
 * prepared statement.
 */
async function plansOf(
  run: (db: Database) => Promise<unknown>,
  statements = 1,
): Promise<PlanNode[]> {
  const query = vi.spyOn(pg.Client.prototype, 'query');
  await run(database.db);
  const sent = query.mock.calls
    .map(([statement]) => statement as unknown as pg.QueryConfig)
    // A new connection first asks the server for its role.
    .filter(({ text }) => !text.includes('pg_is_in_recovery'));
  query.mockRestore();
  expect(sent).toHaveLength(statements);
  const nodes: PlanNode[] = [];
  for (const { text, values = [] } of sent) {
    const literals = values.map(value => pg.escapeLiteral(toText(value))).join(', ');
    const executed = values.length === 0 ? 'execute it' : `execute it(${literals})`;
    await session.query(`prepare it as ${text}`);
    for (const mode of ['force_custom_plan', 'force_generic_plan']) {
      await session.query(`set plan_cache_mode = ${mode}`);
      const { rows } = await session.query(`explain (format json) ${executed}`);
      nodes.push(...flatten(rows[0]['QUERY PLAN'][0].Plan));
    }
    await session.query('deallocate it');
  }
  return nodes;
}

/** A member of an account, who reads the account's notices; none of the IDs is a person's. */
function personAsked(kind: 'merchant' | 'partner') {
  const [personId, memberId] = [paymentId, depositId];
  const actions = ['person.password', 'person.renew'];
  return { kind, personId, memberId, accountId: merchantId, actions, since: now };
}

function toText(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(toText).join()}}`;
  return value instanceof Date ? value.toISOString() : String(value);
}

/** All nodes, with indexes of partitions named after the partitioned table's. */
function flatten(node: PlanNode): PlanNode[] {
  const { 'Index Name': index, Plans: plans = [] } = node;
  return [
    index === undefined ? node : { ...node, 'Index Name': partOf.get(index) ?? index },
    ...plans.flatMap(flatten),
  ];
}

/** Indexes that are read; every table except the small ones must be read through one. */
function indexesOf(nodes: readonly PlanNode[]): Set<string> {
  const small = [
    'merchants',
    'api_keys',
    'networks',
    'chains',
    'webhook_endpoints',
    // Empty here.
    'partner_members',
    // Only usable links: they are removed a day after they expire.
    'panel_links',
    '_private_jobs',
    '_private_tasks',
    '_private_job_queues',
  ];
  const whole = nodes.filter(
    ({ 'Node Type': type, 'Relation Name': table = '' }) =>
      // Partitions of future months are empty.
      type === 'Seq Scan' && !small.includes(table) && !/_[0-9]{6}$/.test(table),
  );
  expect(whole).toEqual([]);
  return new Set(nodes.flatMap(node => node['Index Name'] ?? []));
}

test('a payment is read by its ID', async () => {
  const nodes = await plansOf(db => findMerchantPayment(db, merchantId, paymentId));
  expect(indexesOf(nodes)).toEqual(new Set(['payments_pkey']));
});

test('the daily sums of payments are read from the rollup', async () => {
  await sql`
    with days as (
      insert into merchant_paid_days (merchant_id, day, payments, cents)
      select merchants.id, date '2026-01-01' + n, 1, 100 from merchants, generate_series(0, 300) as n
      returning *
    )
    insert into merchant_paid_deltas (merchant_id, day, payments, cents) select * from days`.execute(
    database.db,
  );
  await sql`analyze merchant_paid_days, merchant_paid_deltas`.execute(database.db);
  const nodes = await plansOf(db => sumPaidByDay(db, merchantId, '2026-04-18'));
  expect(indexesOf(nodes)).toEqual(
    new Set(['merchant_paid_days_pkey', 'merchant_paid_deltas_merchant']),
  );
});

test('a page of a merchant’s movements is read from where it begins', async () => {
  const from = new Date(now.getTime() - 30 * 24 * 60 * 60_000);
  for (const after of [undefined, { at: from, id: paymentId }]) {
    const page = { from, until: now, after, limit: LIMIT };
    const nodes = await plansOf(db => listMovements(db, merchantId, page));
    expect(indexesOf(nodes)).toEqual(
      new Set([
        ...['payments_paid', 'deposits_payment', 'booked_deposits_merchant', 'deposits_pkey'],
        ...['booked_returns_merchant', 'payments_pkey', 'networks_pkey', 'wallet_addresses_place'],
      ]),
    );
    // Only the pages of each kind are collected and sorted.
    const sorts = nodes.filter(node => node['Node Type'] === 'Sort');
    expect(sorts.filter(node => node['Plan Rows'] > 3 * LIMIT)).toEqual([]);
    for (const [index, condition] of [
      ['payments_paid', /paid_at >= .*paid_at </],
      ['booked_deposits_merchant', /booked_at >= .*booked_at </],
      ['booked_returns_merchant', /booked_at >= .*booked_at </],
    ] as const) {
      const reads = nodes.filter(node => node['Index Name'] === index);
      expect(reads.length).toBeGreaterThanOrEqual(2);
      for (const read of reads) expect(read['Index Cond']).toMatch(condition);
    }
  }
});

describe("the months of a partner's commission", () => {
  const month = { first: '2026-03-01', end: '2026-04-01' };
  let partnerId: string;
  beforeAll(async () => {
    const { db } = database;
    // 20 partners, each with all merchants.
    const { rows } = await sql<{ id: string }>`
      with someone as (select gen_random_uuid() as partner_id from generate_series(1, 20)),
      days as (
        insert into partner_paid_days (partner_id, merchant_id, day, payments, cents)
        select someone.partner_id, merchants.id, date '2026-01-01' + n, 1, 100
        from someone, merchants, generate_series(0, 300) as n returning 1
      ), months as (
        insert into partner_commission_months (partner_id, merchant_id, month, cents)
        select someone.partner_id, merchants.id, date '2020-01-01' + n * interval '1 month', 100
        from someone, merchants, generate_series(0, 80) as n returning 1
      ), deltas as (
        insert into partner_deltas (partner_id, merchant_id, status, blockchain_id, address,
                                    created_day, paid_day, payments, cents)
        select partner_id, ${merchantId}, 'successful', '', '', '2026-03-01', '2026-03-01', 1, 100
        from someone, generate_series(1, 300) as n returning 1
      ), month_deltas as (
        insert into partner_commission_month_deltas (partner_id, merchant_id, month, cents)
        select partner_id, ${merchantId}, '2026-03-01', 100
        from someone, generate_series(1, 300) as n returning 1
      )
      select partner_id as id from someone limit 1`.execute(db);
    partnerId = rows[0]?.id ?? '';
    await sql`
      analyze partner_paid_days, partner_commission_months, partner_deltas,
              partner_commission_month_deltas`.execute(db);
  });

  test.each<[string, (db: Database) => Promise<unknown>]>([
    ['of its merchants', db => listMerchantMonths(db, partnerId, month, { limit: LIMIT })],
    ['in all', db => sumMonth(db, partnerId, month)],
  ])('%s: are read from rollups, that month alone', async (_, run) => {
    const indexes = indexesOf(await plansOf(run));
    expect(indexes).toContain('partner_paid_days_day');
    expect(indexes).toContain('partner_commission_months_pkey');
    expect(indexes).toContain('partner_deltas_partner');
    expect(indexes).toContain('partner_commission_month_deltas_partner');
  });

  test('the first of them is found by its day', async () => {
    const indexes = indexesOf(await plansOf(db => findFirstPaidDay(db, partnerId)));
    expect(indexes).toContain('partner_paid_days_day');
  });
});

describe('the request log', () => {
  const ofMerchant = () => ({ accountId: merchantId, keys: { merchantId } });
  const aMonth = 30 * 24 * 60 * 60_000;
  let keyId: string;
  let requestId: string;
  beforeAll(async () => {
    const row = await database.db
      .selectFrom('request_log')
      .select(['id', 'key_id'])
      .where('account_id', '=', merchantId)
      .executeTakeFirstOrThrow();
    [keyId, requestId] = [row.key_id, row.id];
  });

  const older = () => ({ direction: 'older', id: requestId }) as const;
  test.each<[string, () => RequestFilters]>([
    ['all', () => ({})],
    ['of a key', () => ({ keyId })],
    ['of a status', () => ({ status: 400 })],
    ['with an error', () => ({ errorCode: 'E1001' })],
  ])('%s: is read from each key, the newest first', async (_, filters) => {
    for (const cursor of [undefined, older()]) {
      const nodes = await plansOf(db => listRequests(db, ofMerchant(), filters(), cursor, LIMIT));
      const reads = nodes.filter(node => node['Index Name']?.startsWith('request_log'));
      expect([...indexesOf(nodes)].join()).toMatch(/request_log_(key|errors)/);
      for (const read of reads) expect(read['Index Cond']).toContain('key_id');
    }
  });

  test('a request is read by its ID', async () => {
    const nodes = await plansOf(db => findRequest(db, ofMerchant(), requestId));
    expect([...indexesOf(nodes)]).toContain('request_log_pkey');
  });

  test('the last requests of a key are counted along an index', async () => {
    const since = new Date(now.getTime() - aMonth);
    const counted = { since, limit: LIMIT };
    const nodes = await plansOf(db => countRequests(db, merchantId, keyId, counted));
    expect(indexesOf(nodes)).toEqual(new Set(['request_log_key']));
    const reads = nodes.filter(node => node['Index Name'] !== undefined);
    for (const read of reads) expect(read['Index Cond']).toMatch(/key_id.*\bid >=/);
  });

  test('each error of a key is counted from the index alone', async () => {
    const since = new Date(now.getTime() - aMonth);
    const counted = { codes: ERROR_CODES, since, most: LIMIT };
    const nodes = await plansOf(db => countErrors(db, merchantId, keyId, counted));
    expect(indexesOf(nodes)).toEqual(new Set(['request_log_errors']));
    const reads = nodes.filter(node => node['Index Name'] !== undefined);
    expect(new Set(reads.map(node => node['Node Type']))).toEqual(new Set(['Index Only Scan']));
    for (const read of reads) expect(read['Index Cond']).toMatch(/key_id.*error_code.*\bid >=/);
  });

  test('excess rows of an account are found by indexes', async () => {
    indexesOf(await plansOf(db => deleteExcessRequests(db, 100_000, 1_000)));
  });
});

describe('deliveries to an endpoint of a merchant', () => {
  let own: { merchantId: string; endpointId: string };
  let deliveryId: string;
  beforeAll(async () => {
    const row = await database.db
      .selectFrom('webhook_deliveries as delivery')
      .innerJoin('webhook_endpoints as endpoint', 'endpoint.id', 'endpoint_id')
      .select(['delivery.id', 'endpoint.merchant_id'])
      .where('endpoint_id', '=', endpointId)
      .executeTakeFirstOrThrow();
    own = { merchantId: row.merchant_id, endpointId };
    deliveryId = row.id;
  });

  test.each<[string, DeliveryFilters, string]>([
    ['all', {}, 'webhook_deliveries_endpoint'],
    ['of some days', { createdFrom: new Date(0), createdTo: now }, 'webhook_deliveries_endpoint'],
    ['that failed', { status: 'failed' }, 'webhook_deliveries_outcome'],
    [
      'that failed on some days',
      { status: 'failed', createdTo: now },
      'webhook_deliveries_outcome',
    ],
  ])('%s: are read in their order from an index', async (_, filters, index) => {
    for (const direction of [undefined, 'older', 'newer'] as const) {
      const cursor = direction && { direction, id: deliveryId };
      const nodes = await plansOf(db => listOwnDeliveries(db, own, filters, cursor, LIMIT));
      expect([...indexesOf(nodes)]).toContain(index);
      // There are so few failed ones that all may be sorted.
      const sorts = nodes.filter(node => node['Node Type'] === 'Sort');
      expect(sorts.filter(node => node['Plan Rows'] > LIMIT)).toEqual([]);
    }
  });

  test('one is read by its ID, and those that wait by their outcome', async () => {
    // Their IDs contain no time, so they are first looked for in their month.
    const one = await plansOf(db => findOwnDelivery(db, own, deliveryId), 2);
    expect([...indexesOf(one)]).toEqual(
      expect.arrayContaining(['webhook_deliveries_pkey', 'webhook_deliveries_original']),
    );
    const oldest = await plansOf(db => findOldestPending(db, own));
    expect([...indexesOf(oldest)]).toContain('webhook_deliveries_outcome');
    const waiting = await plansOf(db => countPending(db, own, LIMIT));
    expect([...indexesOf(waiting)]).toContain('webhook_deliveries_outcome');
  });
});

describe('deposits that a merchant has to settle', () => {
  test.each<[string, InboxFilters, string | undefined]>([
    ['all', {}, undefined],
    ['worth little', { valueMaximum: 100 }, undefined],
    ['late ones of a network, on a later page', { outcome: 'late', blockchainId: 'eth' }, 'after'],
    ['all, on a later page of a file', {}, 'read'],
  ])('%s: are read from each address, the most valuable first', async (_, filters, after) => {
    const read = { id: depositId, value_cents: null };
    const page = { after: after === 'read' ? read : after && depositId, limit: LIMIT };
    const nodes = await plansOf(db => listOwnUnmatched(db, merchantId, filters, page));
    expect([...indexesOf(nodes)]).toContain('deposits_inbox');
  });

  test('are counted at shared addresses', async () => {
    const nodes = await plansOf(db => countSharedUnmatched(db, merchantId, LIMIT));
    expect([...indexesOf(nodes)]).toContain('deposits_inbox');
  });
});

test('whether a merchant has ever been paid is found in the index', async () => {
  const nodes = await plansOf(db => findFirstPaymentSetup(db, merchantId, now));
  const reads = nodes.filter(node => node['Relation Name'] === 'payments');
  expect(reads).toHaveLength(2);
  for (const read of reads) expect(read['Index Name']).toMatch(/^payments_(paid|list_status)$/);
});

test('what needs attention is read from indexes, and each code of a key from the request log', async () => {
  const nodes = await plansOf(db =>
    readAttentionFacts(db, {
      merchantId,
      person: personAsked('merchant'),
      settledBy: ['chain'],
      unmatchedMaximum: LIMIT,
      trouble: { since: now, limit: 100 },
      errors: { codes: ['E2001', 'E2007'], since: now, usual: 10 },
      olderContractSince: now.toISOString().slice(0, 10),
    }),
  );
  expect([...indexesOf(nodes)]).toEqual(
    expect.arrayContaining([
      ...['request_log_errors', 'audit_log_object', 'deposits_inbox'],
      ...['webhook_deliveries_endpoint', 'webhook_deliveries_waiting'],
      'attention_put_aside_pkey',
    ]),
  );
  const reads = nodes.filter(node => node['Index Name'] === 'request_log_errors');
  for (const read of reads) expect(read['Index Cond']).toMatch(/key_id.*error_code.*\bid >=/);
});

describe('a page of a merchant', () => {
  const filters: [name: string, filters: PaymentFilters, index: string][] = [
    ['everything', {}, 'payments_list'],
    ['a rare status', { status: 'cancelled' }, 'payments_list_status'],
    ['a common status', { status: 'successful' }, 'payments_list_status'],
    ['a reference', { customerReferenceId: 'ORD-2026-0000000001' }, 'payments_list_reference'],
    ['a time', { createdBefore: now }, 'payments_list'],
  ];
  const directions: (PageCursor['direction'] | undefined)[] = [undefined, 'older', 'newer'];

  test.each(
    filters.flatMap(([name, filter, index]) =>
      directions.map(direction => ({ name, filter, index, direction })),
    ),
  )('of $name, $direction: is read from where it begins', async it => {
    const { filter, index, direction } = it;
    const cursor = direction === undefined ? undefined : { direction, id: paymentId };
    const nodes = await plansOf(db => listMerchantPayments(db, merchantId, filter, cursor, LIMIT));
    const expected = [index, ...(cursor === undefined ? [] : ['payments_pkey'])];
    expect(indexesOf(nodes)).toEqual(new Set(expected));
    const pages = nodes.filter(node => node['Index Name'] === index);
    expect(pages).toHaveLength(2);
    for (const page of pages) {
      expect(page.Filter).toBeUndefined();
      expect(page['Index Cond']?.includes('ROW(created_at, id)')).toBe(cursor !== undefined);
    }
    // In index order, so that only the page is read; where there are fewer rows than a page, they may be sorted.
    const sorts = nodes.filter(node => node['Node Type'] === 'Sort');
    expect(sorts.filter(node => node['Plan Rows'] > LIMIT)).toEqual([]);
  });
});

describe('a search of a merchant', () => {
  const text = { whole: 'ORD', part: 'ORD', cents: 5000, tokens: '50' };
  test.each<[string, PaymentSearch, string]>([
    ['text', { text }, 'payments_list'],
    ['text in a status', { text, status: 'successful' }, 'payments_list_status'],
    ['a network', { blockchainId: 'eth' }, 'payments_list'],
    ['an amount', { amountMinimum: 100, amountMaximum: 5000 }, 'payments_list'],
    ['what arrived late', { deviation: 'late' }, 'deviating_deposits_list'],
    ['what is underpaid', { deviation: 'under', text }, 'deviating_deposits_list'],
  ])('for %s looks at a bounded number of payments, in their order', async (_, search, index) => {
    for (const after of [undefined, paymentId]) {
      const page = { after, limit: LIMIT };
      const nodes = await plansOf(db => searchPayments(db, merchantId, search, page), 2);
      expect([...indexesOf(nodes)]).toEqual(expect.arrayContaining([index, 'payments_pkey']));
      // Read in index order: nothing but a page is collected and sorted.
      const sorts = nodes.filter(node => node['Node Type'] === 'Sort');
      expect(sorts).toEqual([]);
    }
  });
});

test.each<[string, (db: Database) => Promise<unknown>, string[]]>([
  [
    'payments to expire',
    db => lockDuePayments(db, now, 50),
    ['payments_expiring', 'deposits_payment', 'findings_holding'],
  ],
  ['payments that are pending', db => countPendingPayments(db), ['payments_due']],
  ['payments that are held', db => countHeldPayments(db, now), ['payments_expiring']],
  [
    'places where payments end',
    db => listEndingPlaces(db, 'eth', { after: new Date(now.getTime() - 60_000), by: now }, 100),
    ['payments_expiring', 'payments_quoted', 'reservations_released'],
  ],
  [
    "an account's entries of the audit log",
    db => listActivity(db, merchantId, { direction: 'older', id: entryId }, LIMIT),
    ['audit_log_account'],
  ],
  [
    'the team of an account',
    db => listTeam(db, 'merchant', merchantId, { limit: LIMIT, now }),
    ['merchant_users_merchant'],
  ],
  ['whether a payment was ever successful', db => hasSuccessfulPayment(db, merchantId), []],
  [
    'changes of where money goes that are due',
    db => listDueChanges(db, now, 50),
    ['address_changes_due'],
  ],
  [
    'changes of where money goes that an account is told of',
    db => listToldChanges(db, merchantId, { since: now, limit: 4 }),
    ['address_changes_merchant'],
  ],
  [
    'changes of where money goes that wait in an account',
    db => listOpenChanges(db, merchantId),
    ['address_changes_merchant'],
  ],
  ['deposits that are not final', db => findOldestSeen(db), ['deposits_unsettled']],
  // The index depends on how many merchants are inactive and how many payments are open.
  ['payments to cancel', db => lockOpenOfInactive(db, 50), []],
  ['US payments to cancel', db => hastenInquiries(db, { now, latest: now }, 50), []],
  ['quotes to withdraw', db => lockLapsedQuotes(db, now, 50), ['payments_quoted']],
  [
    'regulated payments to ask about',
    db => claimInquiries(db, { first: 1, shortest: 1, longest: 2, cancelling: 1 }, now, 10),
    ['payments_inquiries', 'payments_pkey'],
  ],
  [
    'endpoints with deliveries to attempt',
    db => findDueEndpoints(db, now, 4),
    ['webhook_deliveries_waiting'],
  ],
  [
    'deliveries to attempt',
    db => claimDeliveries(db, [{ endpointId, count: 4 }], { now, until: now }),
    ['webhook_deliveries_waiting', 'webhook_deliveries_pkey', 'events_pkey'],
  ],
  [
    'the latest deliveries to an endpoint',
    db => listDeliveries(db, { endpointId }, 20),
    ['webhook_deliveries_endpoint', 'events_pkey'],
  ],
  [
    'deliveries to redeliver',
    db => listUndelivered(db, endpointId, new Date(0), 1_001),
    ['webhook_deliveries_outcome'],
  ],
  [
    'what disabling an endpoint cancelled',
    db => listCancelled(db, endpointId, new Date(0), 10_001),
    ['webhook_deliveries_outcome', 'webhook_deliveries_original'],
  ],
  [
    'deliveries to queue again',
    db => requeueDeliveries(db, [{ id: paymentId, event_id: paymentId }], now),
    ['webhook_deliveries_pkey'],
  ],
  [
    'endpoints that take nothing',
    db => listTroubledEndpoints(db, merchantId, { since: now, limit: 100 }),
    ['webhook_deliveries_endpoint', 'webhook_deliveries_waiting'],
  ],
  [
    'networks with deposits to value',
    db => listUnpricedNetworks(db, 'waiting'),
    ['deposits_unpriced'],
  ],
  [
    'networks with settled deposits to value',
    db => listUnpricedNetworks(db, 'settled'),
    ['deposits_settled_unpriced'],
  ],
  [
    'deposits to value',
    db =>
      priceDeposits(db, { which: 'waiting', blockchainId: 'eth' }, { usdPrice: 1n, at: now }, 500),
    ['deposits_unpriced', 'deposits_pkey'],
  ],
  [
    'settled deposits to value',
    db =>
      priceDeposits(db, { which: 'settled', blockchainId: 'eth' }, { usdPrice: 1n, at: now }, 500),
    ['deposits_settled_unpriced', 'deposits_pkey'],
  ],
  [
    'what did not count for a payment',
    db => listStrayDeposits(db, paymentId),
    ['deviating_deposits_payment', 'deposits_pkey'],
  ],
  [
    'the payment of a checkout',
    db => findPaymentByCheckoutToken(db, Buffer.alloc(32, 'a')),
    ['payments_checkout_token', 'deposits_payment', 'deviating_deposits_payment'],
  ],
  [
    'what a payer sees of transfers',
    db => listTransfers(db, paymentId),
    [
      ...['deposits_payment', 'deviating_deposits_payment', 'deposits_pkey'],
      ...['booked_returns_pkey', 'reservations_payment'],
    ],
  ],
  [
    'what a merchant sees of transfers',
    db => listMerchantTransfers(db, paymentId),
    [
      ...['deposits_payment', 'deviating_deposits_payment', 'deposits_pkey'],
      ...['booked_returns_pkey', 'payments_pkey', 'account_addresses_pkey'],
    ],
  ],
  [
    'the payment that a deposit was meant for',
    db => findMeantPayments(db, [depositId]),
    ['deviating_deposits_pkey', 'payments_pkey', 'payment_transitions_payment'],
  ],
  [
    'what was told of a payment',
    db => readHistoricEvents(db, paymentId),
    ['events_payment', 'webhook_deliveries_event', 'webhook_attempts_delivery'],
  ],
  [
    "a payment's transaction",
    db => findOwnPaymentsByHash(db, merchantId, '0x1'),
    ['deposits_hash'],
  ],
  [
    'what arrived for payments',
    db => readArrivals(db, [paymentId]),
    ['payments_pkey', 'deposits_payment', 'deviating_deposits_payment'],
  ],
  [
    'endpoints of all merchants to which nothing is delivered',
    db => listEndpointStates(db, { since: now, after: null, limit: 200 }),
    ['webhook_deliveries_endpoint', 'webhook_deliveries_waiting'],
  ],
  [
    'deposits of a day that merchants are told of',
    db => {
      const since = new Date(now.getTime() - 24 * 60 * 60_000);
      return countUnmatchedOf(db, { since, until: now, limit: 1_000 });
    },
    ['deposits_unmatched', 'account_addresses_pkey'],
  ],
  [
    'who holds an address',
    db => listAddressHolders(db, { family: 'evm', environment: 'production', address: '0x1' }),
    [
      ...['address_holders_pkey', 'deposit_addresses_address', 'address_changes_merchant'],
      ...['reservations_address', 'reservations_lately', 'wallet_addresses_place', 'wallets_pkey'],
    ],
  ],
  [
    'the addresses of a wallet that a payment may get',
    async db =>
      listWalletAddressesByUse(db, walletId, {
        paymentId: crypto.randomUUID(),
        range: { from: 1n, to: 9n },
        lateSince: new Date(0),
      }),
    ['wallets_pkey', 'wallet_addresses_empty', 'wallet_addresses_funded'],
  ],
  [
    'what a person is told of in a partner’s panel',
    db => readPersonAttention(db, personAsked('partner'), merchantId),
    ['audit_log_object', 'attention_put_aside_pkey'],
  ],
  ['mail to send', db => claimMail(db, now, now), ['mails_due', 'mails_pkey']],
  [
    'items that were put aside long ago',
    db => deleteBefore(db, 'attention_put_aside', new Date(0), 1000),
    ['attention_put_aside_at'],
  ],
  ['mails that are old', db => deleteBefore(db, 'mails', new Date(0), 1000), ['mails_created']],
  ['nonces that expired', db => deleteBefore(db, 'nonces', now, 1000), ['nonces_expiry']],
  [
    'responses that expired',
    db => deleteBefore(db, 'idempotency_keys', now, 1000),
    ['idempotency_keys_expiry'],
  ],
])('%s are found by index', async (_, run, expected) => {
  const indexes = indexesOf(await plansOf(run));
  expect([...indexes]).toEqual(expect.arrayContaining(expected));
});
