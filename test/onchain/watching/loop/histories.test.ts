import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ChainId, chainOf } from '#chains/chain-list.ts';
import { NodeFailure } from '#chains/nodes/node.ts';
import { expirePayments } from '#onchain/settlement/expire-on-chain.ts';
import { LeaseLost } from '#onchain/watching/lease.ts';
import { POLLED_LATELY_MS } from '#onchain/watching/loop/occurred-at.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import { insertReservation } from '#storage/repositories/deposits/reservations.ts';
import { updateOpenPayment } from '#storage/repositories/payments/moves.ts';
import { addMerchant } from '../../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../../helpers/app.ts';
import { forgetTransfers } from '../../../helpers/open-payment.ts';
import { addPayment } from '../../../helpers/payments.ts';
import { runs } from '../../../helpers/property-runs.ts';
import { ModelChain, type ModelTransfer } from '../model-chain.ts';
import { createModelWatcher, Killed, lapseLease, type Step, watchModel } from '../model-watcher.ts';

const MINUTE_MS = 60_000;
/** The most blocks that random histories undo: fewer than make a transfer final. */
const UNDONE_MAXIMUM = 3;
/** Each run of the suite plays the same histories; `HISTORIES=200` draws that many new ones. */
const RUNS = process.env.HISTORIES
  ? { numRuns: Number(process.env.HISTORIES) }
  : { numRuns: runs(12), seed: 1 };
const ADDRESSES = ['A', 'B'];
const AMOUNTS = [1000n, 2000n, 3000n];
/** Less than a hundredth of any amount. */
const DUST = 7n;

let service: TestApp;
let merchant: Merchant;

beforeAll(async () => {
  service = await startTestApp();
  ({ merchant } = await addMerchant(service));
});
afterAll(() => service.close());

const now = () => new Date(service.clock.now);

