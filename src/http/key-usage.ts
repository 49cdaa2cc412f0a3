import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify';
import type { Database } from '../database/connection.ts';
import { type KeyUse, writeKeyUses } from '../repositories/keys/usage.ts';
import type { Clock } from '../time/clock.ts';
import { within } from '../time/within.ts';
import { clientAddress } from './client-address.ts';

/** Pause between two writings, in milliseconds. */
const WRITE_EVERY_MS = 1_000;
/** Longest that the end of the process waits for the last writing, in milliseconds. */
const CLOSE_MS = 1_000;
/** Keys that are remembered between two writings; more are left out. */
const KEYS_MAXIMUM = 10_000;

/**
 * Writes down what each API key was last used for. Requests never wait: uses gather in memory and are
 * written once a second by one statement. What cannot be written is left out, since the next use says
 * more.
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

  /** Notes every request of a scope that a key has signed. */
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

  /** Writes what has gathered, for at most a second: a database that is away must hold up no end. */
  async close(): Promise<void> {
    const late = () => new Error('the database does not answer');
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
