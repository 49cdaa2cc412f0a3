import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { sql } from 'kysely';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createKeyring } from '#crypto/keyring.ts';
import { openStorage } from '#runtime/storage.ts';
import { connect, type Database } from '#storage/database/connection.ts';
import { preparedStatements } from '#storage/database/prepared.ts';
import { type SessionOptions, sessionConfig } from '#storage/database/session.ts';
import { merchantPaymentsPage } from '#storage/repositories/payments/merchant-payments.ts';
import { insertPayments } from '../../../bench/payment-history.ts';
import { addMerchant, addPartner } from '../../helpers/accounts.ts';
import { startTestApp, testConfig } from '../../helpers/app.ts';
import { cloneDatabase, type TestDatabase } from '../../helpers/database.ts';
import { PROMPT_PATH } from '../../helpers/prompt-path.ts';
import { send } from '../../helpers/signed-request.ts';
import { SOON } from '../../helpers/soon.ts';

/**
 * A prepared statement keeps its plan while its tables grow, until they are analysed. The plan has to suit a
 * long history, whatever statistics PostgreSQL had when it made the plan.
 */

/** Where a statement runs, and the indexes of its plans: no plan may use anything else. */
interface Expected {
  readonly plans: NonNullable<SessionOptions['plans']>;
  readonly indexes: readonly string[];
}

/** Columns that each index must be searched by. */
const SEARCHED_BY: Readonly<Record<string, readonly string[]>> = {
  api_keys_pkey: ['id'],
  merchants_pkey: ['id'],
  partners_pkey: ['id'],
  partner_members_pkey: ['id'],
  branches_merchant: ['merchant_id'],
  branches_one_main: ['merchant_id'],
  deposit_addresses_pkey: ['branch_id'],
  redirect_domains_pkey: ['merchant_id'],
  reservations_payment: ['payment_id'],
  webhook_endpoints_merchant: ['merchant_id'],
  webhook_endpoints_pkey: ['id'],
  payments_pkey: ['id'],
  payments_list: ['merchant_id'],
  payments_list_status: ['merchant_id', 'status'],
  payments_list_reference: ['merchant_id', 'customer_reference_id'],
  events_pkey: ['id'],
  events_merchant: ['merchant_id', 'type'],
  events_payment: ['payment_id'],
  webhook_deliveries_event: ['event_id'],
  webhook_deliveries_untaken: ['endpoint_id', 'untaken_type'],
  webhook_attempts_delivery: ['delivery_id'],
  // Stepped through, from one endpoint to the next.
  webhook_deliveries_waiting: [],
  // The table has 24 rows.
  networks_pkey: [],
  networks_position_key: [],
};

const FIXED: Readonly<Record<string, Expected>> = {
  key_at_or_after: {
    plans: 'once',
    indexes: ['api_keys_pkey', 'merchants_pkey', 'partners_pkey', 'partner_members_pkey'],
  },
  merchant_setup: {
    plans: 'once',
    indexes: [
      ...['merchants_pkey', 'branches_merchant', 'branches_one_main', 'deposit_addresses_pkey'],
      ...['redirect_domains_pkey', 'networks_pkey', 'networks_position_key'],
    ],
  },
  merchant_payments: { plans: 'once', indexes: ['payments_pkey'] },
  create_payment: {
    plans: 'by-index',
    indexes: ['webhook_endpoints_merchant', 'webhook_endpoints_pkey'],
  },
  create_payments_once: {
    plans: 'by-index',
    indexes: ['webhook_endpoints_merchant', 'webhook_endpoints_pkey'],
  },
  merchant_event: { plans: 'once', indexes: ['events_pkey'] },
  deliveries_of_events: { plans: 'once', indexes: ['webhook_deliveries_event'] },
  webhook_attempts: { plans: 'once', indexes: ['webhook_attempts_delivery'] },
  due_endpoints: {
    plans: 'by-index',
    indexes: ['webhook_deliveries_waiting', 'webhook_endpoints_pkey'],
  },
  claim_nonces: { plans: 'by-index', indexes: [] },
  record_moves: {
    plans: 'by-index',
    indexes: ['reservations_payment', 'webhook_endpoints_merchant', 'webhook_endpoints_pkey'],
  },
};

