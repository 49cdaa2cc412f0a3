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

test('what is asked for in one tick is one call, and each caller gets its own result', async () => {
  const { calls, square } = counting();
  const asked = [1, 2, 2, 3];
  expect(await Promise.all(asked.map(square))).toEqual([1, 4, 4, 9]);
  expect(calls).toEqual([asked]);
});

test('what is asked while a call is under way is asked in another, without waiting for it', async () => {
  const { calls, square } = counting();
  const first = square(1);
  await nextTurn();
  const second = square(2);
  await nextTurn();
  expect(calls).toEqual([[1], [2]]);
  expect(await Promise.all([first, second])).toEqual([1, 4]);
});

test('a call that is full goes at once, and what is left at the end of the turn', async () => {
  const { calls, square } = counting();
  const asked = Array.from({ length: 70 }, (_, index) => index + 100);
  const results = Promise.all(asked.map(square));
  expect(calls.map(({ length }) => length)).toEqual([32, 32]);
  expect(await results).toEqual(asked.map(number => number ** 2));
  expect(calls.map(({ length }) => length)).toEqual([32, 32, 6]);
  expect(calls.flat()).toEqual(asked);
});

test('a caller says how many a call takes', async () => {
  const { calls, square } = counting(2);
  expect(await Promise.all([1, 2, 3].map(square))).toEqual([1, 4, 9]);
  expect(calls).toEqual([[1, 2], [3]]);
});

test('a turn that ends with a full call makes no empty one', async () => {
  const { calls, square } = counting();
  await Promise.all(Array.from({ length: 32 }, (_, index) => square(index + 100)));
  await nextTurn();
  expect(calls).toHaveLength(1);
});

test('a call that fails fails what is in it, and nothing that comes after', async () => {
  const { square } = counting();
  const results = await Promise.allSettled([square(12), square(13)]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await square(14)).toBe(196);
});

test('of two calls of a turn one may fail', async () => {
  const { square } = counting(2);
  const results = await Promise.allSettled([12, 13, 14].map(square));
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
});

test('a call that throws while a question is asked fails its questions, not the asking', async () => {
  const ask = batch<number, number>(() => {
    throw new Error('at once');
  }, 1);
  await expect(ask(1)).rejects.toThrow('at once');
});

test('a promise among the results settles its own item alone', async () => {
  const ask = batch(async (numbers: readonly number[]) =>
    numbers.map(async number => {
      if (number === 13) throw new Error('unlucky');
      return number;
    }),
  );
  const results = await Promise.allSettled([12, 13, 14].map(ask));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});
