import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { ApiError } from '../errors/api-error.ts';
import { overloadRefusals, requestsInFlight } from '../telemetry/counts.ts';
import { createHeldConnections, LONGEST_HOLD_SECONDS } from './held-connections.ts';

/**
 * Bounds how many requests this process works on at once. Beyond what it can serve, more of them at
 * once are not served sooner, but each later, until all come too late; those above the bound are told
 * at once when to come again, and before that time nothing more is read from their connections.
 */
export interface Admission {
  /** E5002 for the request of this response while as many requests are worked on as may be. */
  overload(response: ServerResponse): ApiError | undefined;
  /** @throws ApiError E5002, likewise. */
  refuseOverload(reply: FastifyReply): void;
  /**
   * Counts a request until its answer is sent, or its client is gone. Not before its body has
   * arrived: whoever sends one slowly would take the place of others.
   * @throws ApiError E5002
   */
  enter(reply: FastifyReply): void;
}

/**
 * By the seconds to wait. Made once: where the stack was when a request was refused says nothing, and
 * takes time.
 */
const OVERLOADED = Array.from({ length: LONGEST_HOLD_SECONDS + 1 }, (_, retryAfterSeconds) => {
  const message = 'The service is overloaded; nothing was executed.';
  return new ApiError('E5002', message, { retryAfterSeconds });
});

/** @param max Requests worked on at once. */
export function createAdmission(max: number): Admission {
  const held = createHeldConnections();
  let inFlight = 0;
  const leave = () => {
    inFlight -= 1;
    requestsInFlight.change(-1);
    // The overload is over: others may wait behind a connection that a balancer keeps for many.
    if (inFlight < max / 2) held.releaseOldest();
  };
  function overload(response: ServerResponse): ApiError | undefined {
    if (inFlight < max) return undefined;
    overloadRefusals.add();
    return OVERLOADED[held.hold(response)];
  }
  function refuseOverload(reply: FastifyReply): void {
    const refusal = overload(reply.raw);
    if (refusal !== undefined) throw refusal;
  }
  return {
    overload,
    refuseOverload,
    enter(reply) {
      // Its close has been already, and nothing would count it out again.
      if (reply.raw.destroyed) return;
      refuseOverload(reply);
      inFlight += 1;
      requestsInFlight.change(1);
      reply.raw.once('close', leave);
    },
  };
}
