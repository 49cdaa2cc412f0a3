import fastify from 'fastify';
import { beforeEach, expect, test } from 'vitest';
import { createRateLimits, type RateLimits } from '#http/rate-limit.ts';

const HOUR_MS = 60 * 60_000;
/** Of the redeliveries of failed events to an endpoint in an hour. */
const MOST = 6;

let limits: RateLimits;
const clock = Object.assign(() => clock.now, { now: 0 });

beforeEach(async () => {
  clock.now = Date.UTC(2026, 4, 17, 12);
  limits = await createRateLimits(fastify(), { max: 60, windowSeconds: 60, clock });
});

const done = async () => 'done';
const work = (endpointId = 'a', does: () => Promise<unknown> = done) =>
  limits.countBulkRedelivery(endpointId, does);
const refusal = { errorCode: 'E9001', message: 'At most 6 requests in 3600 seconds are allowed.' };

async function useUp(): Promise<void> {
  for (let n = 0; n < MOST; n++) expect(await work()).toBe('done');
}

test('work is counted by whom it is for, and refused above the limit before it begins', async () => {
  await useUp();
  let began = false;
  const begin = async () => {
    began = true;
  };
  await expect(work('a', begin)).rejects.toMatchObject(refusal);
  expect(began).toBe(false);
  expect(await work('b')).toBe('done');
  // A limit of its own.
  expect(await limits.countRedelivery('a', done)).toBe('done');
});

test('an hour after the first, there may be as many again', async () => {
  await work();
  clock.now += HOUR_MS - 1;
  for (let n = 1; n < MOST; n++) await work();
  await expect(work()).rejects.toMatchObject({ ...refusal, retryAfterSeconds: 1 });
  clock.now += 1;
  await useUp();
});

test('work that fails, or finds nothing to do, is not counted', async () => {
  const fail = async () => {
    throw new Error('refused');
  };
  for (let n = 0; n < 2 * MOST; n++) {
    await expect(work('a', fail)).rejects.toThrow('refused');
    expect(await work('a', async () => undefined)).toBeUndefined();
  }
  await useUp();
});

test('work that was admitted at once exceeds the limit by less than its number, and is counted', async () => {
  for (let n = 1; n < MOST; n++) await work();
  const gate = Promise.withResolvers<string>();
  const atOnce = [1, 2, 3].map(() => work('a', () => gate.promise));
  gate.resolve('done');
  expect(await Promise.all(atOnce)).toEqual(['done', 'done', 'done']);
  await expect(work()).rejects.toMatchObject(refusal);
});
