import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { batch } from '#storage/database/batch.ts';

function counting(maximum?: number) {
  const calls: (readonly number[])[] = [];
  const square = batch(async (numbers: readonly number[]) => {
    calls.push(numbers);
    await nextTurn();
    if (numbers.includes(13)) throw new Error('unlucky');
    return numbers.map(number => number ** 2);
  }, maximum);
  return { calls, square };
}

test('requests of one tick share one call, and each caller gets its own result', async () => {
  const { calls, square } = counting();
  const asked = [1, 2, 2, 3];
  expect(await Promise.all(asked.map(square))).toEqual([1, 4, 4, 9]);
  expect(calls).toEqual([asked]);
});

test('requests during a call go into another call, without waiting for the first', async () => {
  const { calls, square } = counting();
  const first = square(1);
  await nextTurn();
  const second = square(2);
  await nextTurn();
  expect(calls).toEqual([[1], [2]]);
  expect(await Promise.all([first, second])).toEqual([1, 4]);
});

test('a full call starts at once, and a partial one at the end of the tick', async () => {
  const { calls, square } = counting();
  const asked = Array.from({ length: 70 }, (_, index) => index + 100);
  const results = Promise.all(asked.map(square));
  expect(calls.map(({ length }) => length)).toEqual([32, 32]);
  expect(await results).toEqual(asked.map(number => number ** 2));
  expect(calls.map(({ length }) => length)).toEqual([32, 32, 6]);
  expect(calls.flat()).toEqual(asked);
});

test('a caller sets the maximum size of a call', async () => {
  const { calls, square } = counting(2);
  expect(await Promise.all([1, 2, 3].map(square))).toEqual([1, 4, 9]);
  expect(calls).toEqual([[1, 2], [3]]);
});

test('a tick that ends with a full call makes no empty one', async () => {
  const { calls, square } = counting();
  await Promise.all(Array.from({ length: 32 }, (_, index) => square(index + 100)));
  await nextTurn();
  expect(calls).toHaveLength(1);
});

test('a failing call fails its own requests, and no later ones', async () => {
  const { square } = counting();
  const results = await Promise.allSettled([square(12), square(13)]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await square(14)).toBe(196);
});

test('of two calls of one tick, one may fail', async () => {
  const { square } = counting(2);
  const results = await Promise.allSettled([12, 13, 14].map(square));
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
});

test('a call that throws synchronously rejects its requests, and does not throw at the caller', async () => {
  const ask = batch<number, number>(() => {
    throw new Error('at once');
  }, 1);
  await expect(ask(1)).rejects.toThrow('at once');
});

test('a promise among the results settles its own request only', async () => {
  const ask = batch(async (numbers: readonly number[]) =>
    numbers.map(async number => {
      if (number === 13) throw new Error('unlucky');
      return number;
    }),
  );
  const results = await Promise.allSettled([12, 13, 14].map(ask));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});
