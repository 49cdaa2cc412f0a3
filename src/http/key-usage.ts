import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify';
import type { Database } from '../database/connection.ts';
import { type KeyUse, writeKeyUses } from '../repositories/keys/usage.ts';
import type { Clock } from '../time/clock.ts';
import { within } from '../time/within.ts';
import { clientAddress } from './client-address.ts';

/** Pause between two writes, in milliseconds. */
const WRITE_EVERY_MS = 1_000;
/** Longest that shutdown waits for the last write, in milliseconds. */
const CLOSE_MS = 1_000;
/** Keys that are remembered between two writes; more are left out. */
const KEYS_MAXIMUM = 10_000;

/**
 * Stores when, from where and with which error each API key was last used. Requests never wait for that: uses
 * gather in memory and are written once a second by one statement. What cannot be written is dropped, since
 * the key's next use replaces it anyway.
 */
export class KeyUsage {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #log: Pick<FastifyBaseLogger, 'warn'>;
  #uses = new Map<string, KeyUse>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(db: Database, clock: Clock, log: Pick<FastifyBaseLogger, 'warn'>) {
    this.#db = db;
    this.#clock = clock;
    this.#log = log;
  }

  /** Notes every signed request of `app`. */
  follow(app: FastifyInstance): void {
    app.addHook('onResponse', (request, _reply, done) => {
      this.#note(request);
      done();
    });
  }

  #note(request: FastifyRequest): void {
    const { keyId, errorCode = null } = request;
    if (keyId === null) return;
    if (this.#uses.size >= KEYS_MAXIMUM && !this.#uses.has(keyId)) return;
    const former = this.#uses.get(keyId);
    this.#uses.set(keyId, {
      keyId,
      at: new Date(this.#clock()),
      address: clientAddress(request) ?? '',
      errorCode: errorCode ?? former?.errorCode ?? null,
    });
    this.#timer ??= setTimeout(() => void this.flush(), WRITE_EVERY_MS);
  }

  /** Writes what has gathered, for at most a second: an unreachable database must not hold up shutdown. */
  async close(): Promise<void> {
    const late = () => new Error('the database does not respond');
    await within(CLOSE_MS, this.flush(), late).catch(error =>
      this.#log.warn({ err: error }, 'use of API keys not written'),
    );
  }

  /** Writes what has gathered. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const uses = [...this.#uses.values()];
    this.#uses = new Map();
    if (uses.length > 0) {
      this.#writing = this.#writing.then(async () => {
        try {
          await writeKeyUses(this.#db, uses);
        } catch (error) {
          this.#log.warn({ err: error }, 'use of API keys not written');
        }
      });
    }
    await this.#writing;
  }
}
