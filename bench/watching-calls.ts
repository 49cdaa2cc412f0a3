import { sql } from 'kysely';
import { pino } from 'pino';
import { type Chain, type ChainId, chainOf } from '#chains/chain-list.ts';
import { createKeyring } from '#crypto/keyring.ts';
import { addNode } from '#onchain/watching/operate/manage-nodes.ts';
import type { Clock } from '#time/clock.ts';
import { watchChainLoop } from '#worker/watch-chains.ts';
import { startAnvil } from '../test/helpers/anvil.ts';
import { BITCOIND, startBitcoind } from '../test/helpers/bitcoind.ts';
import { startNodeProxy } from '../test/helpers/node-proxy.ts';
import { SolanaNode } from '../test/helpers/solana-node.ts';
import { TronNode } from '../test/helpers/tron.ts';
import { createDatabase } from './databases.ts';
import type { Finding } from './measure.ts';
import { addMerchants } from './merchants.ts';
import type { Resources } from './resources.ts';
import { seedWaiting } from './waiting-payments.ts';

const MINUTE_MS = 60_000;

/** A watched network, the pace of its chain's blocks, and the requests per minute that it may cost. */
interface Subject {
  readonly chain: ChainId;
  readonly blockchainId: string;
  readonly what: string;
  readonly blockMs: number;
  /** By the number of open payments: none, a hundred, ten thousand. */
  readonly goals: readonly [number, number, number];
}

const LIVE = [0, 100, 10_000] as const;
const TRON_TOKEN = 'TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf';

const EVM: readonly Subject[] = [
  {
    chain: 'eth-test',
    blockchainId: 'eth-usdc-test',
    what: 'tokens',
    blockMs: 12_000,
    goals: [2, 36, 36],
  },
  {
    chain: 'eth-test',
    blockchainId: 'eth-test',
    what: 'the native asset',
    blockMs: 12_000,
    goals: [2, 42, 57],
  },
  {
    chain: 'bnb-test',
    blockchainId: 'bnb-test',
    what: 'the native asset',
    blockMs: 450,
    goals: [2, 235, 250],
  },
  {
    chain: 'avax-test',
    blockchainId: 'avax-test',
    what: 'the native asset',
    blockMs: 1_500,
    goals: [2, 150, 165],
  },
];
const BITCOIN: Subject = {
  chain: 'btc-test',
  blockchainId: 'btc-test',
  what: 'Bitcoin',
  blockMs: 600_000,
  goals: [2, 18, 18],
};

const TRON: readonly Subject[] = [
  {
    chain: 'tron-test',
    blockchainId: 'tron-usdt-test',
    what: 'tokens',
    blockMs: 3_000,
    goals: [2, 100, 100],
  },
  {
    chain: 'tron-test',
    blockchainId: 'tron-test',
    what: 'the native asset',
    blockMs: 3_000,
    goals: [2, 140, 140],
  },
];

const SOLANA: readonly Subject[] = [
  {
    chain: 'sol-dev',
    blockchainId: 'sol-dev',
    what: 'the native asset',
    blockMs: 400,
    goals: [2, 40, 300],
  },
  {
    chain: 'sol-dev',
    blockchainId: 'sol-usdc-dev',
    what: 'tokens',
    blockMs: 400,
    goals: [2, 40, 300],
  },
];

/**
 * Counts the requests of a minute, with a clock that is moved: each tick as soon as the previous one is done, with
 * as many blocks as the chain makes meanwhile.
 */
export async function countCalls(resources: Resources, server: string): Promise<Finding[]> {
  const subjects = [...EVM, ...TRON, ...SOLANA, ...(BITCOIND === undefined ? [] : [BITCOIN])];
  const findings: Finding[] = [];
  for (const [index, subject] of subjects.entries()) {
    for (const [size, live] of LIVE.entries()) {
      const name = `calls_${index}_${size}`;
      const count = await countOne(resources, server, name, subject, live);
      findings.push({
        subject: `requests a minute for ${subject.what} of ${subject.chain}, ${live} live payments`,
        measured: `${count.requests} requests with ${count.calls} calls`,
        value: count.requests,
        goal: { relation: '<=', value: subject.goals[size] ?? 0 },
      });
    }
  }
  return findings;
}

