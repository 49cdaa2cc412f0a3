import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { NodeFailure } from '#chains/nodes/node.ts';
import { expirePayments } from '#onchain/settlement/expire-on-chain.ts';
import { LeaseLost } from '#onchain/watching/lease.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import { WritesRefused } from '#storage/database/errors.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { createDatabaseClock } from '#time/database-clock.ts';
import { addMerchant } from '../../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../../helpers/app.ts';
import { addPaymentAt } from '../../../helpers/open-payment.ts';
import { runs } from '../../../helpers/property-runs.ts';
import { ModelChain } from '../model-chain.ts';
import { beginModel, createModelWatcher, FINAL_DEPTH, lapseLease } from '../model-watcher.ts';

/** API, workers and block producers, each with the clock of its own machine; the database's is right. */

const CHAIN = 'eth-test';
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let service: TestApp;
let merchant: Merchant;
beforeAll(async () => {
  service = await startTestApp();
  ({ merchant } = await addMerchant(service));
});
afterAll(() => service.close());

/** A machine with a wrong clock, whose process goes by the database's. */
function createMachine(aheadMs: number) {
  const { clock: real } = service;
  let ahead = aheadMs;
  let suspendedMs = 0;
  const databaseClock = createDatabaseClock({
    ask: async () => real.now,
    log: null,
    wall: () => real.now + ahead,
    monotonic: () => real.now - suspendedMs,
  });
  return {
    clock: databaseClock.now,
    setAhead(ms: number) {
      ahead = ms;
    },
    /** Runs the process's work, or nothing while it may not write. */
    async work(what: () => Promise<unknown>): Promise<void> {
      await databaseClock.measure();
      try {
        this.admit();
        await what();
      } catch (error) {
        const isExpected = [WritesRefused, NodeFailure, LeaseLost].some(it => error instanceof it);
        if (!isExpected) throw error;
      }
    },
    /** What the gate for writes does. */
    admit() {
      const reason = databaseClock.reason();
      if (reason !== null) throw new WritesRefused(reason);
    },
    suspend(ms: number) {
      real.now += ms;
      suspendedMs += ms;
    },
  };
}

const ahead = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: -25 * SECOND_MS, max: 25 * SECOND_MS }) },
  { weight: 2, arbitrary: fc.integer({ min: -HOUR_MS, max: HOUR_MS }) },
);
const place = fc.constantFrom('A', 'B');
const which = fc.constantFrom(0, 1);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('ask' as const), address: place }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('pay' as const), address: place }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('tick' as const), which }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('expire' as const), which }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      ms: fc.oneof(fc.integer({ min: 0, max: MINUTE_MS }), fc.integer({ min: 0, max: HOUR_MS })),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('jump' as const), which: fc.nat({ max: 2 }), ahead }),
  },
  // In the middle of a tick, before the call or commit with this number.
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('jump within' as const),
      which,
      ahead,
      at: fc.integer({ min: 1, max: 8 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('suspend' as const),
      which: fc.nat({ max: 2 }),
      ms: fc.integer({ min: 5 * SECOND_MS, max: HOUR_MS }),
    }),
  },
);
const course = fc.record({
  ahead: fc.tuple(ahead, ahead, ahead),
  blocksAhead: fc.integer({ min: -15 * SECOND_MS, max: 15 * SECOND_MS }),
  steps: fc.array(step, { minLength: 4, maxLength: 24 }),
});
type Course = typeof course extends fc.Arbitrary<infer T> ? T : never;

