import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setMerchant } from '#accounts/merchants.ts';
import { setUser } from '#accounts/users.ts';
import { ConsentNeeded } from '#onchain/settlement/assignment.ts';
import { expirePayments } from '#onchain/settlement/expire-on-chain.ts';
import {
  askToAssign,
  assignDeposit,
  DISMISSALS_MAXIMUM,
  dismissDeposit,
  dismissDeposits,
  weighAssignment,
} from '#onchain/settlement/inbox.ts';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import { readRemaining } from '#onchain/settlement/remaining.ts';
import { valueDeposits } from '#onchain/settlement/value-deposits.ts';
import { formatBaseUnits } from '#payments/token-amount.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import { findDepositById, updateDeposit } from '#storage/repositories/deposits/deposits.ts';
import { findMeantPayments, listStrayDeposits } from '#storage/repositories/deposits/deviations.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { LATE_FOR_MS } from '#time/late-window.ts';
import { ADDRESSES, addMerchant, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addOpenPayment, addPaymentAt, releaseAll } from '../../helpers/open-payment.ts';
import { addMerchantUser } from '../../helpers/panel.ts';
import { simulatedTransfer } from '../../helpers/see-transfer.ts';

const HOUR_MS = 60 * 60_000;

let service: TestApp;
let merchant: Merchant;
let ada: { personId: string };
let grace: { personId: string };
let serial = 0;
/** Amounts far apart, so that no test matches the payments of another. */
let asked = 1_000_000n;

beforeAll(async () => {
  service = await startTestApp();
  ({ merchant } = await addMerchant(service));
  ada = await addMerchantUser(service, merchant.id, 'admin');
  grace = await addMerchantUser(service, merchant.id, 'admin', { name: 'Grace' });
});
beforeEach(() => {
  asked *= 3n;
  return releaseAll(service.db);
});
afterAll(() => service.close());

const now = () => new Date(service.clock.now);
const as = ({ personId }: { personId: string }) => ({ ...operatorOf(service), personId });
const statusOf = async (id: string) => (await findPayment(service.db, id))?.status;

/** A final transfer, while another payment is open, so that only an exact amount is matched. */
function arrive(tokenAmount: bigint, place: { blockchainId: string; address: string } = BTC) {
  serial += 1;
  const told = simulatedTransfer({
    transactionHash: `inbox ${serial}`,
    tokenAmount,
    ...place,
    occurredAt: now(),
  });
  return observeTransfer(service.db, told, now());
}
const BTC = { blockchainId: 'btc', address: ADDRESSES.btc };

/** Both amounts of an assignment, in Bitcoin, as somebody types them to consent. */
const typed = (arrived: bigint, due: bigint) => ({
  amounts: { arrived: formatBaseUnits(arrived, 8), due: formatBaseUnits(due, 8) },
});

/** What consent an assignment needs, by its refusal; undefined if it is not refused. */
async function refusalOf(work: Promise<unknown>): Promise<ConsentNeeded['to'] | undefined> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ConsentNeeded) return error.to;
    throw error;
  }
  return undefined;
}

