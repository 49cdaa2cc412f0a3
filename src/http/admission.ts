import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { Counter, Gauge } from 'prom-client';
import { ApiError } from '../errors/api-error.ts';

/** What E5002 of an overload tells clients to wait, in seconds. */
export const OVERLOAD_RETRY_SECONDS = 1;
/**
 * A key that has this part of all places gets no more once `BUSY` of them are taken: a quarter still keeps
 * a replica busy, and what is left beyond half is for the other keys.
 */
export const KEY_SHARE = 1 / 4;
const BUSY = 1 / 2;

const requestsInFlight = new Gauge({
  name: 'eps_http_requests_in_flight',
  help: 'Signed requests in flight: being worked on, and not yet answered',
});
const overloadRefusals = new Counter({
  name: 'eps_http_requests_overloaded_total',
  help: 'Signed requests refused with E5002 because too many were in flight, by whose limit was reached: that of the replica or that of a key',
  labelNames: ['limit'],
});

/**
 * Limits how many requests this process works on at once. Above what it can serve, more concurrency
 * only makes every answer later; requests above the limit get E5002 with Retry-After at once.
 */
export class Admission {
  readonly #max: number;
  readonly #keyShare: number;
  readonly #busy: number;
  /** Responses of the requests in flight, with the key that each counts for, once that is known. */
  readonly #places = new Map<ServerResponse, string | null>();
  readonly #placesOfKey = new Map<string, number>();

  /** @param max Most requests in flight. */
  constructor(max: number) {
    this.#max = max;
    this.#keyShare = Math.ceil(max * KEY_SHARE);
    this.#busy = Math.ceil(max * BUSY);
  }

  /**
   * Refuses a request while the limit is reached, before anything is spent on it.
   * @throws ApiError E5002
   */
  refuseOverload(): void {
    if (this.#places.size >= this.#max) {
      refuse('replica', 'The service is overloaded; nothing was executed.');
    }
  }

  /**
   * Counts a request as in flight until its answer is ready, or its client gone. Call it once the body
   * has arrived: neither a client that sends slowly nor one that does not read occupies a place.
   * @throws ApiError E5002
   */
  enter({ raw: response }: FastifyReply): void {
    // The client is gone already: its close event will not come again.
    if (response.destroyed) return;
    this.refuseOverload();
    this.#places.set(response, null);
    requestsInFlight.inc();
    response.once('close', () => this.#leave(response));
  }

  /**
   * Counts a request that has entered for its key. Call it once the signature is verified: knowing a
   * key ID must not be enough to use up its share.
   * @throws ApiError E5002 while the key has its whole share in flight and others may need the rest.
   */
  countKey({ raw: response }: FastifyReply, keyId: string): void {
    if (!this.#places.has(response)) return;
    const places = this.#placesOfKey.get(keyId) ?? 0;
    // The request itself has entered already.
    if (places >= this.#keyShare && this.#places.size > this.#busy) {
      refuse('key', 'Too many requests of this key are in flight; nothing was executed.');
    }
    this.#places.set(response, keyId);
    this.#placesOfKey.set(keyId, places + 1);
  }

  /** Lets requests leave as soon as their answers are ready, whether their clients read them or not. */
  releaseAnswered(app: FastifyInstance): void {
    app.addHook('onSend', (_request, { raw: response }, payload, done) => {
      this.#leave(response);
      done(null, payload);
    });
  }

  #leave(response: ServerResponse): void {
    const keyId = this.#places.get(response);
    if (keyId === undefined) return;
    this.#places.delete(response);
    requestsInFlight.dec();
    if (keyId === null) return;
    const places = this.#placesOfKey.get(keyId) ?? 0;
    if (places > 1) this.#placesOfKey.set(keyId, places - 1);
    else this.#placesOfKey.delete(keyId);
  }
}

function refuse(limit: 'replica' | 'key', message: string): never {
  overloadRefusals.inc({ limit });
  throw new ApiError('E5002', message, { retryAfterSeconds: OVERLOAD_RETRY_SECONDS });
}
