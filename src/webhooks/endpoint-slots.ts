/** Concurrent attempts of one worker process. */
export const SLOTS = 32;
/** Maximum slots of one fast endpoint; any other endpoint has one. */
const SLOTS_PER_FAST_ENDPOINT = 4;
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

export interface SlotOwner {
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
  /** IDs of the known endpoints that may not have another slot now. */
  exhausted(): string[];
}

type Pace = 'unproven' | 'fast' | 'slow';

interface Endpoint {
  readonly merchantId: string;
  /** By its last response. */
  pace: Pace;
  /** Start times of the running attempts. */
  readonly started: number[];
}

interface SlotsInUse {
  all: number;
  notFast: number;
}

/** Slots for one worker process; each process counts its own. */
export function createEndpointSlots(now: () => number = () => performance.now()): EndpointSlots {
  const endpoints = new Map<string, Endpoint>();

  const paceOf = ({ pace, started }: Endpoint, at: number): Pace =>
    started.some(start => at - start >= FAST_MS) ? 'slow' : pace;

  /** Counts the slots in use; the result tells whether an endpoint may have another one now. */
  function availability(): (endpoint: Endpoint) => boolean {
    const at = now();
    const total: SlotsInUse = { all: 0, notFast: 0 };
    const merchants = new Map<string, SlotsInUse>();
    for (const endpoint of endpoints.values()) {
      const count = endpoint.started.length;
      if (count === 0) continue;
      const merchant = merchants.get(endpoint.merchantId) ?? { all: 0, notFast: 0 };
      merchants.set(endpoint.merchantId, merchant);
      for (const inUse of [total, merchant]) {
        inUse.all += count;
        if (paceOf(endpoint, at) !== 'fast') inUse.notFast += count;
      }
    }
    return endpoint => {
      const merchant = merchants.get(endpoint.merchantId) ?? { all: 0, notFast: 0 };
      if (merchant.all >= SLOTS_PER_MERCHANT) return false;
      const pace = paceOf(endpoint, at);
      if (pace === 'fast') return endpoint.started.length < SLOTS_PER_FAST_ENDPOINT;
      return (
        endpoint.started.length === 0 &&
        merchant.notFast < SLOTS_PER_MERCHANT_NOT_FAST &&
        total.notFast < (pace === 'slow' ? SLOTS_SLOW : SLOTS_NOT_FAST)
      );
    };
  }

  return {
    acquire({ endpointId, merchantId }) {
      const endpoint = endpoints.get(endpointId) ?? { merchantId, pace: 'unproven', started: [] };
      // Even if refused, because `exhausted` can list known endpoints only.
      endpoints.set(endpointId, endpoint);
      if (!availability()(endpoint)) return undefined;
      const start = now();
      endpoint.started.push(start);
      return {
        release(responseMs) {
          endpoint.started.splice(endpoint.started.indexOf(start), 1);
          if (responseMs !== undefined) endpoint.pace = responseMs < FAST_MS ? 'fast' : 'slow';
        },
      };
    },
    exhausted() {
      const isAvailable = availability();
      return [...endpoints].filter(([, endpoint]) => !isAvailable(endpoint)).map(([id]) => id);
    },
  };
}
