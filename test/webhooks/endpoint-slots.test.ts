import { expect, test } from 'vitest';
import { createEndpointSlots, SLOTS } from '../../src/webhooks/endpoint-slots.ts';

const SLOW_MS = 15_000;
const FAST_MS = 50;

/** Takes as many slots as an endpoint gets. */
function takeAll(slots: ReturnType<typeof createEndpointSlots>, endpoint: string): number {
  let taken = 0;
  while (slots.take(endpoint)) taken += 1;
  return taken;
}

test('an endpoint holds a few slots, and one while it is slow', () => {
  const slots = createEndpointSlots();
  expect(takeAll(slots, 'a')).toBe(4);
  expect(slots.exhausted()).toEqual(['a']);
  for (let index = 0; index < 4; index++) slots.giveBack('a', SLOW_MS);
  expect(slots.exhausted()).toEqual([]);
  expect(takeAll(slots, 'a')).toBe(1);
  expect(slots.exhausted()).toEqual(['a']);
  slots.giveBack('a', FAST_MS);
  expect(takeAll(slots, 'a')).toBe(4);
});

test('all slow endpoints together never hold more than half of the slots', () => {
  const slots = createEndpointSlots();
  const slow = Array.from({ length: SLOTS * 2 }, (_, index) => `slow ${index}`);
  for (const endpoint of slow) {
    slots.take(endpoint);
    slots.giveBack(endpoint, SLOW_MS);
  }
  const taken = slow.filter(endpoint => slots.take(endpoint));
  expect(taken).toHaveLength(SLOTS / 2);
  expect(slots.exhausted().toSorted()).toEqual(slow.toSorted());
  expect(takeAll(slots, 'fast')).toBe(4);
  slots.giveBack(taken[0] ?? '', SLOW_MS);
  expect(slots.exhausted()).toHaveLength(SLOTS / 2);
});
