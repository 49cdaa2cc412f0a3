import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { newId, timeOfId } from '#crypto/new-id.ts';
import type { Database } from '#storage/database/connection.ts';
import type { Lineage } from '#storage/database/lineage-tables.ts';
import type { Primary } from '#storage/database/primary.ts';
import { MARK_WAIT_MS } from '#storage/database/time-limits.ts';
import {
  beginFirstLineage,
  type ComparedNewest,
  type ConfirmedRestore,
  compareNewest,
  confirmedRestoreOf,
  insertRestore,
  type Lineages,
  type NewestIds,
  readLineages,
} from '#storage/repositories/restores.ts';
import type { Clock } from '#time/clock.ts';
import { formatMark, type NewestMark, parseMark } from './restore-mark.ts';

/**
 * How often the database is compared with the mark, in milliseconds. A failover that loses only what was
 * committed since the last comparison goes unnoticed.
 */
const LOOK_MS = 1_000;

/** The mark of a lineage in which nothing was seen yet. */
const NOTHING: NewestIds = { payment: null, transition: null, auditEntry: null };

const CHANGED = 'the database server has changed, and is being compared with what is known of it';

/**
 * Notices when the database has gone back in time: it was restored, or a standby was promoted that had not
 * received everything. Then it lacks something that is known outside of it.
 */
export interface RestoreWatch {
  /** Why writes are refused; null while they are accepted. */
  reason(): string | null;
  isUnconfirmed(): boolean;
  /** Whether the mark could not be read at the last look. */
  isMarkUnreadable(): boolean;
  /** The restore that this lineage of the database began with; null if it was never restored. */
  confirmed(): ConfirmedRestore | null;
  /** Looks once, so that writes are refused from then on if necessary. */
  look(db: Database): Promise<void>;
  /** Looks, and then again every second until `close`. */
  start(db: Database): Promise<void>;
  close(): Promise<void>;
}

interface RestoreWatchOptions {
  readonly primary: Pick<Primary, 'timeline'>;
  /** Without a mark, only restores that an operator declares are known. */
  readonly mark: NewestMark | null;
  readonly clock: Clock;
  readonly logger: Pick<FastifyBaseLogger, 'error' | 'info'> | null;
}

/** The mark as it was read. */
interface KnownMark {
  readonly text: string;
  /** null before it is set for the first time. */
  readonly ids: NewestIds | null;
  /** Newest IDs of lineages that began after this one: the database was restored to a time before them. */
  readonly later: readonly NewestIds[];
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
  /** The lineage whose predecessor this process has recorded in Redis. */
  let noted: string | undefined;

  async function look(db: Database): Promise<void> {
    const lineage = current ?? (await firstLineage(db));
    const { timeline } = primary;
    const known = await readMark(lineage);
    // After the mark was read: everything that it names had been committed by then.
    const found = await compareNewest(db, known?.ids ?? null);
    if (found.current?.id !== lineage.id || primary.timeline !== timeline) {
      // Another process has begun a lineage, or the statement went to another server.
      conclude(found);
      return look(db);
    }
    if (found.unconfirmed !== undefined) {
      conclude(found);
    } else if (mark !== null && known === undefined) {
      conclude(found);
      if (!isGivenUp()) return;
    } else {
      conclude(await settle(db, lineage, found, known));
    }
    compared = timeline;
  }

  async function firstLineage(db: Database): Promise<Lineage> {
    let found = await readLineages(db);
    if (found.current === undefined) {
      await beginFirstLineage(db, newId(), new Date(clock()));
      found = await readLineages(db);
    }
    if (found.current === undefined) throw new Error('the database has no lineage');
    return found.current;
  }

  /** @returns undefined if the mark cannot be read, or there is nowhere to keep one. */
  async function readMark({ id }: Lineage): Promise<KnownMark | undefined> {
    if (mark === null) return undefined;
    try {
      const text = await mark.read(id);
      const ids = parseMark(text);
      const later = await readLater(mark, id);
      unreadableSince = undefined;
      return { text, ids, later };
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
  }

  /** Records a restore if the database lacks something; otherwise updates the mark. */
  async function settle(
    db: Database,
    { id }: Lineage,
    found: ComparedNewest,
    known: KnownMark | undefined,
  ): Promise<Lineages> {
    const { newest, lacking, former } = found;
    const later = known?.later ?? [];
    if (lacking.length > 0 || later.length > 0) {
      const restore = {
        id: newId(),
        noticedBy: 'service',
        now: new Date(clock()),
        restoredTo: latestOf(Object.values(newest)) ?? new Date(0),
        lostUntil: latestOf([...lacking, ...later.flatMap(ids => Object.values(ids))]),
      };
      // If several processes find out at once, only one records it.
      await insertRestore(db, restore, id);
      return readLineages(db);
    }
    const next = formatMark(newest);
    if (known !== undefined && next !== known.text) {
      await advance(id, known.text, next, former).catch(() => undefined);
    }
    return found;
  }

  async function advance(id: string, from: string, to: string, former: Lineage | undefined) {
    // Recorded again: Redis may have been emptied, and an earlier release did not record it.
    if (former !== undefined && (from === '' || noted !== id)) await mark?.begin(id, former.id);
    noted = id;
    await mark?.advance(id, from, to);
  }

  const isGivenUp = () => performance.now() - (unreadableSince ?? Number.NaN) > MARK_WAIT_MS;

  function conclude(found: Lineages): void {
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

  /** @returns Whether to continue. */
  const pause = () =>
    sleep(LOOK_MS, true, { signal: closing.signal, ref: false }).catch(() => false);

  return {
    reason() {
      if (unconfirmed !== undefined) return describeRestore(unconfirmed);
      const hasChanged = compared !== undefined && compared !== 0 && compared !== primary.timeline;
      return hasChanged && mark !== null ? CHANGED : null;
    },
    isUnconfirmed: () => unconfirmed !== undefined,
    isMarkUnreadable: () => unreadableSince !== undefined,
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

/** The marks of all lineages that began after one. */
async function readLater(mark: NewestMark, lineage: string): Promise<NewestIds[]> {
  const later: NewestIds[] = [];
  for (let next = await mark.nextOf(lineage); next !== undefined; next = await mark.nextOf(next)) {
    later.push(parseMark(await mark.read(next)) ?? NOTHING);
  }
  return later;
}

/** What happened and what to do, in one sentence without its full stop. */
function describeRestore({ restored_to: to, lost_until: until }: Lineage): string {
  const lost = until === null ? '' : ` and lacks what came until ${until.toISOString()}`;
  return `the database was restored to ${to?.toISOString()}${lost}: look at "mp restore show", then run "mp restore confirm"`;
}

/** The latest of the times that IDs begin with; null without any. */
function latestOf(ids: readonly (string | null)[]): Date | null {
  const times = ids.map(id => id && timeOfId(id)).filter(time => typeof time === 'number');
  return times.length === 0 ? null : new Date(Math.max(...times));
}