async function countOne(
  resources: Resources,
  server: string,
  name: string,
  { chain: id, blockchainId, blockMs }: Subject,
  live: number,
): Promise<Count> {
  const { db } = await createDatabase(resources, server, name);
  const { merchants, masterKey } = await addMerchants(db);
  const keyring = createKeyring([Buffer.from(masterKey, 'base64')]);
  const chain = chainOf(id);
  await using opened = new AsyncDisposableStack();
  let now = Date.now();
  const clock = () => now;
  const node = await startNode(chain, clock);
  opened.defer(() => node.stop());
  const { url } = node;
  const { mine } = node;
  if (chain.family !== 'bitcoin') await mine(80);
  await sql`update networks set settled_by = 'simulation'`.execute(db);
  const operator = { db, clock, actor: 'bench' };
  const tools = { keyring, isProduction: false };
  await addNode(operator, tools, { chain: id, url, requestsPerSecond: 10_000 });
  await sql`
    update networks set settled_by = 'chain', contract = case
      when id = 'tron-usdt-test' then ${TRON_TOKEN} else contract end
    where id = ${blockchainId}`.execute(db);
  const [merchant] = merchants;
  if (merchant !== undefined && live > 0) {
    await seedWaiting(db, merchant, { blockchainId, payments: live, addresses: live });
  }
  const loop = watchChainLoop(
    {
      db,
      clock,
      keyring,
      logger: pino({ level: 'silent' }),
      isProduction: false,
      watchIntervalMs: null,
    },
    chain,
  );
  opened.defer(() => loop.end?.());
  let blocksDue = 0;
  const look = async () => {
    now += chain.pauseMs;
    blocksDue += chain.pauseMs / blockMs;
    const blocks = Math.floor(blocksDue);
    blocksDue -= blocks;
    if (blocks > 0) await mine(blocks);
    await loop.run(resources.signal, () => undefined);
  };
  // The first looks determine the starting block.
  for (let looks = 0; looks < 3; looks++) await look();
  const before = node.count();
  for (let time = 0; time < MINUTE_MS; time += chain.pauseMs) await look();
  const after = node.count();
  return { requests: after.requests - before.requests, calls: after.calls - before.calls };
}

interface Count {
  readonly requests: number;
  readonly calls: number;
}

interface Started {
  readonly url: string;
  mine(blocks: number): Promise<void>;
  /** What it was asked so far. */
  count(): Count;
  stop(): Promise<void>;
}

async function startNode(chain: Chain, clock: Clock): Promise<Started> {
  if (chain.family === 'tron') {
    const tron = new TronNode(clock);
    const stop = await tron.start();
    return {
      url: tron.url,
      mine: async blocks => tron.mine(blocks),
      count: () => ({ requests: tron.requests, calls: tron.asked.length }),
      stop,
    };
  }
  if (chain.family === 'solana') {
    const solana = new SolanaNode(clock);
    const stop = await solana.start();
    return {
      url: solana.url,
      mine: async blocks => solana.mine(blocks),
      count: () => ({ requests: solana.requests, calls: solana.asked.length }),
      stop,
    };
  }
  if (chain.family === 'bitcoin') {
    const { url, mine, stop } = await startBitcoind();
    return counted(url, { mine: async blocks => void (await mine(blocks)), stop });
  }
  const { url, rpc, stop } = await startAnvil({ chainId: Number(chain.identities[0]?.id) });
  const mine = async (blocks: number) =>
    void (await rpc('anvil_mine', [`0x${blocks.toString(16)}`, '0x0']));
  return counted(url, { mine, stop });
}

/** A node behind a proxy that counts. */
async function counted(
  address: string,
  { mine, stop }: Pick<Started, 'mine' | 'stop'>,
): Promise<Started> {
  const upstream = new URL(address);
  const { username, password } = upstream;
  Object.assign(upstream, { username: '', password: '' });
  const proxy = await startNodeProxy(upstream.href);
  return {
    url: Object.assign(new URL(proxy.url), { username, password }).href,
    mine,
    count: () => ({ requests: proxy.requests.length, calls: proxy.calls.length }),
    async stop() {
      await proxy.stop();
      await stop();
    },
  };
}
