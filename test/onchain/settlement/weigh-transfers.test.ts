import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newDeposit } from '#onchain/settlement/observed-transfer.ts';
import { dustBelow, readDustLimits, weighTransfers } from '#onchain/settlement/weigh-transfers.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import { insertDeposit } from '#storage/repositories/deposits/deposits.ts';
import type { DustTransfer } from '#storage/repositories/deposits/dust.ts';
import { insertReservation } from '#storage/repositories/deposits/reservations.ts';
import { addMerchant } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { forgetTransfers } from '../../helpers/open-payment.ts';
import { addPayment } from '../../helpers/payments.ts';
import { runs } from '../../helpers/property-runs.ts';

const PLACE = { blockchainId: 'eth-usdc-test', address: 'A' };
const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;

let service: TestApp;
let merchant: Merchant;
let serial = 0;

beforeAll(async () => {
  service = await startTestApp();
  ({ merchant } = await addMerchant(service));
});
afterAll(() => service.close());

const now = () => new Date(service.clock.now);
const within = () => ({ since: new Date(service.clock.now - DAY_MS) });

const transfer = (tokenAmount: bigint): DustTransfer => ({
  ...PLACE,
  transactionHash: `tx${++serial}`,
  tokenAmount,
});
const weigh = (...amounts: bigint[]) => weighTransfers(service.db, amounts.map(transfer), within());

/** An amount that is, or was, asked for at the address. */
interface Hold {
  readonly amount: bigint;
  /** What the payment asks for. */
  readonly cents: number;
  /** The rest of a payment, after a deposit of too little; null for none. */
  readonly rest: bigint | null;
  /** `seen`: the payment has its funds; a number: it ended that many hours ago. */
  readonly state: 'waits' | 'seen' | number;
}

async function hold({ amount, cents, rest, state }: Hold): Promise<void> {
  const { db } = service;
  const { id } = await addPayment(db, merchant, {
    amount: cents,
    created_at: new Date(0),
    ...(state === 'seen' && { session_status: 'completed' }),
  });
  const slot = (tokenAmount: bigint) => ({ ...PLACE, tokenAmount });
  await insertReservation(db, id, slot(amount), new Date(0));
  if (rest !== null) {
    const { id: before } = await record(amount - rest);
    await insertReservation(db, id, slot(rest), new Date(0), { restOf: before });
  }
  if (typeof state !== 'number') return;
  const ended = new Date(service.clock.now - state * HOUR_MS);
  await sql`update reservations set released_at = ${ended} where payment_id = ${id}`.execute(db);
}

function record(tokenAmount: bigint, transactionHash = `tx${++serial}`) {
  const observed = {
    ...PLACE,
    transactionHash,
    tokenAmount,
    position: 0,
    blockHeight: 1,
    blockHash: 'b',
    occurredAt: now(),
    source: 'chain' as const,
    finality: 'final' as const,
  };
  const matched = { outcome: 'unknown', payment_id: null } as const;
  return insertDeposit(service.db, newDeposit(observed, matched, now()));
}

const begin = () => forgetTransfers(service.db);

test('dust is less than a hundredth of the smallest amount, and less than fifty cents', async () => {
  await begin();
  await hold({ amount: 1_000_000n, cents: 100, rest: null, state: 'waits' });
  expect(await weigh(0n, 1n, 9_999n, 10_000n)).toEqual(['dust', 'dust', 'dust', 'awaited']);
  // A hundredth of the largest payment would be $10,000.
  await begin();
  await hold({ amount: 10n ** 12n, cents: 100_000_000, rest: null, state: 'waits' });
  expect(await weigh(499_999n, 500_000n, 10n ** 9n)).toEqual(['dust', 'awaited', 'awaited']);
});

test('where nothing is or was asked for within a day, only a zero amount is dust', async () => {
  await begin();
  await hold({ amount: 1_000_000n, cents: 100, rest: null, state: 25 });
  expect(await weigh(0n, 1n)).toEqual(['dust', 'other']);
  await hold({ amount: 2_000_000n, cents: 200, rest: null, state: 23 });
  expect(await weigh(1n, 20_000n)).toEqual(['dust', 'other']);
});

test('amounts asked for long after a transfer was made do not count', async () => {
  await begin();
  await hold({ amount: 1_000_000n, cents: 100, rest: null, state: 2 });
  const madeBefore = (hours: number) => {
    const madeBy = new Date(service.clock.now - hours * HOUR_MS);
    const since = new Date(madeBy.getTime() - DAY_MS);
    return weighTransfers(service.db, [transfer(1n)], { since, madeBy });
  };
  expect(await madeBefore(49)).toEqual(['dust']);
  expect(await madeBefore(51)).toEqual(['other']);
  await hold({ amount: 2_000_000n, cents: 200, rest: null, state: 'waits' });
  expect(await madeBefore(51)).toEqual(['dust']);
});

