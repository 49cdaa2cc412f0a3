/** Attempts that one worker process makes at once. */
export const SLOTS = 32;
/** Of these, how many one endpoint may hold. */
const SLOTS_PER_ENDPOINT = 4;
/** How many it may hold while it is slow. */
const SLOTS_PER_SLOW_ENDPOINT = 1;
/** How many all slow endpoints together may hold: the others are never kept waiting by them. */
const SLOTS_OF_SLOW_ENDPOINTS = SLOTS / 2;
/** An endpoint whose last answer took this long, in milliseconds, is slow until one is faster. */
const SLOW_MS = 2_000;

/** Shares a worker's slots among the endpoints. */
export interface EndpointSlots {
  /** Takes a slot, if the endpoint may have another. */
  take(endpointId: string): boolean;
  /** Gives it back, and tells how long the attempt took, in milliseconds. */
  giveBack(endpointId: string, durationMs: number): void;
  /** The endpoints that may not have another slot now. */
  exhausted(): string[];
}

/** Slots for one worker process; they know of no other process. */
export function createEndpointSlots(): EndpointSlots {
  const held = new Map<string, number>();
  const slow = new Set<string>();

  const heldBySlow = () => {
    let sum = 0;
    for (const [endpointId, count] of held) if (slow.has(endpointId)) sum += count;
    return sum;
  };
  const maximumOf = (endpointId: string) =>
    slow.has(endpointId) ? SLOTS_PER_SLOW_ENDPOINT : SLOTS_PER_ENDPOINT;
  const isExhausted = (endpointId: string, slowHave: number) =>
    (held.get(endpointId) ?? 0) >= maximumOf(endpointId) ||
    (slow.has(endpointId) && slowHave >= SLOTS_OF_SLOW_ENDPOINTS);

  return {
    take(endpointId) {
      if (isExhausted(endpointId, heldBySlow())) return false;
      held.set(endpointId, (held.get(endpointId) ?? 0) + 1);
      return true;
    },
    giveBack(endpointId, durationMs) {
      const left = (held.get(endpointId) ?? 0) - 1;
      if (left > 0) held.set(endpointId, left);
      else held.delete(endpointId);
      if (durationMs >= SLOW_MS) slow.add(endpointId);
      else slow.delete(endpointId);
    },
    exhausted() {
      const slowHave = heldBySlow();
      const candidates =
        slowHave >= SLOTS_OF_SLOW_ENDPOINTS ? [...slow, ...held.keys()] : held.keys();
      return [...new Set(candidates)].filter(endpointId => isExhausted(endpointId, slowHave));
    },
  };
}
