import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { createKeyring } from '#crypto/keyring.ts';
import { addNode } from '#onchain/watching/operate/manage-nodes.ts';
import type { Database } from '#storage/database/connection.ts';
import { startAnvil } from '../test/helpers/anvil.ts';
import { createEvm, type Evm, USDC_TEST } from '../test/helpers/evm.ts';
import { createDatabase, DURABLE, startPostgres } from './databases.ts';
import { type Finding, VoidRun } from './measure.ts';
import { addMerchants } from './merchants.ts';
import { startRedis, startWorker } from './processes.ts';
import { requirePrograms } from './required-programs.ts';
import type { Resources } from './resources.ts';
import { seedWaiting, type Waiting } from './waiting-payments.ts';
import { measureWatched } from './watched-addresses.ts';
import { countCalls } from './watching-calls.ts';

/** Payments that are paid at once. */
const TRANSFERS = 3_000;
/** Addresses that they are paid to. */
const ADDRESSES = 20;
/** Transfers per transaction: exchanges pay many customers with one, and the node is not what is measured. */
const PER_TRANSACTION = 50;
const CHAIN = 'eth-test';
const NETWORK = 'eth-usdc-test';
/** The longest that all of it may take, in milliseconds. */
const PATIENCE_MS = 120_000;
const POLL_MS = 50;

/** Measures what one worker settles per second, and what watching costs in calls. */
export async function bench(resources: Resources): Promise<Finding[]> {
  requirePrograms();
  const redisUrl = await startRedis(resources);
  const server = await startPostgres(resources, DURABLE);
  const { db, url: databaseUrl } = await createDatabase(resources, server, 'settlement');
  const { merchants, masterKey } = await addMerchants(db);
  const keyring = createKeyring([Buffer.from(masterKey, 'base64')]);
  const anvil = await startAnvil();
  resources.defer(() => anvil.stop());
  const evm = createEvm(anvil);
  await evm.place('token', USDC_TEST);
  const payer = await evm.deploy('payer');
  await evm.mint(USDC_TEST, payer, 10n ** 30n);
  await evm.mine(64);
  // Elsewhere in the bench every network is marked as watched.
  await sql`update networks set settled_by = 'simulation'`.execute(db);
  await addNode(
    { db, clock: Date.now, actor: 'bench' },
    { keyring, isProduction: false },
    { chain: CHAIN, url: anvil.url, requestsPerSecond: 10_000 },
  );
  const [merchant] = merchants;
  if (merchant === undefined) throw new VoidRun('there is no merchant');
  const waiting = await seedWaiting(db, merchant, {
    blockchainId: NETWORK,
    payments: TRANSFERS,
    addresses: ADDRESSES,
  });
  await startWorker(resources, { databaseUrl, masterKey, redisUrl });
  await until(db, 'its first look', async () => {
    const { rows } =
      await sql`select from chains where id = ${CHAIN} and polled_at is not null`.execute(db);
    return rows.length === 1;
  });
  await pay(evm, payer, waiting);
  // Timed from the first transfer: a worker's pause between two looks does not count for its speed.
  await until(db, 'the first transfer', () => hasDeposit(db));
  const started = performance.now();
  await until(db, 'the last payment', async () => (await countSuccessful(db)) === TRANSFERS);
  const seconds = (performance.now() - started) / 1000;
  const settled: Finding = {
    subject: 'transfers a second that one worker records, matches and makes final',
    measured: `${TRANSFERS} transfers of tokens in ${seconds.toFixed(1)} s`,
    value: TRANSFERS / seconds,
    goal: { relation: '>=', value: 300 },
  };
  return [settled, ...(await measureWatched()), ...(await countCalls(resources, server))];
}

/** Sends every transfer, and mines them with enough blocks on top to make them final. */
async function pay(evm: Evm, payer: string, waiting: readonly Waiting[]): Promise<void> {
  for (let next = 0; next < waiting.length; next += PER_TRANSACTION) {
    const payouts = waiting
      .slice(next, next + PER_TRANSACTION)
      .map(({ address: to, tokenAmount: amount }) => ({ to, amount }));
    await evm.payTokens(payer, USDC_TEST, payouts);
  }
  while ((await evm.anvil.rpc('txpool_status')).pending !== '0x0') await evm.mine();
  await evm.mine(12);
}

async function hasDeposit(db: Database): Promise<boolean> {
  const { rows } = await sql`select from deposits limit 1`.execute(db);
  return rows.length > 0;
}

async function countSuccessful(db: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from payments
    where blockchain_id = ${NETWORK} and status = 'successful'`.execute(db);
  return rows[0]?.count ?? 0;
}

async function until(db: Database, what: string, isThere: () => Promise<boolean>): Promise<void> {
  const giveUpAt = Date.now() + PATIENCE_MS;
  while (!(await isThere())) {
    if (Date.now() > giveUpAt) {
      throw new VoidRun(`the worker did not come to ${what}: ${await countSuccessful(db)} settled`);
    }
    await sleep(POLL_MS);
  }
}
