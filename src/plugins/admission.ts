import type { FastifyReply } from 'fastify';
import { ApiError } from '../errors/api-error.ts';
import { overloadRefusals, requestsInFlight } from '../metrics/counts.ts';

/**
 * Bounds how many requests this process works on at once. Beyond what it can serve, more of them at
 * once are not served sooner, but each later, until all come too late; those above the bound are told
 * at once to come again.
 */
export interface Admission {
  /** E5002 while as many requests are worked on as may be. */
  overload(): ApiError | undefined;
  /** @throws ApiError E5002, likewise. */
  refuseOverload(): void;
  /**
   * Counts a request until its answer is sent, or its client is gone. Not before its body has
   * arrived: whoever sends one slowly would take the place of others.
   * @throws ApiError E5002
   */
  enter(reply: FastifyReply): void;
}

/** What a refused client is told to wait, in seconds: the bound is worked off in less. */
const RETRY_AFTER_SECONDS = 1;

/** Made once: where the stack was when a request was refused says nothing, and takes time. */
const OVERLOADED = new ApiError('E5002', 'The service is overloaded; nothing was executed.', {
  retryAfterSeconds: RETRY_AFTER_SECONDS,
});

/** @param max Requests worked on at once. */
export function createAdmission(max: number): Admission {
  let inFlight = 0;
  const leave = () => {
    inFlight -= 1;
    requestsInFlight.change(-1);
  };
  function overload(): ApiError | undefined {
    if (inFlight < max) return undefined;
    overloadRefusals.add();
    return OVERLOADED;
  }
  function refuseOverload(): void {
    const refusal = overload();
    if (refusal !== undefined) throw refusal;
  }
  return {
    overload,
    refuseOverload,
    enter(reply) {
      // Its close has been already, and nothing would count it out again.
      if (reply.raw.destroyed) return;
      refuseOverload();
      inFlight += 1;
      requestsInFlight.change(1);
      reply.raw.once('close', leave);
    },
  };
}