const place = {
  address: fc.constantFrom(...ADDRESSES),
  amount: fc.constantFrom(...AMOUNTS),
};
const worker = fc.constantFrom(0, 1);
const action = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('ask' as const), ...place }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('send' as const), ...place }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('sendOdd' as const),
      ...place,
      by: fc.integer({ min: -9, max: 9 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('mine' as const),
      count: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('reorganise' as const),
      depth: fc.integer({ min: 1, max: UNDONE_MAXIMUM }),
      forget: fc.integer({ min: 0, max: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('drop' as const) }) },
  { weight: 9, arbitrary: fc.record({ kind: fc.constant('tick' as const), worker }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('kill' as const),
      worker,
      at: fc.integer({ min: 1, max: 9 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('overtake' as const),
      at: fc.integer({ min: 1, max: 9 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('outage' as const),
      minutes: fc.integer({ min: 1, max: 90 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      seconds: fc.integer({ min: 1, max: 400 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('expire' as const) }) },
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

/**
 * Plays a history on a chain of its own.
 * @returns What to compare in the end.
 */
async function play(chain: ChainId, finalDepth: number | null, history: readonly Action[]) {
  const { db, clock } = service;
  await forgetTransfers(db);
  await watchModel(db, chain, finalDepth === null ? String(UNDONE_MAXIMUM + 1) : 'final');
  const model = new ModelChain(clock, finalDepth);
  const create = (holder: string) => createModelWatcher({ db, clock, model, chain, holder });
  const workers = [create('a'), create('b')];
  /** How many payments had been opened when a transaction was sent. */
  const sentAfter = new Map<string, number>();
  const asked: { id: string; address: string; amount: bigint; from: Date; until: Date }[] = [];

  /** One tick, or several while there is more to do; a killed worker is replaced. */
  async function tick(index: number, step?: Step): Promise<void> {
    try {
      for (let rounds = 0; rounds < 50; rounds++) {
        if ((await workers[index]?.tick(step)) !== 'more') return;
      }
      throw new Error('there is always more to do');
    } catch (error) {
      if (error instanceof Killed) workers[index] = create(index === 0 ? 'a' : 'b');
      else if (!(error instanceof NodeFailure) && !(error instanceof LeaseLost)) throw error;
    }
  }

  function send(...transfers: ModelTransfer[]): void {
    sentAfter.set(model.send(...transfers).hash, asked.length);
  }

  async function run(each: Action): Promise<void> {
    switch (each.kind) {
      case 'ask': {
        const slot = { blockchainId: chain, address: each.address, tokenAmount: each.amount };
        const payment = await addPayment(db, merchant, {
          created_at: now(),
          expires_at: new Date(clock.now + 15 * MINUTE_MS),
        });
        if (!(await insertReservation(db, payment.id, slot, now()))) {
          return;
        }
        await updateOpenPayment(db, payment.id, {
          blockchain_id: chain,
          address: each.address,
          token_amount: each.amount,
          token_decimals: 8,
        });
        const { id, expires_at: until } = payment;
        asked.push({ id, address: each.address, amount: each.amount, from: now(), until });
        return;
      }
      case 'send':
        send({ blockchainId: chain, address: each.address, tokenAmount: each.amount });
        return;
      case 'sendOdd': {
        const tokenAmount = each.amount + BigInt(each.by);
        send(
          { blockchainId: chain, address: each.address, tokenAmount },
          { blockchainId: chain, address: each.address, tokenAmount: DUST },
        );
        return;
      }
      case 'mine':
        for (let mined = 0; mined < each.count; mined++) {
          clock.now += 1_000;
          model.mine();
        }
        return;
      case 'reorganise': {
        let left = each.forget;
        clock.now += 1_000;
        model.reorganise(each.depth, () => left-- > 0);
        return;
      }
      case 'drop':
        model.pool.shift();
        return;
      case 'tick':
        clock.now += 3_000;
        return tick(each.worker);
      case 'kill': {
        let left = each.at;
        return tick(each.worker, () => {
          left -= 1;
          if (left === 0) throw new Killed();
        });
      }
      case 'overtake': {
        // The first worker stalls in the middle, its lease expires, and the other one works meanwhile.
        let left = each.at;
        return tick(0, async () => {
          left -= 1;
          if (left !== 0) return;
          await lapseLease(db, chain);
          await tick(1);
        });
      }
      case 'outage': {
        for (const watching of workers) watching.up = false;
        await tick(0);
        clock.now += each.minutes * MINUTE_MS;
        await tick(1);
        await expirePayments(db, now(), 100);
        for (const watching of workers) watching.up = true;
        return;
      }
      case 'wait':
        clock.now += each.seconds * 1_000;
        return;
      case 'expire':
        await expirePayments(db, now(), 100);
        return;
    }
  }

  for (const each of history) {
    await run(each);
    if (each.kind === 'overtake' || each.kind === 'kill') await lapseLease(db, chain);
  }
  // Everything in the pool is mined and becomes final, and both workers have their turn.
  for (let round = 0; round < 3; round++) {
    clock.now += 1_000;
    model.mine();
    for (let mined = 0; mined < 6; mined++) model.mine([]);
    await lapseLease(db, chain);
    clock.now += 31_000;
    await tick(round % 2);
  }
  // An underpayment extends its payment's deadline.
  clock.now += 180 * MINUTE_MS;
  model.mine([]);
  for (let mined = 0; mined < 6; mined++) model.mine([]);
  await lapseLease(db, chain);
  await tick(0);
  clock.now += chainOf(chain).secondLookAfterMs;
  await tick(0);
  await expirePayments(db, now(), 1000);
  return { chain, model, asked, sentAfter };
}

/** The expected state in ten lines: what the chain has in the end, and what must have become of it. */
async function compare({
  chain,
  model,
  asked,
  sentAfter,
}: Awaited<ReturnType<typeof play>>): Promise<void> {
  const { db } = service;
  const deposits = await db.selectFrom('deposits').selectAll().execute();
  const payments = await db.selectFrom('payments').selectAll().execute();
  const wereAsked = (address: string, at: Date) =>
    asked.some(each => each.address === address && each.from <= at);
  const known = [...model.transactions()].flatMap(({ transaction, block }) =>
    transaction.transfers.map((transfer, position) => ({
      ...transfer,
      position,
      block,
      hash: transaction.hash,
    })),
  );
  const wasAsked = ({ address, block }: (typeof known)[number]) => wereAsked(address, block.time);
  for (const transfer of known) {
    const own = deposits.filter(
      each => each.transaction_hash === transfer.hash && each.position === transfer.position,
    );
    if (wasAsked(transfer)) {
      const times = transfer.tokenAmount === DUST ? 0 : 1;
      expect(own, `recorded once: ${transfer.hash}`).toHaveLength(times);
    }
    for (const deposit of own) {
      expect(deposit).toMatchObject({ state: 'final', block_hash: transfer.block.hash });
    }
  }
  const dust = known.filter(({ tokenAmount }) => tokenAmount === DUST);
  const rows = await db.selectFrom('dust').selectAll().execute();
  const counted = rows.reduce((sum, { transfers }) => sum + transfers, 0);
  expect(counted, 'dust is counted').toBeGreaterThanOrEqual(dust.filter(wasAsked).length);
  // Elsewhere, blocks looked at twice may still be undone, and dust that comes back in another block is counted
  // again.
  if (chainOf(chain).isFinalSoon) expect(counted, 'and once').toBeLessThanOrEqual(dust.length);
  for (const { transfers, token_amount: sum } of rows)
    expect(BigInt(sum)).toBe(BigInt(transfers) * DUST);
  for (const deposit of deposits) {
    const exists = known.some(each => each.hash === deposit.transaction_hash);
    if (!exists) expect(deposit.state, 'nothing that is gone counts').toBe('reversed');
    // No payment gets a transfer that was sent before it was opened, as far as block times and polls can tell.
    const taker = asked.find(({ id }) => id === deposit.payment_id);
    const sent = known.find(each => each.hash === deposit.transaction_hash);
    if (taker !== undefined && sent !== undefined) {
      const doubt = Math.max(chainOf(chain).clockSkewMs, POLLED_LATELY_MS);
      const at = sent.block.time.getTime() + doubt;
      expect(taker.from.getTime(), 'paid by whom had asked').toBeLessThanOrEqual(at);
    }
  }
  for (const [index, { id, address, amount, from, until }] of asked.entries()) {
    const payment = payments.find(each => each.id === id);
    const own = deposits.filter(each => each.payment_id === id && each.outcome !== 'under');
    const isPaid = payment?.status === 'successful';
    expect(own.length, 'credited at most once').toBeLessThanOrEqual(1);
    expect(isPaid, 'successful by final funds alone').toBe(own[0]?.state === 'final');
    const inTime = known.filter(
      each =>
        each.address === address &&
        each.tokenAmount === amount &&
        (sentAfter.get(each.hash) ?? 0) > index &&
        each.block.time >= from &&
        each.block.time <= until,
    );
    if (inTime.length > 0) expect(payment?.status, 'paid in time').toBe('successful');
    else if (!isPaid) expect(payment?.status).not.toBe('pending');
  }
  expect(await db.selectFrom('findings').selectAll().execute()).toEqual([]);
}

test.each([
  ['Bitcoin, with its mempool', 'btc-test', null],
  ['Ethereum, whose blocks are final late', 'eth-test', UNDONE_MAXIMUM + 1],
  ['BNB, whose blocks are final soon', 'bnb-test', UNDONE_MAXIMUM + 1],
] as const)(
  '%s: every transfer is recorded once and pays the right payment',
  async (_, chain, finalDepth) => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 30 }), async history => {
        await compare(await play(chain, finalDepth, history));
      }),
      RUNS,
    );
  },
  120_000,
);