/** The pages of events, in either direction. */
const OF_EVENTS: Readonly<Record<string, readonly string[]>> = {
  events: ['events_merchant'],
  untaken_events: ['webhook_endpoints_merchant', 'webhook_deliveries_untaken', 'events_pkey'],
  payment_events: ['events_payment', 'webhook_deliveries_event'],
};

function expectedOf(name: string): Expected {
  const fixed = FIXED[name];
  if (fixed !== undefined) return fixed;
  const ofEvents = OF_EVENTS[name.replace(/_(asc|desc)$/, '')];
  if (ofEvents !== undefined) return { plans: 'once', indexes: ofEvents };
  const [, direction, filters] = /^merchant_payments_(first|older|newer)(\w*)$/.exec(name) ?? [];
  if (direction === undefined) throw new Error(`say which indexes ${name} reads by`);
  const index = filters?.includes('reference')
    ? 'payments_list_reference'
    : filters?.includes('status')
      ? 'payments_list_status'
      : 'payments_list';
  return { plans: 'once', indexes: direction === 'first' ? [index] : [index, 'payments_pkey'] };
}

/** Imports every module that prepares statements, and prepares each kind of page. */
async function prepareAll(): Promise<void> {
  const folder = new URL('../../../src/storage/repositories/', import.meta.url);
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (file.endsWith('.ts')) await import(new URL(file, folder).href);
  }
  const now = new Date();
  for (const direction of [undefined, 'older', 'newer'] as const) {
    for (let filters = 0; filters < 16; filters++) {
      merchantPaymentsPage(
        {
          status: filters & 1 ? 'pending' : undefined,
          customerReferenceId: filters & 2 ? 'order' : undefined,
          createdAfter: filters & 4 ? now : undefined,
          createdBefore: filters & 8 ? now : undefined,
        },
        direction,
      );
    }
  }
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly PlanNode[];
}

function flatten(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(flatten)];
}

/** Faults in the generic plan of a statement; empty if there are none. */
function faultsOf(
  nodes: readonly PlanNode[],
  { indexes }: Expected,
  wholes: ReadonlyMap<string, string>,
): string[] {
  return nodes.flatMap(node => {
    const { 'Node Type': type, 'Relation Name': table, 'Index Name': part } = node;
    const index = part === undefined ? undefined : (wholes.get(part) ?? part);
    if (index === undefined) {
      const reads = table !== undefined && !['ModifyTable', 'Bitmap Heap Scan'].includes(type);
      return reads ? [`${type} of ${table}`] : [];
    }
    if (!indexes.includes(index)) return [`reads by ${index}`];
    const condition = node['Index Cond'] ?? '';
    return (SEARCHED_BY[index] ?? ['…'])
      .filter(column => !new RegExp(`\\b${column}\\b`).test(condition))
      .map(column => `${index} is not searched by ${column}, but by "${condition}"`);
  });
}

