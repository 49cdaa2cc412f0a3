/** Concurrent attempts of one worker process. */
export const SLOTS = 32;
/** Maximum slots of one fast endpoint; any other endpoint has one. */
export const SLOTS_PER_FAST_ENDPOINT = 4;
/** Maximum slots of one merchant, however many endpoints it has. */
const SLOTS_PER_MERCHANT = SLOTS / 4;
/** Maximum slots of one merchant for endpoints that are not fast. */
const SLOTS_PER_MERCHANT_NOT_FAST = 2;
/** Maximum slots of all endpoints that are not fast, so that they never block the fast ones. */
const SLOTS_NOT_FAST = SLOTS / 2;
/** A slow endpoint gets a slot only below this number, which leaves the rest to unproven ones. */
const SLOTS_SLOW = SLOTS / 4;
/**
 * An endpoint is fast if its last response took less than this, in milliseconds, and slow if that
 * took longer or an attempt has been running for longer. Most responses take a tenth of it.
 */
const FAST_MS = 1_000;
/** Endpoints whose pace is remembered; those that responded longest ago are forgotten first. */
const REMEMBERED_MAXIMUM = 10_000;

interface SlotOwner {
  readonly endpointId: string;
  readonly merchantId: string;
}

export interface Slot {
  /** @param responseMs Response time of the attempt; omitted if none was measured. */
  release(responseMs?: number): void;
}

/** Distributes a worker's slots among the endpoints. */
export interface EndpointSlots {
  /** Undefined if the endpoint may not have another slot now. */
  acquire(owner: SlotOwner): Slot | undefined;
  /** How many slots are free. */
  readonly free: number;
}

type Pace = 'unproven' | 'fast' | 'slow';

interface Running {
  readonly endpointId: string;
  readonly merchantId: string;
  readonly startedAt: number;
}

/** Slots for one worker process; each process counts its own. */
export function createEndpointSlots(now: () => number = () => performance.now()): EndpointSlots {
  /** Paces by endpoint, as of its last response, in the order of these responses. */
  const paces = new Map<string, Exclude<Pace, 'unproven'>>();
  const running = new Set<Running>();

  function paceOf(endpointId: string, attempts: readonly Running[], at: number): Pace {
    if (attempts.some(({ startedAt }) => at - startedAt >= FAST_MS)) return 'slow';
    return paces.get(endpointId) ?? 'unproven';
  }

  function remember(endpointId: string, responseMs: number) {
    paces.delete(endpointId);
    paces.set(endpointId, responseMs < FAST_MS ? 'fast' : 'slow');
    const [oldest] = paces.keys();
    if (paces.size > REMEMBERED_MAXIMUM && oldest !== undefined) paces.delete(oldest);
  }

  function isAvailable({ endpointId, merchantId }: SlotOwner): boolean {
    const at = now();
    const byEndpoint = Map.groupBy(running, attempt => attempt.endpointId);
    let ofMerchant = 0;
    let notFast = 0;
    let notFastOfMerchant = 0;
    for (const [id, attempts] of byEndpoint) {
      const isOfMerchant = attempts[0]?.merchantId === merchantId;
      if (isOfMerchant) ofMerchant += attempts.length;
      if (paceOf(id, attempts, at) === 'fast') continue;
      notFast += attempts.length;
      if (isOfMerchant) notFastOfMerchant += attempts.length;
    }
    if (running.size >= SLOTS || ofMerchant >= SLOTS_PER_MERCHANT) return false;
    const own = byEndpoint.get(endpointId) ?? [];
    const pace = paceOf(endpointId, own, at);
    if (pace === 'fast') return own.length < SLOTS_PER_FAST_ENDPOINT;
    return (
      own.length === 0 &&
      notFastOfMerchant < SLOTS_PER_MERCHANT_NOT_FAST &&
      notFast < (pace === 'slow' ? SLOTS_SLOW : SLOTS_NOT_FAST)
    );
  }

  return {
    get free() {
      return SLOTS - running.size;
    },
    acquire(owner) {
      if (!isAvailable(owner)) return undefined;
      const attempt = { ...owner, startedAt: now() };
      running.add(attempt);
      return {
        release(responseMs) {
          running.delete(attempt);
          if (responseMs !== undefined) remember(owner.endpointId, responseMs);
        },
      };
    },
  };
}
