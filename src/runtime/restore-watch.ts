import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { newId } from '../crypto/new-id.ts';
import type { Database } from '../database/connection.ts';
import type { Lineage } from '../database/lineage-tables.ts';
import type { Primary } from '../database/primary.ts';
import { MARK_WAIT_MS } from '../database/time-limits.ts';
import {
  beginFirstLineage,
  type ConfirmedRestore,
  compareNewest,
  confirmedRestoreOf,
  insertRestore,
  type NewestIds,
  readLineages,
} from '../repositories/lineages.ts';
import type { Clock } from '../time/clock.ts';
import { formatMark, type NewestMark, parseMark } from './redis-mark.ts';

/** How often the database is compared with the mark, in milliseconds: what a failover loses is noticed from there on. */
const LOOK_MS = 1_000;

const CHANGED = 'the database server has changed, and is being compared with what is known of it';

/**
 * Notices when the database is not what it was: it was restored to an earlier time, or a standby was promoted that
 * had not received everything. Then something is known outside that it lacks.
 */
export interface RestoreWatch {
  /** Why writes are refused; null while they are taken. */
  reason(): string | null;
  isUnconfirmed(): boolean;
  /** The restore that this lineage of the database began with; null if it was never restored. */
  confirmed(): ConfirmedRestore | null;
  /** Looks once, so that what follows is refused where it has to be. */
  look(db: Database): Promise<void>;
  /** Looks, and goes on looking each second until `close`. */
  start(db: Database): Promise<void>;
  close(): Promise<void>;
}

interface RestoreWatchOptions {
  readonly primary: Pick<Primary, 'timeline'>;
  /** Without one only what an operator declares is known. */
  readonly mark: NewestMark | null;
  readonly clock: Clock;
  readonly logger: Pick<FastifyBaseLogger, 'error' | 'info'> | null;
}

export function createRestoreWatch(options: RestoreWatchOptions): RestoreWatch {
  const { primary, mark, clock, logger } = options;
  const closing = new AbortController();
  let watching: Promise<void> = Promise.resolve();
  let current: Lineage | undefined;
  let unconfirmed: Lineage | undefined;
  /** Timeline of the server that the mark was compared with; undefined before the first time. */
  let compared: number | undefined;
  let unreadableSince: number | undefined;

  async function look(db: Database): Promise<void> {
    let found = await readLineages(db);
    if (found.current === undefined) {
      await beginFirstLineage(db, newId(), new Date(clock()));
      found = await readLineages(db);
    }
    const { timeline } = primary;
    if (found.unconfirmed === undefined && found.current !== undefined && mark !== null) {
      const isRestored = await compareWith(mark, db, found.current);
      if (isRestored === undefined && !isGivenUp()) return conclude(found);
      if (isRestored) found = await readLineages(db);
    }
    conclude(found);
    compared = timeline;
  }

  /** @returns Whether the database turned out to be restored; undefined if the mark cannot be read. */
  async function compareWith(
    { read, advance }: NewestMark,
    db: Database,
    { id }: Lineage,
  ): Promise<boolean | undefined> {
    let text: string;
    let known: NewestIds | null;
    try {
      text = await read(id);
      known = parseMark(text);
      unreadableSince = undefined;
    } catch (error) {
      if (unreadableSince === undefined) {
        logger?.error(
          { err: error },
          'the mark in Redis cannot be read: a restore would go unnoticed',
        );
      }
      unreadableSince ??= performance.now();
      return undefined;
    }
    // After the mark was read: whatever it names was committed before.
    const { newest, lacking } = await compareNewest(db, known);
    if (lacking.length > 0) {
      const restore = {
        ...{ id: newId(), noticedBy: 'service', now: new Date(clock()) },
        restoredTo: latestOf(Object.values(newest)) ?? new Date(0),
        lostUntil: latestOf(lacking),
      };
      // Of several processes that find it out at once, one records it.
      await insertRestore(db, restore, id);
      return true;
    }
    const next = formatMark(newest);
    if (next !== text) await advance(id, text, next).catch(() => undefined);
    return false;
  }

  const isGivenUp = () => performance.now() - (unreadableSince ?? Number.NaN) > MARK_WAIT_MS;

  function conclude(found: Awaited<ReturnType<typeof readLineages>>): void {
    if (found.unconfirmed !== undefined && unconfirmed === undefined) {
      const { restored_to: restoredTo, lost_until: lostUntil } = found.unconfirmed;
      logger?.error({ restoredTo, lostUntil }, describeRestore(found.unconfirmed));
    } else if (found.unconfirmed === undefined && unconfirmed !== undefined) {
      logger?.info('the restore of the database is confirmed: writes are taken again');
    }
    ({ current, unconfirmed } = found);
  }

  async function keepLooking(db: Database): Promise<void> {
    while (await pause()) await look(db).catch(() => undefined);
  }

  /** @returns Whether to go on. */
  const pause = () =>
    sleep(LOOK_MS, true, { signal: closing.signal, ref: false }).catch(() => false);

  return {
    reason() {
      if (unconfirmed !== undefined) return describeRestore(unconfirmed);
      const hasChanged = compared !== undefined && compared !== 0 && compared !== primary.timeline;
      return hasChanged && mark !== null ? CHANGED : null;
    },
    isUnconfirmed: () => unconfirmed !== undefined,
    confirmed() {
      return current === undefined ? null : confirmedRestoreOf(current);
    },
    look,
    async start(db) {
      do await look(db);
      while (compared === undefined && (await pause()));
      watching = keepLooking(db);
    },
    async close() {
      closing.abort();
      await watching;
      mark?.close();
    },
  };
}

/** In one sentence, without its end, what happened and what to do. */
function describeRestore({ restored_to: to, lost_until: until }: Lineage): string {
  const lost = until === null ? '' : ` and lacks what came until ${until.toISOString()}`;
  return `the database was restored to ${to?.toISOString()}${lost}: look at "mp restore show", then run "mp restore confirm"`;
}

/** The latest time that IDs begin with; null without one. */
function latestOf(ids: readonly (string | null)[]): Date | null {
  const times = ids
    .filter(id => id !== null)
    .map(id => Number.parseInt(id.replace('-', '').slice(0, 12), 16));
  return times.length === 0 ? null : new Date(Math.max(...times));
}