test('no transfer of a rest, however small, is dust, nor is one close to it', async () => {
  await begin();
  await hold({ amount: 100_000_000n, cents: 10_000, rest: 1_000n, state: 'waits' });
  expect(await weigh(1_020n, 1_000n, 1_000n, 980n, 979n)).toEqual([
    ...(['awaited', 'awaited', 'awaited', 'dust', 'dust'] as const),
  ]);
  expect((await readDustLimits(service.db, [PLACE], within()))(PLACE)).toBe(0n);
});

test('a transfer that completes a payment is no dust before its rest is reserved', async () => {
  await begin();
  const { id } = await addPayment(service.db, merchant, {
    amount: 10_000,
    created_at: new Date(0),
  });
  await insertReservation(service.db, id, { ...PLACE, tokenAmount: 100_000_000n }, new Date(0));
  const { id: under } = await record(99_600_000n);
  const judge = (state: string) => sql`
    update deposits set payment_id = ${id}, outcome = 'under', state = ${state} where id = ${under}`;
  await judge('seen').execute(service.db);
  expect(await weigh(400_000n, 407_000n, 4_000n)).toEqual(['awaited', 'awaited', 'dust']);
  await judge('final').execute(service.db);
  expect(await weigh(400_000n)).toEqual(['awaited']);
  await judge('failed').execute(service.db);
  expect(await weigh(400_000n)).toEqual(['dust']);
});

test('a rest that comes within a day after the end of its payment is no dust', async () => {
  await begin();
  await hold({ amount: 100_000_000n, cents: 10_000, rest: 400_000n, state: 23 });
  expect(await weigh(400_000n, 4_000n)).toEqual(['other', 'dust']);
});

test('a transfer that is recorded as a deposit stays one', async () => {
  await begin();
  await hold({ amount: 1_000_000n, cents: 100, rest: null, state: 'waits' });
  const known = transfer(7n);
  await record(7n, known.transactionHash);
  const other = { ...known, tokenAmount: 8n };
  const weights = await weighTransfers(service.db, [known, other, transfer(7n)], within());
  expect(weights).toEqual(['other', 'dust', 'dust']);
});

test('of amounts of any size, dust is useless to every payment, and anything else may be useful', async () => {
  const holds = fc.array(
    fc.record({
      amount: fc.bigInt({ min: 50n, max: 10n ** 13n }),
      cents: fc.integer({ min: 50, max: 100_000_000 }),
      part: fc.option(fc.integer({ min: 1, max: 999_999 })),
      state: fc.constantFrom<Hold['state']>('waits', 'waits', 'seen', 1, 23, 25),
    }),
    { maxLength: 5 },
  );
  /** Millionths of one of the amounts, and how many units more or less. */
  const sent = fc.array(
    fc.record({
      of: fc.nat(9),
      share: fc.constantFrom(0, 1, 9_999, 10_000, 500_000, 980_000, 1_000_000, 1_020_000),
      more: fc.integer({ min: -1, max: 1 }),
    }),
    { minLength: 1, maxLength: 20 },
  );
  await fc.assert(
    fc.asyncProperty(holds, sent, async (drawn, amounts) => {
      await begin();
      const held = drawn.map(({ part, ...each }) => {
        const rest = part === null ? null : (each.amount * BigInt(part)) / 1_000_000n;
        return { ...each, rest: rest === 0n ? null : rest };
      });
      for (const each of held) await hold(each);
      const bases = [
        ...held.flatMap(({ amount, rest }) => (rest ? [amount, rest] : [amount])),
        99n,
      ];
      const sums = amounts.map(({ of, share, more }) => {
        const amount =
          ((bases[of % bases.length] ?? 1n) * BigInt(share)) / 1_000_000n + BigInt(more);
        return amount < 0n ? 0n : amount;
      });
      const weights = await weigh(...sums);
      const asked = held.filter(({ state }) => typeof state !== 'number' || state < 24);
      const rests = asked.flatMap(({ rest }) => (rest === null ? [] : [rest]));
      for (const [index, amount] of sums.entries()) {
        if (amount === 0n) expect(weights[index]).toBe('dust');
        const isLittle = asked.every(
          each => amount * 100n < each.amount && amount * BigInt(each.cents) < each.amount * 50n,
        );
        if (amount > 0n && weights[index] === 'dust') {
          expect(asked.length).toBeGreaterThan(0);
          expect(isLittle, `${amount} may serve a payment`).toBe(true);
          expect(rests.includes(amount), `${amount} is a rest`).toBe(false);
        }
        const isNear = rests.some(
          rest => (amount > rest ? amount - rest : rest - amount) * 50n <= rest,
        );
        // Fractions of a unit are rounded in favour of the transfer.
        const least = asked.map(each => dustBelow(limitsOf(each)));
        if (least.length > 0 && least.every(limit => amount < limit) && !isNear) {
          expect(weights[index]).toBe('dust');
        }
      }
    }),
    { numRuns: runs(150) },
  );
}, 60_000);

function limitsOf({ amount, cents }: Pick<Hold, 'amount' | 'cents'>) {
  return { least: amount, worth: (amount * 50n) / BigInt(cents) };
}
