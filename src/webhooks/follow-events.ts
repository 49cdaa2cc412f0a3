import type { Connection } from '../database/connection.ts';
import { readDatabaseClock } from '../database/ping.ts';
import { firstIdOf, listEventsFrom, type OutgoingEvent } from '../repositories/payments/events.ts';

/** Most events of one read. */
const LIMIT = 100;
/**
 * How far each read looks back, in milliseconds. An event has its ID before its transaction commits, and
 * from the clock of the process that writes it: transactions take a few seconds, and clocks may be 30
 * seconds apart.
 */
export const LOOK_BACK_MS = 60_000;
/** Hexadecimal digits of a UUIDv7 that are its time in milliseconds, without their hyphen. */
const TIME_DIGITS = 12;

interface FollowOptions {
  readonly merchantId: string;
  /** undefined for all types. */
  readonly types: readonly string[] | undefined;
  /** From when on, in milliseconds since the epoch. */
  readonly since: number;
}

/**
 * Reads the events of a merchant as they are written, each once. It only reads the events: deliveries to
 * endpoints have their own queue. Memory is bounded by what happened within LOOK_BACK_MS.
 */
export class EventFollower {
  readonly #options: FollowOptions;
  /** All events before that have been read. */
  #from: number;
  /** Events after that which have been read. */
  #read: string[] = [];

  constructor(options: FollowOptions) {
    this.#options = options;
    this.#from = options.since;
  }

  /** The next events, oldest first; none when there are no more. */
  async next(db: Connection): Promise<OutgoingEvent[]> {
    // Before the read, so that what commits during it is looked for again.
    const now = await readDatabaseClock(db);
    const events = await listEventsFrom(db, {
      ...this.#options,
      from: this.#from,
      except: this.#read,
      limit: LIMIT,
    });
    const last = events.at(-1);
    const end = last !== undefined && events.length === LIMIT ? timeInId(last.id) : now;
    this.#from = Math.max(this.#from, Math.min(end, now - LOOK_BACK_MS));
    const first = firstIdOf(this.#from);
    this.#read = [...this.#read, ...events.map(({ id }) => id)].filter(id => id >= first);
    return events;
  }
}

function timeInId(id: string): number {
  return Number.parseInt(id.replaceAll('-', '').slice(0, TIME_DIGITS), 16);
}
