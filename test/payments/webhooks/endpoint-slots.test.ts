import { beforeEach, expect, test } from 'vitest';
import { createEndpointSlots, SLOTS, type Slot } from '#payments/webhooks/endpoint-slots.ts';

const SLOW_MS = 1_900;
const FAST_MS = 50;

let time: number;
let slots: ReturnType<typeof createEndpointSlots>;
beforeEach(() => {
  time = 0;
  slots = createEndpointSlots(() => time);
});

/** Takes all slots that an endpoint gets. */
function takeAll(endpointId: string, merchantId = `merchant of ${endpointId}`): Slot[] {
  const taken: Slot[] = [];
  for (;;) {
    const slot = slots.acquire({ endpointId, merchantId });
    if (slot === undefined) return taken;
    taken.push(slot);
  }
}

/** Lets an endpoint respond once. */
function answer(endpointId: string, answerMs: number, merchantId?: string): void {
  const taken = takeAll(endpointId, merchantId);
  expect(taken).toHaveLength(1);
  taken[0]?.release(answerMs);
}

const names = (kind: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${kind} ${index}`);

test('an endpoint holds one slot, and a few while its responses are fast', () => {
  answer('a', FAST_MS);
  const taken = takeAll('a');
  expect(taken).toHaveLength(4);
  for (const slot of taken) slot.release(SLOW_MS);
  answer('a', SLOW_MS);
  answer('a', FAST_MS);
  expect(takeAll('a')).toHaveLength(4);
});

test('an attempt without a response does not make an endpoint fast', () => {
  takeAll('a')[0]?.release();
  expect(takeAll('a')).toHaveLength(1);
});

test('an attempt that runs for long makes a fast endpoint slow', () => {
  answer('a', FAST_MS);
  const owner = { endpointId: 'a', merchantId: 'shop' };
  slots.acquire(owner);
  time = SLOW_MS;
  expect(slots.acquire(owner)).toBeUndefined();
});

test('new endpoints together hold half of the slots, fast ones the rest', () => {
  answer('fast', FAST_MS);
  const taken = names('new', SLOTS).flatMap(endpoint => takeAll(endpoint));
  expect(taken).toHaveLength(SLOTS / 2);
  time = SLOW_MS;
  expect(takeAll('fast')).toHaveLength(4);
  taken[0]?.release(FAST_MS);
  expect(takeAll(`new ${SLOTS - 1}`)).toHaveLength(1);
});

test('slow endpoints leave slots to new ones', () => {
  const slow = names('slow', SLOTS);
  for (const endpoint of slow) answer(endpoint, SLOW_MS);
  expect(slow.flatMap(endpoint => takeAll(endpoint))).toHaveLength(SLOTS / 4);
  expect(takeAll('new')).toHaveLength(1);
});

test('a merchant with many endpoints holds a quarter, and two while they are not fast', () => {
  const endpoints = names('endpoint', 16);
  const takeThose = () => endpoints.flatMap(endpoint => takeAll(endpoint, 'shop'));
  const taken = takeThose();
  expect(taken).toHaveLength(2);
  for (const slot of taken) slot.release();
  for (const endpoint of endpoints) answer(endpoint, FAST_MS, 'shop');
  expect(takeThose()).toHaveLength(SLOTS / 4);
});

test('all endpoints together hold no more than the slots there are', () => {
  const fast = names('fast', SLOTS);
  for (const endpoint of fast) answer(endpoint, FAST_MS);
  const taken = fast.flatMap(endpoint => takeAll(endpoint));
  expect(taken).toHaveLength(SLOTS);
  expect(slots.free).toBe(0);
  taken[0]?.release(FAST_MS);
  expect(slots.free).toBe(1);
});

test('the memory of endpoints is bounded', () => {
  answer('old', FAST_MS);
  for (const endpoint of names('new', 10_000)) answer(endpoint, FAST_MS);
  expect(takeAll('old')).toHaveLength(1);
  expect(takeAll('new 9999')).toHaveLength(4);
});
