import type { Connection, Database } from '#storage/database/connection.ts';
import { transact } from '#storage/database/transaction.ts';
import type { ChainState } from '#storage/database/watching-tables.ts';
import {
  extendLease,
  giveBackLease,
  lockChain,
  takeLease,
} from '#storage/repositories/chains/chains.ts';

/** How long a worker that died keeps others from its chain, in milliseconds. */
export const LEASE_MS = 20_000;
/** How often a running tick extends the lease, in milliseconds: three chances before it is lost. */
const EXTENSION_MS = 5_000;

/** The lease of a chain belongs to another worker now, so nothing was written. */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
  constructor(chain: string) {
    super(`another worker watches ${chain} now`);
  }
}

/** The right to record what a chain contains; at most one worker holds it. */
export interface Lease {
  /** Takes or extends the lease; false while another worker holds it. */
  hold(): Promise<boolean>;
  /**
   * Runs `work` in a transaction that begins by checking the lease.
   * @throws LeaseLost, and what `work` throws.
   */
  write<T>(work: (tx: Connection, chain: ChainState) => Promise<T>): Promise<T>;
  /** Like `write`, for work that does not change the chain's row; several may run at once. */
  writeBeside<T>(work: (tx: Connection) => Promise<T>): Promise<T>;
  /** Extends the lease until the result is disposed of, so that a long tick keeps it. */
  keep(): Disposable;
  /** Releases the lease, so that another worker can take it. */
  giveBack(): Promise<void>;
}

/** @param holder Name of this worker, shown to operators. */
export function createLease(db: Database, chain: string, holder: string): Lease {
  let epoch: number | undefined;

  async function extend(): Promise<boolean> {
    if (epoch === undefined) return false;
    const held = await extendLease(db, chain, epoch, LEASE_MS);
    if (!held) epoch = undefined;
    return held;
  }

  async function lock(tx: Connection, shared = false): Promise<ChainState> {
    const row = epoch === undefined ? undefined : await lockChain(tx, chain, epoch, shared);
    if (row === undefined) throw new LeaseLost(chain);
    return row;
  }

  return {
    async hold() {
      if (await extend()) return true;
      epoch = await takeLease(db, chain, holder, LEASE_MS);
      return epoch !== undefined;
    },
    write: work => transact(db, async tx => work(tx, await lock(tx))),
    writeBeside: work =>
      transact(db, async tx => {
        await lock(tx, true);
        return work(tx);
      }),
    keep() {
      // A failed extension shows when the next write checks the lease.
      const timer = setInterval(() => void extend().catch(() => undefined), EXTENSION_MS);
      return { [Symbol.dispose]: () => clearInterval(timer) };
    },
    async giveBack() {
      if (epoch !== undefined) await giveBackLease(db, chain, epoch);
      epoch = undefined;
    },
  };
}
