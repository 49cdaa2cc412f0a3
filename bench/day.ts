import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { sql } from 'kysely';
import { type Chain, type ChainId, listChains } from '#chains/chain-list.ts';
import { createKeyring } from '#crypto/keyring.ts';
import { addNode } from '#onchain/watching/operate/manage-nodes.ts';
import type { Database } from '#storage/database/connection.ts';
import { sendLamports } from '../test/helpers/solana-message.ts';
import { SolanaNode } from '../test/helpers/solana-node.ts';
import { sendTokens, sendTrx, TronNode } from '../test/helpers/tron.ts';
import { createDatabase, startPostgres, THROW_AWAY } from './databases.ts';
import { startBitcoinDay } from './day-bitcoin-node.ts';
import { type DayNode, startEvmDay } from './day-evm-node.ts';
import type { Asked } from './day-server.ts';
import type { Look, Looked } from './day-worker.ts';
import { type Finding, VoidRun } from './measure.ts';
import { addMerchants } from './merchants.ts';
import type { Resources } from './resources.ts';
import { DAY_HOURS } from './settings.ts';
import { seedWaiting, type Waiting } from './waiting-payments.ts';

const HOUR_MS = 60 * 60_000;
/** The day passes within minutes, so what is vacuumed every minute must be vacuumed every second. */
const SETTINGS = { ...THROW_AWAY, autovacuum_naptime: '1s' };
/** Payments that are open all day on each network, and how many of them are paid during it. */
const WAITING = 100;
const PAID = 20;
/** Nothing is paid in the last part of it, so that all payments become final. */
const QUIET_MS = Math.min(2 * HOUR_MS, (DAY_HOURS * HOUR_MS) / 3);
const TRON_TEST_TOKEN = 'TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf';
/** P2WPKH script of the watched address on Bitcoin. */
const BITCOIN_SCRIPT = '0014751e76e8199196d454941c45d1b3a323f1433bd6';

interface Traffic {
  readonly blockMs: number;
  /** Transactions per block, about as many as the chain has carried in 2026. */
  readonly transactions: number;
  readonly finalDepth?: number;
  /** A token that payments ask for, besides the native asset. */
  readonly token?: string;
}

const TRAFFIC: Readonly<Record<ChainId, Traffic>> = {
  btc: { blockMs: 600_000, transactions: 2_400 },
  eth: { blockMs: 12_000, transactions: 180, finalDepth: 64, token: 'eth-usdc' },
  bnb: { blockMs: 450, transactions: 60, finalDepth: 3, token: 'bnb-usdt' },
  avax: { blockMs: 1_500, transactions: 10, finalDepth: 0 },
  sol: { blockMs: 400, transactions: 0 },
  tron: { blockMs: 3_000, transactions: 200, token: 'tron-usdt' },
  'btc-test': { blockMs: 600_000, transactions: 300 },
  'eth-test': { blockMs: 12_000, transactions: 100, finalDepth: 64, token: 'eth-usdc-test' },
  'bnb-test': { blockMs: 450, transactions: 5, finalDepth: 3 },
  'avax-test': { blockMs: 1_500, transactions: 2, finalDepth: 0 },
  'sol-dev': { blockMs: 400, transactions: 0 },
  'tron-test': { blockMs: 3_000, transactions: 20, token: 'tron-usdt-test' },
};

/** A simulated chain. */
export interface Played {
  readonly chain: Chain;
  readonly url: string;
  readonly asked: () => Asked;
  /** Makes the blocks that are due. */
  advance(): void;
  blocks(): number;
  pay(waiting: Waiting, contract: string | null): void;
  stop(): Promise<void>;
  looks: number;
  cpuMicroseconds: number;
}

/**
 * Lets one worker watch a day of all chains: blocks come at their real pace, with a clock that jumps
 * from one look to the next. Reports the cost, and whether every payment is settled.
 */
