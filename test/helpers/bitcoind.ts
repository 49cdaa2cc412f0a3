import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RpcError } from '#chains/nodes/node.ts';
import { type PlainNode, plainNode } from './plain-node.ts';
import { freePort } from './redis-server.ts';

/** A Bitcoin node with its own chain, and a rich wallet. */
export interface Bitcoind {
  readonly url: string;
  readonly node: PlainNode;
  /** Makes a call, and returns the node's result. */
  // biome-ignore lint/suspicious/noExplicitAny: tests know what they asked for.
  rpc(method: string, ...params: readonly unknown[]): Promise<any>;
  /** Mines blocks and returns their hashes. */
  mine(blocks: number, address?: string): Promise<string[]>;
  stop(): Promise<void>;
}

export const BITCOIND = process.env.BITCOIND;

/** Why tests that need a Bitcoin node are skipped, for their names. */
export const BITCOIND_MISSING =
  'needs Bitcoin: export BITCOIND=$(.ci/install-program sid bitcoin-knots bitcoind /tmp/bitcoind)';

const USER = 'test';
const PASSWORD = 'test';

/**
 * Initial height of a chain. Against fee sniping, a wallet occasionally locks a transaction to one of the last
 * hundred blocks; Knots takes a lock on block 21 for a token (CAT-21) and relays no such transaction. Rewards can be
 * spent after 100 blocks.
 */
export const HEIGHT = 121;

/** The longest that a node takes to start on a busy machine, in milliseconds. */
const START_MS = 30_000;

/** Starts a node in regtest whose wallet can spend `rich` rewards of 50 BTC. */
export async function startBitcoind(
  settings: readonly string[] = ['-txindex=1'],
  rich = 10,
): Promise<Bitcoind> {
  if (BITCOIND === undefined) throw new Error(BITCOIND_MISSING);
  const folder = await mkdtemp(join(tmpdir(), 'bitcoind-'));
  const port = await freePort();
  const server = spawn(
    BITCOIND,
    [
      '-regtest',
      `-datadir=${folder}`,
      `-rpcport=${port}`,
      `-rpcuser=${USER}`,
      `-rpcpassword=${PASSWORD}`,
      '-listen=0',
      '-dnsseed=0',
      '-server=1',
      '-printtoconsole=0',
      '-fallbackfee=0.0001',
      ...settings,
    ],
    { stdio: 'ignore' },
  );
  const exited = once(server, 'exit');
  const url = `http://${USER}:${PASSWORD}@127.0.0.1:${port}`;
  const node = plainNode(url);
  const rpc = (method: string, ...params: readonly unknown[]) =>
    node.call(method, params, { timeoutMs: START_MS });
  const stop = async () => {
    server.kill('SIGKILL');
    await exited;
    await rm(folder, { recursive: true, force: true });
  };
  const mine = async (blocks: number, address?: string) =>
    (await rpc('generatetoaddress', blocks, address ?? (await rpc('getnewaddress')))) as string[];
  try {
    await untilReady(rpc, () => server.exitCode);
    await rpc('createwallet', 'test');
    await mine(rich);
    // Rewards of these blocks go to nobody.
    await mine(HEIGHT - rich, UNSPENDABLE);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, node, rpc, mine, stop };
}

/** P2WPKH of an arbitrary hash. */
const UNSPENDABLE = 'bcrt1qdavt4j2sd7dlhqsavtnfxvzppw6k7qy97tmnu9';

async function untilReady(
  rpc: (method: string) => Promise<unknown>,
  exitCode: () => number | null,
): Promise<void> {
  const deadline = Date.now() + START_MS;
  while (Date.now() < deadline) {
    if (exitCode() !== null) throw new Error(`bitcoind ended with ${exitCode()}`);
    try {
      await rpc('getblockcount');
      return;
    } catch (error) {
      // -28: the node is still starting.
      if (error instanceof RpcError && error.code !== -28) throw error;
      await sleep(50);
    }
  }
  throw new Error('bitcoind did not start in time');
}
