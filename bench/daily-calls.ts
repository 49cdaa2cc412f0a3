import { sql } from 'kysely';
import { pino } from 'pino';
import { type ChainId, chainOf } from '#chains/chain-list.ts';
import { createKeyring } from '#crypto/keyring.ts';
import { addNode } from '#onchain/watching/operate/manage-nodes.ts';
import { watchChainLoop } from '#worker/watch-chains.ts';
import { createDatabase, startPostgres, THROW_AWAY } from './databases.ts';
import { play } from './day.ts';
import { type Finding, VoidRun } from './measure.ts';
import { addMerchants } from './merchants.ts';
import { measureProofs } from './receipt-proofs.ts';
import type { Resources } from './resources.ts';
import { seedWaiting } from './waiting-payments.ts';

const MINUTE_MS = 60_000;
/** Duration of a measurement, in minutes: as long as a block of Bitcoin takes. */
const MEASURED = 10;
/** Minutes before it, in which a watcher determines its starting block and reads the mempool. */
const BEFORE = 2;
const IN_A_DAY = (24 * 60) / MEASURED;
/** Open payments at a time, around the clock. */
const OPEN = [0, 10, 100] as const;

/** Networks whose transfers are found by different calls. */
const NETWORKS: readonly (readonly [ChainId, string])[] = [
  ['btc', 'btc'],
  ['eth', 'eth-usdt'],
  ['eth', 'eth'],
  ['bnb', 'bnb-usdt'],
  ['bnb', 'bnb'],
  ['avax', 'avax'],
  ['sol', 'sol-usdc'],
  ['sol', 'sol'],
  ['tron', 'tron-usdt'],
  ['tron', 'tron'],
];

/**
 * Counts the calls to a node whose blocks come at the chain's real pace, with a clock that jumps from one
 * look to the next. Nothing is paid: a deposit costs two or three more calls.
 */
export async function bench(resources: Resources): Promise<Finding[]> {
  const server = await startPostgres(resources, THROW_AWAY);
  const findings: Finding[] = [];
  for (const [chain, network] of NETWORKS) {
    const counts: number[] = [];
    for (const open of OPEN) {
      const calls = await count(resources, server, { chain, network, open });
      counts.push(calls * IN_A_DAY);
    }
    process.stdout.write(`  ['${network}', ${counts.join(', ')}],\n`);
    for (const [index, value] of counts.entries()) {
      const subject = `calls a day on ${network}, ${OPEN[index]} open payments`;
      const measured = `${MEASURED} minutes, times ${IN_A_DAY}`;
      findings.push({ subject, measured, value, goal: null });
    }
  }
  return [...findings, ...(await measureProofs())];
}

async function count(
  resources: Resources,
  server: string,
  { chain: id, network, open }: { chain: ChainId; network: string; open: number },
): Promise<number> {
  const name = `daily_${network.replaceAll('-', '_')}_${open}`;
  const { db } = await createDatabase(resources, server, name);
  const { merchants, masterKey } = await addMerchants(db);
  const [merchant] = merchants;
  if (merchant === undefined) throw new VoidRun('there is no merchant');
  const keyring = createKeyring([Buffer.from(masterKey, 'base64')]);
  const chain = chainOf(id);
  const start = Date.now();
  let now = start;
  const clock = () => now;
  await using opened = new AsyncDisposableStack();
  const networks = await db
    .selectFrom('networks')
    .select(['id', 'contract', 'asset_decimals'])
    .execute();
  const contractOf = (of: string) => networks.find(each => each.id === of)?.contract ?? null;
  const decimals = new Map(
    networks.map(each => [each.contract?.toLowerCase() ?? '', each.asset_decimals]),
  );
  const node = await play(chain, { start, clock, decimals, contractOf });
  opened.defer(() => node.stop());
  await sql`update networks set settled_by = 'simulation'`.execute(db);
  await sql`update chains set polled_at = null, watched_until = null, expires_until = null`.execute(
    db,
  );
  await addNode(
    { db, clock, actor: 'bench' },
    { keyring, isProduction: false },
    { chain: id, url: node.url, requestsPerSecond: 10_000 },
  );
  await sql`update networks set settled_by = 'simulation' where id <> ${network}`.execute(db);
  if (open > 0) {
    await seedWaiting(db, merchant, { blockchainId: network, payments: open, addresses: open });
  }
  const logger = pino({ level: 'warn' }, pino.destination(2));
  const watching = { db, clock, keyring, logger, isProduction: false, watchIntervalMs: null };
  const loop = watchChainLoop(watching, chain);
  opened.defer(() => loop.end?.());
  const watch = async (minutes: number) => {
    const end = now + minutes * MINUTE_MS;
    while (now < end) {
      now += chain.pauseMs;
      node.advance();
      await loop.run(resources.signal, () => undefined);
    }
  };
  await watch(BEFORE);
  const before = node.asked().calls;
  await watch(MEASURED);
  return node.asked().calls - before;
}
