import { sql } from 'kysely';
import { pino } from 'pino';
import { adapterOf } from '#chains/adapters.ts';
import { chainOf } from '#chains/chain-list.ts';
import { NodeFailure } from '#chains/nodes/node.ts';
import { createLease, LeaseLost } from '#onchain/watching/lease.ts';
import { createTick } from '#onchain/watching/loop/tick.ts';
import { createWatchList } from '#onchain/watching/watch-list.ts';
import type { Database } from '#storage/database/connection.ts';
import { type FaultyNode, Killed } from './faulty-node.ts';
import type { World } from './world.ts';

const SILENT = pino({ level: 'silent' });
/** Rounds end by themselves. */
const NEVER = new AbortController().signal;
/** The most consecutive ticks while there is more to do. */
const TICKS_MAXIMUM = 40;

/** What came of a round. */
export type RoundResult = 'done' | 'halted' | 'broken off' | 'killed' | 'elsewhere';

/** A worker that watches a generated chain by the real loop. */
export interface ChainWorker {
  /** Ticks until there is no more to do. */
  round(): Promise<RoundResult>;
}

/** What workers of a chain share. */
interface Surroundings {
  readonly db: Database;
  readonly clock: () => number;
  readonly primary: FaultyNode;
  readonly check: FaultyNode | null;
}

export function createChainWorker(
  { slot }: World,
  { db, clock, primary, check }: Surroundings,
  holder: string,
): ChainWorker {
  const chain = chainOf(slot.chain);
  const tick = createTick({
    chain,
    adapter: adapterOf(chain),
    db,
    clock,
    log: SILENT,
    lease: createLease(db, chain.id, holder),
    watchList: createWatchList(chain.id),
    nodes: {
      refresh: async () => undefined,
      primary: async () => primary,
      check: async () => check,
      another: async id => (id === primary.id ? check : primary),
      acceptHead: async () => undefined,
      mayLook: () => true,
      pausedFor: () => 0,
      reportFailure: () => undefined,
      reportSuccess: () => undefined,
      distrust: () => undefined,
      state: () => undefined,
      states: () => [],
      close: async () => undefined,
    },
  });
  return {
    async round() {
      try {
        for (let count = 0; count < TICKS_MAXIMUM; count++) {
          const result = await tick(NEVER);
          if (result === 'more') continue;
          return result === 'nothing' ? 'done' : result;
        }
        throw new Error(`there is always more to do on ${slot.chain}`);
      } catch (error) {
        if (error instanceof Killed) return 'killed';
        if (error instanceof NodeFailure || error instanceof LeaseLost) return 'broken off';
        throw error;
      }
    },
  };
}

/** Expires the current lease, if any. */
export async function lapseLease(db: Database, { slot }: World): Promise<void> {
  await sql`
    update chains set lease_until = now() - interval '1 second' where id = ${slot.chain}`.execute(
    db,
  );
}