export async function bench(resources: Resources): Promise<Finding[]> {
  const server = await startPostgres(resources, SETTINGS);
  const { db, url } = await createDatabase(resources, server, 'day');
  const { merchants, masterKey } = await addMerchants(db);
  const [merchant] = merchants;
  if (merchant === undefined) throw new VoidRun('there is no merchant');
  const start = Date.now();
  let now = start;
  const clock = () => now;
  await sql`update networks set settled_by = 'simulation'`.execute(db);
  await sql`update chains set polled_at = null, watched_until = null, expires_until = null`.execute(
    db,
  );
  await sql`update networks set contract = ${TRON_TEST_TOKEN} where id = 'tron-usdt-test'`.execute(
    db,
  );
  const networks = await db
    .selectFrom('networks')
    .select(['id', 'contract', 'asset_decimals'])
    .execute();
  const contractOf = (id: string) => networks.find(each => each.id === id)?.contract ?? null;
  const decimals = new Map(
    networks.map(each => [each.contract?.toLowerCase() ?? '', each.asset_decimals]),
  );
  const keyring = createKeyring([Buffer.from(masterKey, 'base64')]);
  const played: Played[] = [];
  const due: { readonly at: number; pay(): void }[] = [];
  for (const chain of listChains()) {
    const each = await play(chain, { start, clock, decimals, contractOf });
    resources.defer(() => each.stop());
    played.push(each);
    await addNode(
      { db, clock, actor: 'bench' },
      { keyring, isProduction: false },
      { chain: chain.id, url: each.url, requestsPerSecond: 10_000 },
    );
    const { token } = TRAFFIC[chain.id];
    for (const id of [chain.id, ...(token === undefined ? [] : [token])]) {
      const waiting = await seedWaiting(db, merchant, {
        blockchainId: id,
        payments: WAITING,
        addresses: WAITING,
      });
      due.push(
        ...payingTimes(start).map((at, index) => ({
          at,
          pay: () => pay(each, waiting[index], id),
        })),
      );
    }
  }
  function pay(each: Played, waiting: Waiting | undefined, id: string): void {
    if (waiting !== undefined) each.pay(waiting, contractOf(id));
  }
  due.sort((a, b) => a.at - b.at);
  const total = due.length;

  const worker = fork(join(import.meta.dirname, 'day-worker.ts'), [url, masterKey]);
  resources.defer(() => worker.kill());
  const ended = once(worker, 'exit').then(() => {
    throw new Error('the worker has ended');
  });
  ended.catch(() => undefined);
  const next = new Map(played.map(each => [each, start + each.chain.pauseMs]));
  const end = start + DAY_HOURS * HOUR_MS;
  const began = performance.now();
  let memory = 0;
  let reported = start;
  for (;;) {
    const [first, at] = [...next].reduce((least, each) => (each[1] < least[1] ? each : least));
    if (at > end || resources.signal.aborted) break;
    now = at;
    for (const each of played) each.advance();
    while ((due[0]?.at ?? Number.POSITIVE_INFINITY) <= now) due.shift()?.pay();
    const looked = await Promise.race([look(worker, { chain: first.chain.id, at }), ended]);
    first.looks += 1;
    first.cpuMicroseconds += looked.cpuMicroseconds;
    memory = Math.max(memory, looked.memory);
    next.set(first, at + first.chain.pauseMs);
    if (now - reported >= HOUR_MS) {
      reported = now;
      const minutes = ((performance.now() - began) / 60_000).toFixed(1);
      process.stdout.write(
        `${Math.round((now - start) / HOUR_MS)} hours after ${minutes} minutes\n`,
      );
    }
  }
  worker.disconnect();
  await ended.catch(() => undefined);
  return judge(db, played, { total, memory });
}

/** Times at which payments of a network are paid, in milliseconds since the epoch. */
function payingTimes(start: number): number[] {
  const span = DAY_HOURS * HOUR_MS - QUIET_MS;
  return Array.from({ length: PAID }, (_, index) => start + ((index + 0.5) / PAID) * span);
}

async function look(worker: ChildProcess, wanted: Look): Promise<Looked> {
  worker.send(wanted);
  const [looked] = await once(worker, 'message');
  return looked;
}

async function judge(
  db: Database,
  played: readonly Played[],
  { total, memory }: { readonly total: number; readonly memory: number },
): Promise<Finding[]> {
  const columns = ['chain', 'blocks', 'looks', 'requests', 'calls', 'MB', 'CPU s'];
  const rows = played.map(({ chain, blocks, looks, asked, cpuMicroseconds }) => {
    const { requests, calls, bytes } = asked();
    const numbers = [blocks(), looks, requests, calls, Math.round(bytes / 1e6)];
    return [chain.id, ...numbers, (cpuMicroseconds / 1e6).toFixed(0)];
  });
  for (const row of [columns, ...rows]) {
    process.stdout.write(`${row.map(cell => String(cell).padStart(10)).join('')}\n`);
  }
  const sum = (of: (each: Played) => number) => played.reduce((all, each) => all + of(each), 0);
  const cpu = sum(each => each.cpuMicroseconds) / 1e6;
  const { rows: counts } = await sql<{ paid: number; wrong: number; findings: number }>`
    select (select count(*)::integer from payments where status = 'successful' and created_by = 'bench'
              and transaction_hash is not null and blockchain_id is not null
              and exists (select from deposits where payment_id = payments.id and state = 'final')) as paid,
           (select count(*)::integer from deposits where state <> 'final' or payment_id is null) as wrong,
           (select count(*)::integer from findings) as findings`.execute(db);
  const [{ paid, wrong, findings } = { paid: 0, wrong: 0, findings: 0 }] = counts;
  const hours = `${DAY_HOURS} hours of ${played.length} chains`;
  return [
    {
      subject: 'blocks that one worker watched',
      measured: `${sum(each => each.asked().requests)} requests, ${sum(each => each.asked().calls)} calls`,
      value: sum(each => each.blocks()),
      goal: null,
    },
    { subject: 'processor time of the worker, s', measured: hours, value: cpu, goal: null },
    {
      subject: 'of one core, %',
      measured: hours,
      value: (cpu / (DAY_HOURS * 3_600)) * 100,
      goal: null,
    },
    {
      subject: 'memory of the worker at most, MB',
      measured: hours,
      value: memory / 1e6,
      goal: null,
    },
    {
      subject: 'payments that were paid and are not successful',
      measured: `${paid} of ${total}`,
      value: total - paid,
      goal: { relation: '<=', value: 0 },
    },
    {
      subject: 'deposits without a payment, or not final',
      measured: hours,
      value: wrong,
      goal: { relation: '<=', value: 0 },
    },
    { subject: 'findings', measured: hours, value: findings, goal: { relation: '<=', value: 0 } },
  ];
}