async function play({ ahead: first, blocksAhead, steps }: Course): Promise<void> {
  const { clock: real, db } = service;
  await beginModel(service, CHAIN);
  const blockClock = () => Math.floor((real.now + blocksAhead) / SECOND_MS) * SECOND_MS;
  const model = new ModelChain(blockClock, FINAL_DEPTH);
  const machines = first.map(createMachine);
  const watchers = [0, 1].map(index => {
    const { clock = real } = machines[index] ?? {};
    return createModelWatcher({ db, clock, model, chain: CHAIN, holder: `${index}` });
  });
  const api = machines[2] ?? createMachine(0);
  /** `isPaid` means paid in time. */
  const asked: { id: string; address: string; until: number; isPaid: boolean }[] = [];

  const tick = (index: number, happens?: (call: number) => void) =>
    machines[index]?.work(async () => {
      let call = 0;
      const admit = () => {
        call += 1;
        happens?.(call);
        machines[index]?.admit();
      };
      for (let rounds = 0; rounds < 40; rounds++) {
        if ((await watchers[index]?.tick(admit)) !== 'more') return;
      }
    });
  const expire = (index: number) =>
    machines[index]?.work(async () => {
      const now = new Date(machines[index]?.clock() ?? 0);
      await expirePayments(db, now, 100);
      for (const { id, until } of asked) {
        const payment = await findPayment(db, id);
        if (payment?.status === 'expired') expect(until).toBeLessThanOrEqual(real.now);
      }
    });

  async function run(each: Course['steps'][number]): Promise<void> {
    switch (each.kind) {
      case 'ask':
        return api.work(async () => {
          const { address } = each;
          const slot = {
            blockchainId: CHAIN,
            address,
            tokenAmount: BigInt(asked.length + 1) * 500n,
          };
          const clock = Object.assign(api.clock, { now: api.clock() });
          const {
            id,
            created_at: at,
            expires_at: end,
          } = await addPaymentAt({ db, clock }, merchant, slot);
          expect(at).toEqual(new Date(real.now));
          asked.push({ id, address, until: end.getTime(), isPaid: false });
        });
      case 'pay': {
        const index = asked.findLastIndex(
          ({ address, isPaid }) => address === each.address && !isPaid,
        );
        const payment = asked[index];
        if (payment === undefined) return;
        // Up to a poll after the end it may still count, and after a day the amount may be another payment's.
        const late = real.now - payment.until;
        if (late > 0 && (late < 3 * MINUTE_MS || late > 12 * HOUR_MS)) return;
        const tokenAmount = BigInt(index + 1) * 500n;
        model.send({ blockchainId: CHAIN, address: each.address, tokenAmount });
        payment.isPaid = late <= 0;
        model.mine();
        return;
      }
      case 'tick':
        model.mine([]);
        return tick(each.which);
      case 'expire':
        return expire(each.which);
      case 'wait':
        real.now += each.ms;
        return;
      case 'jump':
        machines[each.which]?.setAhead(each.ahead);
        return;
      case 'jump within':
        return tick(each.which, call => {
          if (call === each.at) machines[each.which]?.setAhead(each.ahead);
        });
      case 'suspend':
        machines[each.which]?.suspend(each.ms);
        return;
    }
  }

  for (const each of steps) {
    await run(each);
    await lapseLease(db, CHAIN);
  }
  // The clocks are corrected, and everything is scanned.
  for (const machine of machines) machine.setAhead(0);
  for (let round = 0; round < 4; round++) {
    for (let depth = 0; depth <= FINAL_DEPTH; depth++) model.mine([]);
    real.now += 31 * SECOND_MS;
    await tick(0);
  }
  for (const { id, isPaid } of asked) {
    if (isPaid) expect(await findPayment(db, id)).toMatchObject({ status: 'successful' });
  }
  const deposits = await db.selectFrom('deposits').select(['outcome', 'payment_id']).execute();
  expect(deposits.filter(each => each.payment_id !== null).map(each => each.outcome)).toEqual(
    asked.filter(({ isPaid }) => isPaid).map(() => 'exact'),
  );
}

test('whatever the machines’ clocks say, nothing paid in time expires or goes to the inbox', async () => {
  await fc.assert(fc.asyncProperty(course, play), { numRuns: runs(24) });
});
