import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { setAddress } from '#accounts/deposit-addresses.ts';
import { createMerchant } from '#accounts/merchants.ts';
import { connect, type Database } from '#storage/database/connection.ts';
import { connectPipeline } from '#storage/database/pipeline.ts';
import { findMerchantPayment } from '#storage/repositories/payments/merchant-payments.ts';
import { ADDRESSES } from '../test/helpers/accounts.ts';
import { watchNetworks } from '../test/helpers/watch-networks.ts';
import { createOnce } from './creation.ts';
import { createDatabase, startPostgres, THROW_AWAY } from './databases.ts';
import { compareSizes, type History } from './histories.ts';
import { type Finding, VoidRun } from './measure.ts';
import type { Resources } from './resources.ts';
import { CONNECTIONS, POOL_SIZE, YOUNG_PAYMENTS } from './settings.ts';

/** A database that started empty, with the connections that were opened then. */
interface Young {
  /** Connections with the settings that the service creates with. */
  readonly db: Database;
  /** Connections with the settings that the service reads with. */
  readonly reads: Database;
  readonly merchantId: string;
  readonly ids: string[];
}

/** Payments of the database that hardly grows. */
const FEW = 500;
/** One read follows this many creates, as the database grows. */
const CREATES_PER_READ = 10;

/**
 * Compares a read by ID in a database that has grown from nothing under load with one in a database
 * that has hardly grown. Connections keep the plans that they made when the tables were empty, and
 * nothing is analysed, as in the first minutes of a service.
 */
export async function growFromEmpty(resources: Resources, allowed: number): Promise<Finding> {
  const server = await startPostgres(resources, THROW_AWAY);
  const build = async (name: string, payments: number): Promise<History<Young>> => {
    const database = await createDatabase(resources, server, name);
    const young = await openYoung(resources, database);
    await read(young, randomUUID());
    await grow(young, payments);
    return { ...database, ...young, payments };
  };
  const sides = [await build('young', FEW), await build('grown', YOUNG_PAYMENTS)] as const;
  return compareSizes('growth: get by ID, from an empty database', sides, readAny, allowed);
}

async function openYoung(
  { defer }: Resources,
  { db: owner, url }: { readonly db: Database; readonly url: string },
): Promise<Young> {
  const operator = { db: owner, clock: Date.now, actor: 'bench' };
  await watchNetworks(owner);
  const { id: merchantId } = await createMerchant(operator, {
    name: 'Young shop',
    email: 'young@example.com',
  });
  await setAddress(operator, { merchantId }, 'btc', ADDRESSES.btc);
  const { rows: tables } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace`.execute(owner);
  for (const { name } of tables) {
    await sql`alter table ${sql.table(name)} set (autovacuum_enabled = off)`.execute(owner);
  }
  const shared = { url, applicationName: 'bench-young' };
  const db = connect({
    ...shared,
    poolSize: POOL_SIZE,
    plans: 'by-index',

    onIdleError: () => undefined,
  });
  const reads = connectPipeline({ ...shared, connections: 1, onError: () => undefined });
  defer(() => Promise.all([db.destroy(), reads.destroy()]));
  return { db, reads, merchantId, ids: [] };
}

/** Creates payments over as many lanes as the load generator has connections. */
async function grow(young: Young, payments: number): Promise<void> {
  let left = payments;
  const lanes = Array.from({ length: CONNECTIONS }, async () => {
    while (left > 0) {
      left -= 1;
      young.ids.push(await createOnce(young));
      if (left % CREATES_PER_READ === 0) await readAny(young);
    }
  });
  await Promise.all(lanes);
}

async function readAny(young: Young): Promise<void> {
  const id = young.ids[Math.floor(Math.random() * young.ids.length)] ?? '';
  if ((await read(young, id)) !== id) throw new VoidRun('a payment was not found');
}

async function read({ reads, merchantId }: Young, id: string): Promise<string | undefined> {
  const payment = await findMerchantPayment(reads, merchantId, id);
  return payment?.id;
}