export interface Setting {
  readonly start: number;
  readonly clock: () => number;
  readonly decimals: ReadonlyMap<string, number>;
  readonly contractOf: (network: string) => string | null;
}

export function play(chain: Chain, setting: Setting): Promise<Played> {
  switch (chain.family) {
    case 'evm':
      return playEvm(chain, setting);
    case 'bitcoin':
      return playBitcoin(chain, setting);
    case 'tron':
      return playTron(chain, setting);
    case 'solana':
      return playSolana(chain, setting);
  }
}

async function playEvm(chain: Chain, { start, clock, decimals }: Setting): Promise<Played> {
  const { blockMs, transactions, finalDepth = 0 } = TRAFFIC[chain.id];
  const node = await startEvmDay({
    name: chain.id,
    chainId: Number(chain.identities[0]?.id),
    blockMs,
    finalDepth,
    transactions,
    decimals,
    start,
    clock,
  });
  return playedBy(chain, node, ({ address, tokenAmount }, contract) =>
    node.pay(address, tokenAmount, contract),
  );
}

async function playBitcoin(chain: Chain, { start, clock }: Setting): Promise<Played> {
  const { blockMs, transactions } = TRAFFIC[chain.id];
  const name = chain.id === 'btc' ? 'main' : 'testnet4';
  const genesis = chain.identities[0]?.id ?? '';
  const node = await startBitcoinDay({ name, genesis, blockMs, transactions, start, clock });
  return playedBy(chain, node, ({ tokenAmount }) => node.pay(BITCOIN_SCRIPT, tokenAmount, null));
}

/** A chain whose node derives its blocks from the clock. */
function playedBy(chain: Chain, node: DayNode, pay: Played['pay']): Played {
  const { url, blocks, stop } = node;
  const asked = () => node.asked;
  return { chain, url, asked, blocks, pay, stop, advance() {}, looks: 0, cpuMicroseconds: 0 };
}

/** Makes blocks on a node that makes them only on command. */
function maker(chain: Chain, { start, clock }: Setting, mine: (blocks: number) => void) {
  let made = 0;
  return {
    advance() {
      const due = Math.floor((clock() - start) / TRAFFIC[chain.id].blockMs);
      if (due > made) mine(due - made);
      made = due;
    },
    blocks: () => made,
  };
}

async function playTron(chain: Chain, setting: Setting): Promise<Played> {
  const stranger = 'TDGmmTC7xDgQGwH4FYRGuE7SFH2MePHYeH';
  const others = Array.from({ length: TRAFFIC[chain.id].transactions }, (_, index) =>
    sendTrx(stranger, index + 1),
  );
  const chainId = Number(chain.identities[0]?.id).toString(16);
  const tron = new TronNode(setting.clock, { chainId, others });
  tron.mine(30);
  const stop = await tron.start();
  return {
    chain,
    url: tron.url,
    stop,
    looks: 0,
    cpuMicroseconds: 0,
    ...maker(chain, setting, blocks => tron.mine(blocks)),
    asked: () => ({ requests: tron.requests, calls: tron.asked.length, bytes: tron.bytes }),
    pay({ address, tokenAmount }, contract) {
      tron.pool.push(
        contract === null
          ? sendTrx(address, Number(tokenAmount))
          : sendTokens({ contract, to: address, amount: tokenAmount }),
      );
    },
  };
}

async function playSolana(chain: Chain, setting: Setting): Promise<Played> {
  const solana = new SolanaNode(setting.clock, {
    genesis: chain.identities[0]?.id ?? '',
    blocksMaximum: 2_000,
  });
  const mint = setting.contractOf(chain.id === 'sol' ? 'sol-usdc' : 'sol-usdc-dev');
  if (mint !== null) solana.setMint(mint);
  const stop = await solana.start();
  return {
    chain,
    url: solana.url,
    stop,
    looks: 0,
    cpuMicroseconds: 0,
    ...maker(chain, setting, blocks => solana.mine(blocks)),
    asked: () => ({ requests: solana.requests, calls: solana.asked.length, bytes: solana.bytes }),
    pay({ address, tokenAmount }) {
      solana.send([sendLamports(solana.payer.address, address, tokenAmount)]);
    },
  };
}
