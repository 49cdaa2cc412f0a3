import type { FastifyReply } from 'fastify';
import { Counter, Gauge } from 'prom-client';
import { ApiError } from '../errors/api-error.ts';

/** What E5002 of an overload tells clients to wait, in seconds. */
export const OVERLOAD_RETRY_SECONDS = 1;

const requestsInFlight = new Gauge({
  name: 'eps_http_requests_in_flight',
  help: 'Signed requests in flight',
});
const overloadRefusals = new Counter({
  name: 'eps_http_requests_overloaded_total',
  help: 'Signed requests refused with E5002 because too many were in flight',
});

/**
 * Limits how many requests this process works on at once. Above what it can serve, more concurrency
 * only makes every answer later; requests above the limit get E5002 with Retry-After at once.
 */
export class Admission {
  readonly #max: number;
  #inFlight = 0;

  /** @param max Most requests in flight. */
  constructor(max: number) {
    this.#max = max;
  }

  /**
   * Refuses a request while the limit is reached, before anything is spent on it.
   * @throws ApiError E5002
   */
  refuseOverload(): void {
    if (this.#inFlight < this.#max) return;
    overloadRefusals.inc();
    throw new ApiError('E5002', 'The service is overloaded; nothing was executed.', {
      retryAfterSeconds: OVERLOAD_RETRY_SECONDS,
    });
  }

  /**
   * Counts a request as in flight until its response closes. Call it once the body has arrived: a
   * client that sends one slowly must not occupy a place.
   * @throws ApiError E5002
   */
  enter({ raw: response }: FastifyReply): void {
    // The client is gone already: its close event will not come again.
    if (response.destroyed) return;
    this.refuseOverload();
    this.#inFlight += 1;
    requestsInFlight.inc();
    response.once('close', () => {
      this.#inFlight -= 1;
      requestsInFlight.dec();
    });
  }
}
