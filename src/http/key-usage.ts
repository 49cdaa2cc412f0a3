import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify';
import { DeferredWrites } from '#accounts/requests/deferred-writes.ts';
import type { Database } from '#storage/database/connection.ts';
import { type KeyUse, writeKeyUses } from '#storage/repositories/keys/usage.ts';
import type { Clock } from '#time/clock.ts';

/** Most keys remembered between two writes; uses of further keys are dropped. */
const KEYS_MAXIMUM = 10_000;

/**
 * Stores when, from where and with which error each API key was last used. Requests never wait for that: uses are
 * batched in memory and written once a second in one statement. A batch that cannot be written is dropped, since the
 * key's next use replaces it anyway.
 */
export class KeyUsage {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #writes: DeferredWrites;
  #uses = new Map<string, KeyUse>();

  constructor(db: Database, clock: Clock, log: Pick<FastifyBaseLogger, 'warn'>) {
    this.#db = db;
    this.#clock = clock;
    this.#writes = new DeferredWrites(
      () => this.#write(),
      error => log.warn({ err: error }, 'use of API keys not written'),
    );
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
      address: request.clientAddress ?? '',
      errorCode: errorCode ?? former?.errorCode ?? null,
    });
    this.#writes.begin();
  }

  async #write(): Promise<void> {
    const uses = [...this.#uses.values()];
    this.#uses = new Map();
    if (uses.length > 0) await writeKeyUses(this.#db, uses);
  }

  /** Writes the last batch; takes at most half a second. */
  close(): Promise<void> {
    return this.#writes.close();
  }
}