/** Faults in the plans of all prepared statements, by the names of the statements. */
async function keptPlans(url: string): Promise<Record<string, string[]>> {
  const faults: Record<string, string[]> = {};
  for (const plans of ['once', 'by-index'] as const) {
    const session = new pg.Client(sessionConfig({ url, applicationName: 'test', plans }));
    await session.connect();
    await session.query('set plan_cache_mode = force_generic_plan');
    // Maps indexes of partitions to the partitioned table's.
    const { rows: parts } = await session.query(`
      select part.relname as part, whole.relname as whole from pg_inherits
      join pg_class as part on part.oid = inhrelid join pg_class as whole on whole.oid = inhparent`);
    const wholes = new Map<string, string>(parts.map(({ part, whole }) => [part, whole]));
    for (const [name, text] of preparedStatements()) {
      const expected = expectedOf(name);
      if (expected.plans !== plans) continue;
      await session.query(`prepare it as ${text}`);
      const count = Math.max(...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
      const nulls = Array.from({ length: count }, () => 'null').join();
      const { rows } = await session.query(`explain (format json) execute it(${nulls})`);
      await session.query('deallocate it');
      const found = faultsOf(flatten(rows[0]['QUERY PLAN'][0].Plan), expected, wholes);
      if (found.length > 0) faults[name] = found;
    }
    await session.end();
  }
  return faults;
}

const keyring = createKeyring([randomBytes(32)]);
const clock = Object.assign(() => Date.now(), { now: 0 });

/** Adds partners and merchants with keys and webhook endpoints, and the merchants' payments. */
async function fill(db: Database, merchants: number, payments: number): Promise<void> {
  await db.transaction().execute(async tx => {
    for (let n = 0; n < merchants; n++) {
      const { partner } = await addPartner({ db: tx, clock, keyring });
      await addMerchant({ db: tx, clock, keyring }, { partnerId: partner.id });
    }
  });
  await sql`
    insert into webhook_endpoints (id, merchant_id, url, secret, master_key_version, created_at)
    select gen_random_uuid(), id, 'https://shop.example/', '', 1, now() from merchants`.execute(db);
  await insertPayments(db, payments, { merchants });
}

const analyse = (db: Database) => sql`vacuum (analyze)`.execute(db);

beforeAll(prepareAll);

describe('every prepared statement uses its index, and searches it', () => {
  test.each<[string, (db: Database) => Promise<unknown>]>([
    ['in an empty database that was never analysed', async () => undefined],
    ['in one that was restored and not analysed', db => fill(db, 40, 20_000)],
    ['in one that was analysed when it held little', db => fill(db, 3, 60).then(() => analyse(db))],
    [
      'in one that was analysed before its first payment',
      db => fill(db, 3, 0).then(() => analyse(db)),
    ],
  ])('%s', async (_, prepare) => {
    const database = await cloneDatabase();
    try {
      await prepare(database.db);
      expect(await keptPlans(database.url)).toEqual({});
    } finally {
      await database.drop();
    }
  });
});

describe('with the service’s connection settings', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await cloneDatabase();
  });
  afterAll(() => database.drop());

  /**
   * Waits until other sessions have ended: a session reports its reads at its end, which may be after its client has
   * gone.
   */
  async function othersEnded(): Promise<void> {
    await vi.waitUntil(async () => {
      const { rows } = await sql`
        select from pg_stat_activity
        where datname = current_database() and backend_type = 'client backend'
          and application_name <> 'test'`.execute(database.db);
      return rows.length === 0;
    }, SOON);
  }

  /**
   * Tables that ended sessions have read by sequential scans, with the counts; without those of
   * fixed size.
   */
  async function sequentialScans() {
    await othersEnded();
    const { rows } = await sql<{ table: string; scans: number }>`
      select relname as table, seq_scan as scans from pg_stat_user_tables
      where schemaname = 'public' and relname not in ('networks', 'change_listeners')
      order by relname`.execute(database.db);
    return rows;
  }

  // Constraints and triggers read as well, with plans that no statement shows.
  test('a create or a read scans no table sequentially', async () => {
    const filling = connect({
      url: database.url,
      poolSize: 1,
      applicationName: 'test-fill',
      onIdleError: () => undefined,
    });
    await fill(filling, 3, 60);
    await analyse(filling);
    await filling.destroy();

    const before = await sequentialScans();
    const storage = await openStorage(
      testConfig({
        DATABASE_URL: database.url,
        MASTER_KEY: randomBytes(32).toString('base64'),
      }),
      { holder: 'service', name: 'test', logger: pino({ enabled: false }) },
    );
    await storage.databaseClock.start();
    const app = await startTestApp({ database: { db: storage.db, url: database.url } });
    const shop = await addMerchant(app);
    for (let n = 0; n < 20; n++) {
      const created = await send(app, shop, { path: PROMPT_PATH, body: { amount: 5000 } });
      expect(created.statusCode).toBe(201);
      const path = `/external/v1/payments/${created.json().prompt.id}`;
      expect((await send(app, shop, { path })).statusCode).toBe(200);
      const list = await send(app, shop, { path: '/external/v1/payments?limit=5' });
      expect(list.statusCode).toBe(200);
    }
    await app.close();
    await storage.close();
    expect(await sequentialScans()).toEqual(before);
  });
});
