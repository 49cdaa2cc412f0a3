/**
 * Watches all chains in a separate process, so that its cost can be measured: one look at the chain
 * that its parent names, at the time that its parent gives.
 */
import { pino } from 'pino';
import { type ChainId, chainOf, listChains } from '#chains/chain-list.ts';
import { createKeyring } from '#crypto/keyring.ts';
import { connect } from '#storage/database/connection.ts';
import { watchChainLoop } from '#worker/watch-chains.ts';

/** A look at a chain, at a time in milliseconds since the epoch. */
export interface Look {
  readonly chain: ChainId;
  readonly at: number;
}

/** The cost of a look. */
export interface Looked {
  readonly cpuMicroseconds: number;
  /** Resident memory, in bytes. */
  readonly memory: number;
}

const [, , url = '', masterKey = ''] = process.argv;
let now = 0;
const db = connect({ url, poolSize: 10, applicationName: 'day', onIdleError: () => undefined });
const dependencies = {
  db,
  clock: () => now,
  keyring: createKeyring([Buffer.from(masterKey, 'base64')]),
  logger: pino({ level: 'warn' }, pino.destination(2)),
  isProduction: false,
  watchIntervalMs: null,
};
const loops = new Map(
  listChains().map(({ id }) => [id, watchChainLoop(dependencies, chainOf(id))]),
);
const running = new AbortController();

process.on('message', async ({ chain, at }: Look) => {
  now = at;
  const before = process.cpuUsage();
  await loops.get(chain)?.run(running.signal, () => undefined);
  const { user, system } = process.cpuUsage(before);
  process.send?.({
    cpuMicroseconds: user + system,
    memory: process.memoryUsage.rss(),
  } satisfies Looked);
});
process.on('disconnect', () => process.exit());