describe('a deposit of too little or too much', () => {
  test.each([
    ['btc', 8, ADDRESSES.btc],
    ['eth', 18, ADDRESSES.eth],
    ['eth-usdc', 6, ADDRESSES['eth-usdc']],
  ])('in %s is not settled by one person alone', async (blockchainId, decimals, address) => {
    const place = { blockchainId, address };
    const due = asked * 10n ** BigInt(decimals);
    const slot = { ...place, tokenAmount: due };
    const { id } = await addPaymentAt(service, merchant, slot, { token_decimals: decimals });
    for (const amount of [1n, due * 600n]) {
      const deposit = await arrive(amount, place);
      for (const operator of [operatorOf(service), as(ada)]) {
        expect(await refusalOf(assignDeposit(operator, deposit.id, id))).toBe('amounts');
      }
      expect(await findDepositById(service.db, deposit.id)).toMatchObject({ payment_id: null });
    }
    expect(await statusOf(id)).toBe('pending');
  });

  test('settles the payment when an operator types both amounts, which are recorded', async () => {
    const { id } = await addOpenPayment(service, merchant, asked);
    const dust = await arrive(7n);
    await valueDeposits(service.db, service.rates, now(), 1_000);
    const { amounts } = typed(7n, asked);
    const wrong = { ...amounts, due: '1000' };
    expect(
      await refusalOf(assignDeposit(operatorOf(service), dust.id, id, { amounts: wrong })),
    ).toBe('amounts');
    await assignDeposit(operatorOf(service), dust.id, id, { amounts });
    expect(await statusOf(id)).toBe('successful');
    const entry = await service.db
      .selectFrom('audit_log')
      .selectAll()
      .where('object_id', '=', dust.id)
      .executeTakeFirstOrThrow();
    expect(entry).toMatchObject({
      action: 'deposit.assign',
      detail: {
        ...amounts,
        paymentId: id,
        isTooLittle: true,
        askedBy: null,
        usdPrice: '100000000000000000000000',
      },
    });
  });

  test.each([
    ['half', 1n, 2n],
    ['double', 2n, 1n],
  ])(
    'of %s settles the payment when a second person types what the first has requested',
    async (_, times, parts) => {
      const { id } = await addOpenPayment(service, merchant, asked);
      const { id: other } = await addOpenPayment(service, merchant, asked + 1n);
      const amount = (asked * times) / parts;
      const deposit = await arrive(amount);
      const consent = typed(amount, asked);
      const confirm = (who: typeof ada) => assignDeposit(as(who), deposit.id, id, consent);
      expect(await refusalOf(confirm(grace))).toBe('amounts');
      await askToAssign(as(ada), deposit.id, other, 0);
      expect(await refusalOf(confirm(grace))).toBe('amounts');
      await askToAssign(as(ada), deposit.id, id, 0);
      expect(await refusalOf(confirm(ada))).toBe('amounts');
      expect(await refusalOf(assignDeposit(as(grace), deposit.id, id))).toBe('amounts');
      expect(await statusOf(id)).toBe('pending');
      await confirm(grace);
      expect(await statusOf(id)).toBe('successful');
      const asks = await service.db.selectFrom('asked_assignments').selectAll().execute();
      expect(asks).toEqual([]);
      const entry = await service.db
        .selectFrom('audit_log')
        .select('detail')
        .where('object_id', '=', deposit.id)
        .where('action', '=', 'deposit.assign')
        .executeTakeFirstOrThrow();
      const flag = times > parts ? 'isTooMuch' : 'isTooLittle';
      expect(entry.detail).toMatchObject({
        ...consent.amounts,
        [flag]: true,
        askedBy: ada.personId,
      });
    },
  );

  test('is assigned once by people who act at once, and only as it was asked for', async () => {
    const hopper = await addMerchantUser(service, merchant.id, 'admin', { name: 'Hopper' });
    const { id } = await addOpenPayment(service, merchant, asked);
    const { id: other } = await addOpenPayment(service, merchant, asked + 1n);
    const double = await arrive(asked * 2n);
    await askToAssign(as(ada), double.id, id, 0);
    const confirm = (who: typeof ada) =>
      assignDeposit(as(who), double.id, id, typed(asked * 2n, asked));
    const done = await Promise.allSettled([
      confirm(grace),
      confirm(hopper),
      askToAssign(as(ada), double.id, other, 0),
    ]);
    const confirmed = done.slice(0, 2).filter(({ status }) => status === 'fulfilled');
    const [request] = await service.db.selectFrom('asked_assignments').selectAll().execute();
    // Whichever came first: the confirmations, or the request for the other payment.
    expect(confirmed).toHaveLength(request === undefined ? 1 : 0);
    expect(await statusOf(id)).toBe(request === undefined ? 'successful' : 'pending');
    expect(await statusOf(other)).toBe('pending');
  });

  test.each([
    ['no admin', { role: 'member' }],
    ['inactive', { status: 'inactive' }],
  ] as const)('is not settled by a request of somebody who is %s by then', async (_, change) => {
    const mallory = await addMerchantUser(service, merchant.id, 'admin', { name: 'Mallory' });
    const { id } = await addOpenPayment(service, merchant, asked);
    await addOpenPayment(service, merchant, asked + 1n);
    const half = await arrive(asked / 2n);
    await askToAssign(as(mallory), half.id, id, 0);
    await setUser(operatorOf(service), mallory.userId, change);
    const consent = typed(asked / 2n, asked);
    const confirm = () => assignDeposit(as(grace), half.id, id, consent);
    expect(await refusalOf(confirm())).toBe('amounts');
    await askToAssign(as(ada), half.id, id, 0);
    await confirm();
    expect(await statusOf(id)).toBe('successful');
  });

  test('is neither requested nor confirmed by an admin who is new or has new factors', async () => {
    const day = 24 * HOUR_MS;
    service.clock.now += day;
    const mallory = await addMerchantUser(service, merchant.id, 'admin', { name: 'Mallory' });
    const { id } = await addOpenPayment(service, merchant, asked);
    await addOpenPayment(service, merchant, asked + 1n);
    const half = await arrive(asked / 2n);
    const consent = typed(asked / 2n, asked);
    const ask = (who: typeof ada) => askToAssign(as(who), half.id, id, day);
    const confirm = (who: typeof ada) => assignDeposit(as(who), half.id, id, consent, day);
    const renewFactors = (who: typeof ada, hoursAgo: number) =>
      service.db
        .updateTable('people')
        .set({ factors_since: new Date(service.clock.now - hoursAgo * HOUR_MS) })
        .where('id', '=', who.personId)
        .execute();
    await expect(ask(mallory)).rejects.toThrow('for long enough');
    await ask(ada);
    await expect(confirm(mallory)).rejects.toThrow('for long enough');
    await renewFactors(grace, 23);
    await expect(confirm(grace)).rejects.toThrow('for long enough');
    expect(await statusOf(id)).toBe('pending');
    await renewFactors(grace, 24);
    // Whoever has got hold of the first admin's account since could have made the request.
    await renewFactors(ada, 1);
    await expect(confirm(grace)).rejects.toThrow('another admin has to ask again');
    await renewFactors(ada, 24);
    await confirm(grace);
    expect(await statusOf(id)).toBe('successful');
  });

  test('needs no consent where it suffices', async () => {
    const { id } = await addOpenPayment(service, merchant, asked);
    await addOpenPayment(service, merchant, asked + 1n);
    const more = await arrive(asked + asked / 50n);
    expect(await weighAssignment({ ...as(ada), db: service.db }, more.id, id, {}, 0)).toMatchObject(
      {
        arrived: asked + asked / 50n,
        due: asked,
        difference: null,
        otherOrder: undefined,
      },
    );
    await expect(askToAssign(as(ada), more.id, id, 0)).rejects.toThrow('suffices');
  });

  test('is measured against the rest, once a part has arrived', async () => {
    const payment = await addOpenPayment(service, merchant, asked);
    await arrive(asked / 2n);
    const open = await findPayment(service.db, payment.id);
    const remaining = open && (await readRemaining(service.db, open))?.remaining;
    expect(remaining).toBeGreaterThan(0n);
    const less = await arrive((remaining ?? 0n) - asked / 100n);
    expect(less).toMatchObject({ outcome: 'under', payment_id: null });
    expect(await refusalOf(assignDeposit(as(ada), less.id, payment.id))).toBe('amounts');
    const more = await arrive((remaining ?? 0n) + 1n);
    await assignDeposit(as(ada), more.id, payment.id);
    expect(await statusOf(payment.id)).toBe('successful');
  });

  test('is what exceeds the merchant’s tolerance, or what is due by 2 %, at all amounts', async () => {
    const shop = (await addMerchant(service)).merchant;
    const property = fc.asyncProperty(
      fc.bigInt({ min: 1_000n, max: 10n ** 12n }),
      fc.bigInt({ min: -300n, max: 300n }),
      fc.integer({ min: 0, max: 200 }),
      async (due, offBps, bps) => {
        await releaseAll(service.db);
        const { id } = await addOpenPayment(service, shop, due);
        const arrived = due + (due * offBps) / 10_000n;
        // Recorded while the merchant tolerates nothing, so that settlement does not match it by itself.
        await setMerchant(operatorOf(service), shop.id, { underpaymentToleranceBps: 0 });
        const deposit = await leave(arrived);
        await setMerchant(operatorOf(service), shop.id, { underpaymentToleranceBps: bps });
        const consent = { otherOrder: true };
        const refusal = await refusalOf(assignDeposit(as(ada), deposit, id, consent));
        const suffices =
          (due - arrived) * 10_000n <= due * BigInt(bps) && (arrived - due) * 50n <= due;
        expect(refusal).toBe(suffices ? undefined : 'amounts');
        expect(await statusOf(id)).toBe(suffices ? 'successful' : 'pending');
      },
    );
    const examples: [bigint, bigint, number][] = [
      [10_000n, 200n, 0],
      [10_000n, 201n, 200],
    ];
    await fc.assert(property, { numRuns: 40, examples });
  });
});

