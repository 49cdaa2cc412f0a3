import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { admitCode, forgetAllFailures, forgetFailures } from '#accounts/people/throttle.ts';
import { createKeyring } from '#crypto/keyring.ts';
import { insertPerson } from '#storage/repositories/people/people.ts';
import { insertDevice } from '#storage/repositories/people/sign-in-counters.ts';
import { cloneDatabase, type TestDatabase } from '../../helpers/database.ts';

const MINUTE_MS = 60_000;
const WINDOW_MS = 15 * MINUTE_MS;
const START = Date.UTC(2026, 4, 17, 12);

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database.drop());

/** The limit for one kind of device. */
class Model {
  #last = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #inRow = 0;
  #closedUntil = Number.NEGATIVE_INFINITY;

  /**
   * Makes `count` attempts at once.
   * @returns How many of them are admitted.
   */
  attempt(count: number, now: number): number {
    let admitted = 0;
    while (admitted < count && now >= this.#closedUntil && this.#inRow < 100) {
      if (now - this.#last >= WINDOW_MS) this.#failures = 0;
      this.#last = now;
      this.#failures += 1;
      this.#inRow += 1;
      admitted += 1;
      if (this.#failures === 10) this.#closedUntil = now + WINDOW_MS;
    }
    return admitted;
  }
}

const device = fc.nat(2);
const act = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('guess' as const),
      device,
      count: fc.integer({ min: 1, max: 15 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      minutes: fc.constantFrom(1, 5, 14, 15, 16),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('succeed' as const), device }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('use link' as const) }) },
);

test('guesses in any mixture are admitted as the rules say', async () => {
  const { db } = database;
  const keyring = createKeyring([randomBytes(32)]);
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 60 }), async acts => {
      let now = START;
      const id = uuidv7();
      const email = `${id}@example.com`;
      const person = await insertPerson(db, { id, name: 'Ada', email, created_at: new Date(now) });
      const devices = [null, randomBytes(32), randomBytes(32)];
      for (const hash of devices) {
        if (hash === null) continue;
        await insertDevice(db, { token_hash: hash, person_id: id, created_at: new Date(now) });
      }
      let models = devices.map(() => new Model());
      for (const each of acts) {
        switch (each.kind) {
          case 'guess': {
            const attempt = () =>
              admitCode(db, keyring, {
                personId: id,
                device: devices[each.device] ?? null,
                now: new Date(now),
              });
            const answers = await Promise.all(Array.from({ length: each.count }, attempt));
            const admitted = answers.filter(answer => answer !== 'refused').length;
            expect(admitted).toBe(models[each.device]?.attempt(each.count, now));
            break;
          }
          case 'wait':
            now += each.minutes * MINUTE_MS;
            break;
          case 'succeed':
            await forgetFailures(db, keyring, person, devices[each.device] ?? null);
            models[each.device] = new Model();
            break;
          case 'use link':
            await forgetAllFailures(db, keyring, person);
            models = devices.map(() => new Model());
            break;
        }
      }
    }),
    { numRuns: 25 },
  );
}, 60_000);
