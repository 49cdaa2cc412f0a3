/** Attempts that one worker process makes at once. */
export const SLOTS = 32;
/** Of these, how many one endpoint may hold that is known to be fast; any other holds one. */
const SLOTS_PER_FAST_ENDPOINT = 4;
/** How many one merchant may hold, however many endpoints it has. */
const SLOTS_PER_MERCHANT = SLOTS / 4;
/** How many of these for endpoints that are not fast. */
const SLOTS_PER_MERCHANT_NOT_FAST = 2;
/** How many all endpoints that are not fast may hold: the fast ones are never kept waiting by them. */
const SLOTS_NOT_FAST = SLOTS / 2;
/** A slow endpoint starts an attempt below this many only, which leaves the rest to new ones. */
const SLOTS_SLOW = SLOTS / 4;
/**
 * An endpoint is fast when its last answer took less than this, in milliseconds, and slow when it
 * took longer or when an attempt has been running for longer. Most answers take a tenth of it.
 */
const FAST_MS = 1_000;

/** Whose attempt it is. */
export interface SlotOwner {
  readonly endpointId: string;
  readonly merchantId: string;
}

export interface Slot {
  /** Ends the attempt. @param answerMs How long its answer took; left out when none was waited for. */
  giveBack(answerMs?: number): void;
}

/** Shares a worker's slots among the endpoints. */
export interface EndpointSlots {
  /** A slot, if the endpoint may have another. */
  take(owner: SlotOwner): Slot | undefined;
  /** The endpoints known to this worker that may not have another slot now. */
  exhausted(): string[];
}

type Pace = 'unproven' | 'fast' | 'slow';

interface Endpoint {
  readonly merchantId: string;
  /** As its last answer was. */
  pace: Pace;
  /** When the attempts that are running began. */
  readonly started: number[];
}

interface Held {
  all: number;
  notFast: number;
}

/** Slots for one worker process; they know of no other process. */
export function createEndpointSlots(now: () => number = () => performance.now()): EndpointSlots {
  const endpoints = new Map<string, Endpoint>();

  const paceOf = ({ pace, started }: Endpoint, at: number): Pace =>
    started.some(start => at - start >= FAST_MS) ? 'slow' : pace;

  /** Tells of any endpoint whether it may have another slot, as things stand now. */
  function readyCheck(): (endpoint: Endpoint) => boolean {
    const at = now();
    const total: Held = { all: 0, notFast: 0 };
    const merchants = new Map<string, Held>();
    for (const endpoint of endpoints.values()) {
      const count = endpoint.started.length;
      if (count === 0) continue;
      const merchant = merchants.get(endpoint.merchantId) ?? { all: 0, notFast: 0 };
      merchants.set(endpoint.merchantId, merchant);
      for (const held of [total, merchant]) {
        held.all += count;
        if (paceOf(endpoint, at) !== 'fast') held.notFast += count;
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
    take({ endpointId, merchantId }) {
      const endpoint = endpoints.get(endpointId) ?? { merchantId, pace: 'unproven', started: [] };
      // Also when refused: only endpoints that are known can be left alone.
      endpoints.set(endpointId, endpoint);
      if (!readyCheck()(endpoint)) return undefined;
      const start = now();
      endpoint.started.push(start);
      return {
        giveBack(answerMs) {
          endpoint.started.splice(endpoint.started.indexOf(start), 1);
          if (answerMs !== undefined) endpoint.pace = answerMs < FAST_MS ? 'fast' : 'slow';
        },
      };
    },
    exhausted() {
      const isReady = readyCheck();
      return [...endpoints].filter(([, endpoint]) => !isReady(endpoint)).map(([id]) => id);
    },
  };
}