/** Inserts a deposit that is in the inbox. */
async function leave(tokenAmount: bigint): Promise<string> {
  serial += 1;
  const { id } = await service.db
    .insertInto('deposits')
    .values({
      id: crypto.randomUUID(),
      blockchain_id: 'btc',
      transaction_hash: `left ${serial}`,
      position: 0,
      address: ADDRESSES.btc,
      token_amount: tokenAmount,
      block_height: null,
      state: 'final',
      outcome: 'unknown',
      payment_id: null,
      dismissed_at: null,
      observed_at: now(),
      updated_at: now(),
      block_hash: null,
      occurred_at: now(),
      earliest_at: now(),
      inputs: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

describe('a late deposit', () => {
  const end = () => expirePayments(service.db, new Date(service.clock.now + 2 * HOUR_MS), 1_000);

  test('and the ended payment that it fits exactly refer to each other', async () => {
    const { id } = await addOpenPayment(service, merchant, asked);
    const { id: other } = await addOpenPayment(service, merchant, asked + 1n);
    await end();
    const late = await arrive(asked);
    const meant = await findMeantPayments(service.db, [late.id]);
    expect(meant.get(late.id)).toMatchObject({ id, status: 'expired', merchant_id: merchant.id });
    expect(meant.get(late.id)?.moved_at).toEqual(new Date(service.clock.now + 2 * HOUR_MS));
    expect(await listStrayDeposits(service.db, id)).toMatchObject([{ id: late.id, kind: 'late' }]);
    expect(await listStrayDeposits(service.db, other)).toEqual([]);
  });

  test('belongs to the last payment that asked for it, up to 24 hours after its end', async () => {
    const { id } = await addOpenPayment(service, merchant, asked);
    const start = service.clock.now;
    await end();
    service.clock.now = start + 2 * HOUR_MS + LATE_FOR_MS - 1;
    const late = await arrive(asked);
    service.clock.now += 1;
    const later = await arrive(asked);
    service.clock.now = start + (2 + 25) * HOUR_MS;
    const { id: next } = await addOpenPayment(service, merchant, asked - 1n);
    await addOpenPayment(service, merchant, asked + 1n);
    const latest = await arrive(asked);
    const outcomes = [late, later, latest].map(({ outcome }) => outcome);
    expect(outcomes).toEqual(['late', 'unknown', 'ambiguous']);
    const meant = await findMeantPayments(service.db, [late.id, later.id, latest.id]);
    expect([...meant.keys()]).toEqual([late.id]);
    expect(await listStrayDeposits(service.db, id)).toMatchObject([{ id: late.id }]);
    await assignDeposit(as(ada), latest.id, next);
    expect(await listStrayDeposits(service.db, id)).toMatchObject([{ id: late.id }]);
  });

  test('is assigned to another order only with the operator’s consent to that', async () => {
    const { id: ended } = await addOpenPayment(service, merchant, asked);
    await end();
    const late = await arrive(asked);
    const { id } = await addOpenPayment(service, merchant, asked - 1n);
    expect(await refusalOf(assignDeposit(as(ada), late.id, id))).toBe('otherOrder');
    await assignDeposit(as(ada), late.id, id, { otherOrder: true });
    expect(await statusOf(id)).toBe('successful');
    expect(await listStrayDeposits(service.db, ended)).toMatchObject([
      { id: late.id, payment_id: id },
    ]);
  });

  test('is not reported if it is reversed, or pays after all', async () => {
    const { id } = await addOpenPayment(service, merchant, asked);
    const first = { ...told(asked), finality: 'seen' as const };
    await observeTransfer(service.db, first, now());
    await observeTransfer(service.db, { ...first, finality: 'reversed' }, now());
    expect(await listStrayDeposits(service.db, id)).toEqual([]);
    await observeTransfer(service.db, { ...first, finality: 'final' }, now());
    expect(await statusOf(id)).toBe('successful');
    expect(await listStrayDeposits(service.db, id)).toEqual([]);
    const again = await arrive(asked);
    expect(await listStrayDeposits(service.db, id)).toMatchObject([
      { id: again.id, kind: 'duplicate', outcome: 'duplicate' },
    ]);
  });

  function told(tokenAmount: bigint) {
    serial += 1;
    return {
      transactionHash: `late ${serial}`,
      position: 0,
      tokenAmount,
      ...BTC,
      blockHeight: 1,
      blockHash: null,
      occurredAt: now(),
      source: 'simulation' as const,
    };
  }
});

describe('dismissing', () => {
  test('records what was done with the money', async () => {
    const deposit = await leave(5n);
    const remedy = { remedy: 'returned', to: 'bc1qada', hash: 'abc', note: 'ticket 7' } as const;
    await dismissDeposit(as(ada), deposit, remedy);
    expect(await findDepositById(service.db, deposit)).toMatchObject({
      dismissed_at: now(),
      remedy: 'returned',
      remedy_to: 'bc1qada',
      remedy_hash: 'abc',
      remedy_note: 'ticket 7',
    });
    const { detail } = await service.db
      .selectFrom('audit_log')
      .select('detail')
      .where('object_id', '=', deposit)
      .executeTakeFirstOrThrow();
    expect(detail).toMatchObject(remedy);
  });

  test('several deposits dismisses all or none', async () => {
    const [one, two, gone] = [await leave(5n), await leave(6n), await leave(7n)];
    await dismissDeposit(as(ada), gone, { remedy: 'kept' });
    await expect(dismissDeposits(as(ada), [one, two, gone], { remedy: 'kept' })).rejects.toThrow(
      'dismissed',
    );
    expect(await findDepositById(service.db, one)).toMatchObject({ dismissed_at: null });
    await dismissDeposits(as(ada), [one, two], { remedy: 'other', note: 'dust' });
    for (const id of [one, two]) {
      expect(await findDepositById(service.db, id)).toMatchObject({ remedy_note: 'dust' });
    }
    const many = Array.from({ length: DISMISSALS_MAXIMUM + 1 }, () => crypto.randomUUID());
    await expect(dismissDeposits(as(ada), many, { remedy: 'kept' })).rejects.toThrow('At most');
  });
});

describe('the value of a deposit', () => {
  test('is computed once, at the price of its arrival, and waits until that is known', async () => {
    service.rates.switchOff('BTC');
    const deposit = await leave(123_456n);
    await valueDeposits(service.db, service.rates, now(), 1_000);
    expect(await findDepositById(service.db, deposit)).toMatchObject({ value_cents: null });
    service.rates.switchOn('BTC');
    expect(await valueDeposits(service.db, service.rates, now(), 1_000)).toBeGreaterThan(0);
    const valued = await findDepositById(service.db, deposit);
    // 0.00123456 BTC at $100,000 are $123.456.
    expect(valued).toMatchObject({ value_cents: 12_345, priced_at: now() });
    service.clock.now += 1_000;
    expect(await valueDeposits(service.db, service.rates, now(), 1_000)).toBe(0);
    expect(await findDepositById(service.db, deposit)).toEqual(valued);
  });

  test('is recorded when it has settled a payment, unless an earlier release settled that', async () => {
    for (const isWanted of [true, false]) {
      asked *= 3n;
      await addOpenPayment(service, merchant, asked);
      const { id } = await arrive(asked);
      const settled = await updateDeposit(service.db, id, { price_wanted: isWanted });
      expect(settled).toMatchObject({ outcome: 'exact', state: 'final', usd_price: null });
      await valueDeposits(service.db, service.rates, now(), 1_000);
      const price = isWanted ? `${10n ** 23n}` : null;
      expect(await findDepositById(service.db, id)).toMatchObject({ usd_price: price });
    }
  });

  test('is capped where it exceeds what the column can hold', async () => {
    const deposit = await leave(10n ** 60n);
    await valueDeposits(service.db, service.rates, now(), 1_000);
    const { value_cents: cents } = (await findDepositById(service.db, deposit)) ?? {};
    expect(cents).toBe(9_000_000_000_000_000);
  });
});
