import { hostname } from 'node:os';
import type { BaseLogger } from 'pino';
import { adapterOf } from '#chains/adapters.ts';
import { type Chain, chainOf, isChainId } from '#chains/chain-list.ts';
import { NodeFailure } from '#chains/nodes/node.ts';
import type { Keyring } from '#crypto/keyring.ts';
import { createLease, LeaseLost } from '#onchain/watching/lease.ts';
import { createTick } from '#onchain/watching/loop/tick.ts';
import { openChainNodes } from '#onchain/watching/open-chain-nodes.ts';
import { createWatchList } from '#onchain/watching/watch-list.ts';
import type { Database } from '#storage/database/connection.ts';
import { listChainsWithNodes } from '#storage/repositories/chains/chains.ts';
import { listNodes } from '#storage/repositories/chains/nodes.ts';
import type { Clock } from '#time/clock.ts';
import type { DatabaseClock } from '#time/database-clock.ts';
import { type Loop, runLoop } from './loop.ts';
import { createTickPace } from './tick-pace.ts';

/** How soon a chain is watched after its first node was added, in milliseconds. */
const INTERVAL_MS = 2_000;
/** Longest pause after an error of our own, in milliseconds: payments wait that long. */
const MAXIMUM_PAUSE_MS = 2_000;

export interface WatchDependencies {
  readonly db: Database;
  readonly clock: Clock;
  /** The clock that `clock` reads; left out where time is injected. */
  readonly databaseClock?: Pick<DatabaseClock, 'measure' | 'reason'>;
  readonly logger: Pick<BaseLogger, 'error' | 'warn' | 'info'>;
  readonly keyring: Keyring;
  /** Refuses nodes of private chains, and warns of chains without a check node. */
  readonly isProduction: boolean;
  /** Pause between two ticks in place of each chain's own, in milliseconds; null outside tests. */
  readonly watchIntervalMs: number | null;
}

/** Watches every chain that has a node, each by a loop of its own. */
export function watchChainsLoop(dependencies: WatchDependencies): Loop {
  const { databaseClock, db, logger } = dependencies;
  const watched = new Map<string, { stop(): Promise<void> }>();

  async function warnWithoutCheck(chain: string): Promise<void> {
    const nodes = await listNodes(db, chain);
    if (nodes.some(({ role }) => role === 'check')) return;
    logger.warn({ chain }, 'no check node: payments become final by the word of one provider');
  }

  return {
    name: 'watch-chains',
    intervalMs: INTERVAL_MS,
    maximumPauseMs: MAXIMUM_PAUSE_MS,
    async run() {
      const ids = await listChainsWithNodes(db);
      for (const [id, watcher] of watched) {
        if (ids.includes(id)) continue;
        watched.delete(id);
        await watcher.stop();
      }
      for (const id of ids.filter(isChainId)) {
        if (watched.has(id)) continue;
        const loop = watchChainLoop(dependencies, chainOf(id));
        if (dependencies.isProduction) await warnWithoutCheck(id);
        const stopped = new AbortController();
        const ended = runLoop(loop, logger, stopped.signal, { databaseClock });
        watched.set(id, {
          stop() {
            stopped.abort();
            return ended;
          },
        });
      }
    },
    async end() {
      await Promise.all([...watched.values()].map(watcher => watcher.stop()));
    },
  };
}

/** Watches one chain. */
export function watchChainLoop(dependencies: WatchDependencies, chain: Chain): Loop {
  const { clock, db, logger: log, watchIntervalMs } = dependencies;
  const adapter = adapterOf(chain);
  const lease = createLease(db, chain.id, `${hostname()}:${process.pid}`);
  const watchList = createWatchList(chain.id);
  const nodes = openChainNodes(chain, adapter, { ...dependencies, reports: true });
  const tick = createTick({ chain, adapter, nodes, db, clock, log, lease, watchList });
  const pace = createTickPace(watchIntervalMs ?? chain.pauseMs, nodes);

  return {
    name: `watch-${chain.id}`,
    get intervalMs() {
      return pace.pauseMs;
    },
    maximumPauseMs: MAXIMUM_PAUSE_MS,
    async run(signal, beat) {
      try {
        while ((await tick(signal)) === 'more' && !signal.aborted) beat();
        pace.succeeded();
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof LeaseLost) log.info({ chain: chain.id }, error.message);
        else if (error instanceof NodeFailure) {
          // The next tick asks the same node again, or another one.
          pace.failed();
          log.warn({ err: error, chain: chain.id }, 'node failed');
        } else throw error;
      }
    },
    async end() {
      await lease.giveBack();
      await nodes.close();
    },
  };
}
