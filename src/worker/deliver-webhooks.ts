import { setTimeout as sleep } from 'node:timers/promises';
import { guardedConnector, type Resolve } from '#outbound/guarded-connector.ts';
import {
  attemptDelivery,
  CLAIM_MS,
  type DeliveryDependencies,
} from '#payments/webhooks/attempt-delivery.ts';
import {
  createEndpointSlots,
  type EndpointSlots,
  SLOTS_PER_FAST_ENDPOINT,
  type Slot,
} from '#payments/webhooks/endpoint-slots.ts';
import { ATTEMPT_TIMEOUT_MS } from '#payments/webhooks/send.ts';
import {
  type ClaimedDelivery,
  claimDeliveries,
  type DueEndpoint,
  findDueEndpoints,
  releaseClaims,
} from '#storage/repositories/webhooks/claims.ts';
import { monthsOf } from '#storage/repositories/webhooks/event-months.ts';
import { idlePause, type Loop } from './loop.ts';

export interface WebhookDependencies extends Omit<DeliveryDependencies, 'connect'> {
  /** Replaces the name servers in tests. */
  readonly resolve?: Resolve;
}

/**
 * How often due deliveries are polled for, in milliseconds. An event waits half of it on average. A
 * notification for each event would be faster, but makes PostgreSQL commit one payment after the other.
 */
const INTERVAL_MS = 200;
/** After a quiet time an event waits half a second on average. */
const IDLE_INTERVAL_MS = 1_000;
/** Longest pause after failures, in milliseconds: events wait for it after an outage. */
const MAXIMUM_PAUSE_MS = 5_000;
/**
 * How long attempts may continue after the worker was stopped, in milliseconds; then they are
 * released. Most responses arrive sooner, and the process has 25 seconds to stop.
 */
const STOP_GRACE_MS = 5_000;

/** Attempts deliveries when they are due. */
export function deliverWebhooksLoop(dependencies: WebhookDependencies): Loop {
  const { db, clock, logger, resolve, allowPrivateAddresses } = dependencies;
  const connect = guardedConnector({
    allowPrivateAddresses,
    timeoutMs: ATTEMPT_TIMEOUT_MS,
    ...(resolve === undefined ? {} : { resolve }),
  });
  const slots = createEndpointSlots();
  const pause = idlePause(INTERVAL_MS, IDLE_INTERVAL_MS);
  const inFlight = new Set<Promise<void>>();
  const cutOff = new AbortController();
  let nextEnd = Promise.withResolvers<void>();
  let lastClaimUntil = 0;
  /** Ends of the claims whose statement failed: the database may have committed them nevertheless. */
  let uncertain: Date[] = [];

  /** Claims as many deliveries as the free slots allow. */
  async function claim(): Promise<void> {
    const now = new Date(clock());
    for (const until of uncertain) await releaseClaims(db, until, now);
    uncertain = [];
    if (slots.free === 0) return;
    const found = await findDueEndpoints(db, now, SLOTS_PER_FAST_ENDPOINT);
    const acquired = acquireSlots(slots, found);
    if (acquired.size === 0) return;
    pause.worked();
    // Distinct for each claim of this worker, so that releasing one never releases another.
    lastClaimUntil = Math.max(now.getTime() + CLAIM_MS, lastClaimUntil + 1);
    const until = new Date(lastClaimUntil);
    try {
      const allotments = [...acquired].map(([endpointId, { length: count }]) => ({
        endpointId,
        count,
      }));
      const months = monthsOf(found.flatMap(({ events }) => events));
      for (const delivery of await claimDeliveries(db, allotments, { now, until }, months)) {
        const slot = acquired.get(delivery.endpoint.id)?.pop();
        if (slot !== undefined) start(delivery, slot);
      }
    } catch (error) {
      uncertain.push(until);
      throw error;
    } finally {
      // Another worker may have claimed a delivery in between.
      for (const slot of [...acquired.values()].flat()) slot.release();
    }
  }

  function start(delivery: ClaimedDelivery, slot: Slot): void {
    const attempt = attemptDelivery({ ...dependencies, connect }, delivery, cutOff.signal).then(
      responseMs => slot.release(responseMs),
      error => {
        slot.release();
        // The claim expires, and the attempt is repeated.
        logger.error({ err: error, deliveryId: delivery.deliveryId }, 'webhook attempt failed');
      },
    );
    const ended = attempt.finally(() => {
      inFlight.delete(ended);
      nextEnd.resolve();
    });
    inFlight.add(ended);
  }

  return {
    name: 'deliver-webhooks',
    get intervalMs() {
      return pause.ms;
    },
    maximumPauseMs: MAXIMUM_PAUSE_MS,
    async run(signal, beat) {
      while (!signal.aborted) {
        nextEnd = Promise.withResolvers();
        await claim();
        beat();
        if (inFlight.size === 0) return;
        // Also claims when an attempt ends: its slot is free for a delivery that may be waiting.
        const next = sleep(INTERVAL_MS, undefined, { signal }).catch(() => undefined);
        await Promise.race([nextEnd.promise, next]);
      }
    },
    async end() {
      const timer = setTimeout(() => cutOff.abort(), STOP_GRACE_MS);
      await Promise.all(inFlight);
      clearTimeout(timer);
    },
  };
}

/** Acquires slots by endpoint: one for each in turn, then another for those that may have more. */
function acquireSlots(
  slots: EndpointSlots,
  endpoints: readonly DueEndpoint[],
): Map<string, Slot[]> {
  const acquired = new Map<string, Slot[]>();
  let candidates = endpoints;
  for (let round = 1; candidates.length > 0 && slots.free > 0; round++) {
    candidates = candidates.filter(endpoint => {
      const slot = slots.acquire(endpoint);
      if (slot === undefined) return false;
      acquired.set(endpoint.endpointId, [...(acquired.get(endpoint.endpointId) ?? []), slot]);
      return endpoint.due > round;
    });
  }
  return acquired;
}
