import { Counter } from 'prom-client';
import type { Database } from '#storage/database/connection.ts';
import { type LoggedRequest, writeRequests } from '#storage/repositories/keys/request-log.ts';
import { DeferredWrites } from './deferred-writes.ts';

/** Maximum rows held in memory, including those being written. */
export const ROWS_MAXIMUM = 10_000;
/** Maximum unverified ones among them: whoever only knows key IDs must not push out the rest. */
export const UNVERIFIED_MAXIMUM = 1_000;

const MINUTE_MS = 60_000;

const dropped = new Counter({
  name: 'eps_request_log_dropped_total',
  help: 'Requests that are missing in the request log: too many at once, or the database did not take them',
});

/** A request that has been answered. */
export type AnsweredRequest = Omit<LoggedRequest, 'verified' | 'requests' | 'explanation'>;

/** A request that failed before its signature was verified; its key ID is only a claim. */
type UnverifiedRequest = AnsweredRequest & { readonly errorCode: string };

/**
 * Collects rows for the request log, and writes them once a second in one statement. Requests never wait for
 * it. Rows that do not fit into memory or cannot be written are dropped, and counted.
 */
export class RequestRecorder {
  readonly #db: Database;
  readonly #writes: DeferredWrites;
  #verified: LoggedRequest[] = [];
  /** By key, error and minute. */
  #unverified = new Map<string, LoggedRequest>();
  #writing = 0;

  /** @param onFailure Called with the reason when rows could not be written. */
  constructor(db: Database, onFailure: (error: unknown) => void) {
    this.#db = db;
    this.#writes = new DeferredWrites(() => this.#write(), onFailure);
  }

  /** Adds a request whose signature was verified. */
  add(request: AnsweredRequest): void {
    if (this.#isFull()) {
      dropped.inc();
      return;
    }
    this.#verified.push({ ...request, verified: true, requests: 1, explanation: null });
    this.#writes.begin();
  }

  /**
   * Counts a request whose signature was not verified. The row shows the first of its minute, or the first
   * one that is explained.
   */
  count(request: UnverifiedRequest, explanation: LoggedRequest['explanation'] = null): void {
    const at = new Date(request.at.getTime() - (request.at.getTime() % MINUTE_MS));
    const place = `${request.keyId} ${request.errorCode} ${at.getTime()}`;
    const known = this.#unverified.get(place);
    if (known === undefined && (this.#isFull() || this.#unverified.size >= UNVERIFIED_MAXIMUM)) {
      dropped.inc();
      return;
    }
    const requests = (known?.requests ?? 0) + 1;
    const shown =
      known !== undefined && (known.explanation !== null || explanation === null)
        ? known
        : { ...request, at, verified: false, explanation };
    this.#unverified.set(place, { ...shown, requests });
    this.#writes.begin();
  }

  #isFull(): boolean {
    return this.#verified.length + this.#unverified.size + this.#writing >= ROWS_MAXIMUM;
  }

  async #write(): Promise<void> {
    const rows = [...this.#verified, ...this.#unverified.values()];
    if (rows.length === 0) return;
    this.#verified = [];
    this.#unverified = new Map();
    this.#writing = rows.length;
    try {
      await writeRequests(this.#db, rows);
    } catch (error) {
      for (const { requests } of rows) dropped.inc(requests);
      throw error;
    } finally {
      this.#writing = 0;
    }
  }

  /** Writes the collected rows. */
  flush(): Promise<void> {
    return this.#writes.flush();
  }

  /** Writes the collected rows, for at most half a second. */
  close(): Promise<void> {
    return this.#writes.close();
  }
}
