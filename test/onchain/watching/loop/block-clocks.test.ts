import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ChainId } from '#chains/chain-list.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { addMerchant } from '../../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../../helpers/app.ts';
import { addPaymentAt } from '../../../helpers/open-payment.ts';
import { runs } from '../../../helpers/property-runs.ts';
import { ModelChain } from '../model-chain.ts';
import { beginModel, createModelWatcher, FINAL_DEPTH, lapseLease } from '../model-watcher.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

let service: TestApp;
let merchant: Merchant;
beforeAll(async () => {
  service = await startTestApp();
  ({ merchant } = await addMerchant(service));
});
afterAll(() => service.close());

interface Course {
  readonly chain: ChainId;
  /** How far block clocks are ahead of ours, in milliseconds. */
  readonly ahead: number;
  /** Times since the watcher has started: when the customer chooses; how much later it is paid, and found. */
  readonly asksAfter: number;
  readonly paysAfter: number;
  readonly foundAfter: number;
  /** Whether another worker finds it, after the first has stopped. */
  readonly isNew: boolean;
  /** Whether the node leaves it out at the first look. */
  readonly isMissed: boolean;
}

/** @returns The outcome of an exact transfer that was made after its amount was asked for. */
async function play(course: Course) {
  const { chain, ahead, asksAfter, paysAfter, foundAfter, isNew, isMissed } = course;
  const { clock, db } = service;
  await beginModel(service, chain);
  const blockClock = () => Math.floor((clock.now + ahead) / SECOND_MS) * SECOND_MS;
  const model = new ModelChain(blockClock, FINAL_DEPTH);
  const { scan } = model.adapter;
  Object.assign(model.adapter, {
    scan: async (...args: Parameters<typeof scan>) => {
      const [node, request] = args;
      if (!isMissed || request.isSecondLook === true) return scan(node, request);
      return scan(node, { ...request, watch: [] });
    },
  });
  const create = (holder: string) => createModelWatcher({ db, clock, model, chain, holder });
  let watcher = create('a');
  const tick = async (afterMs: number) => {
    clock.now += afterMs;
    while ((await watcher.tick()) === 'more');
  };
  model.mine([]);
  await tick(31 * SECOND_MS);
  clock.now += asksAfter;
  const slot = { blockchainId: chain, address: 'A', tokenAmount: 5_000n };
  const { id } = await addPaymentAt(service, merchant, slot);
  clock.now += paysAfter;
  model.send(slot);
  model.mine();
  clock.now += foundAfter;
  if (isNew) {
    await lapseLease(db, chain);
    watcher = create('b');
  }
  for (let looks = 0; looks < 3; looks++) {
    for (let depth = 0; depth <= FINAL_DEPTH; depth++) model.mine([]);
    await tick(31 * SECOND_MS);
  }
  const deposits = await db.selectFrom('deposits').select(['outcome', 'payment_id']).execute();
  const payment = await findPayment(db, id);
  return { deposits, status: payment?.status, id };
}

const upTo = (ms: number) => fc.integer({ min: 0, max: ms });
const course: fc.Arbitrary<Course> = fc.record({
  chain: fc.constantFrom<ChainId>('eth-test', 'bnb-test', 'avax-test'),
  ahead: fc.integer({ min: -15 * SECOND_MS, max: 15 * SECOND_MS }),
  asksAfter: fc.oneof(upTo(20 * SECOND_MS), upTo(60 * MINUTE_MS)),
  paysAfter: fc.oneof(upTo(3 * SECOND_MS), upTo(10 * MINUTE_MS)),
  foundAfter: fc.oneof(upTo(20 * SECOND_MS), upTo(90 * MINUTE_MS)),
  isNew: fc.boolean(),
  isMissed: fc.boolean(),
});

const AT_ONCE: Course = {
  chain: 'eth-test',
  ahead: -15 * SECOND_MS,
  isNew: false,
  isMissed: false,
  asksAfter: 30 * MINUTE_MS,
  paysAfter: 0,
  foundAfter: 2 * MINUTE_MS,
};

test('an exact amount never goes to the inbox if block clocks differ from ours by up to 15 s', async () => {
  await fc.assert(
    fc.asyncProperty(course, async each => {
      const { deposits, status, id } = await play(each);
      expect(deposits).toEqual([{ outcome: 'exact', payment_id: id }]);
      expect(status).toBe('successful');
    }),
    {
      numRuns: runs(12),
      examples: [
        // Found at once, by the second look alone, after an outage, and where the cursor is placed anew.
        [AT_ONCE],
        [{ ...AT_ONCE, asksAfter: 0, foundAfter: 0, isMissed: true }],
        [{ ...AT_ONCE, foundAfter: 60 * MINUTE_MS, isNew: true }],
      ],
    },
  );
});
