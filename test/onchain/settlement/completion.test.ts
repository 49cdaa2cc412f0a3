import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setMerchant } from '#accounts/merchants.ts';
import { expirePayments } from '#onchain/settlement/expire-on-chain.ts';
import { lapseQuotes } from '#onchain/settlement/lapse-quotes.ts';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import type { Finality } from '#onchain/settlement/observed-transfer.ts';
import { readRemaining } from '#onchain/settlement/remaining.ts';
import { movePayment } from '#payments/move-payment.ts';
import { formatBaseUnits } from '#payments/token-amount.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import type { Slot } from '#storage/repositories/deposits/reservations.ts';
import { listTransitions, updateOpenPayment } from '#storage/repositories/payments/moves.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { ADDRESSES, addMerchant, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addOpenPayment, addPaymentAt, releaseAll } from '../../helpers/open-payment.ts';
import { runs } from '../../helpers/property-runs.ts';
import { leavings } from './leavings.ts';

const MINUTE_MS = 60_000;
const OTHER_ADDRESS = '1BoatSLRHtKNngkdXEeobR76b53LETtpyT';

let service: TestApp;
let merchant: Merchant;
let serial = 0;
/** Amounts far apart, so that no test matches the payments of another. */
let asked = 1_000_000n;

beforeAll(async () => {
  service = await startTestApp();
  ({ merchant } = await addMerchant(service));
});
beforeEach(() => {
  asked *= 2n;
  return releaseAll(service.db);
});
afterAll(() => service.close());

const now = () => new Date(service.clock.now);
const open = (amount = asked) => addOpenPayment(service, merchant, amount);
const openAt = (slot: Slot, token_decimals: number, columns: Partial<Payment> = {}) =>
  addPaymentAt(service, merchant, slot, { ...columns, token_decimals });
const send = (tokenAmount: bigint, address: string = ADDRESSES.btc, blockchainId = 'btc') => {
  const transactionHash = `tx${++serial}`;
  const tell = (finality: Finality) =>
    observeTransfer(
      service.db,
      {
        blockchainId,
        address,
        transactionHash,
        tokenAmount,
        finality,
        position: 0,
        blockHeight: 1,
        blockHash: 'a',
        occurredAt: now(),
        source: 'chain',
      },
      now(),
    );
  return { transactionHash, tell };
};
const read = async (id: string) => {
  const payment = await findPayment(service.db, id);
  if (payment === undefined) throw new Error('no payment');
  return payment;
};
const stateOf = async (id: string) => {
  const { status, session_status: session } = await read(id);
  return `${status}/${session}`;
};
const remainingOf = async (id: string) => readRemaining(service.db, await read(id));
/** An open payment that has received too little and has its rest reserved. */
async function underpaid(part = (asked * 3n) / 7n) {
  const payment = await open();
  const first = send(part);
  await first.tell('final');
  const rest = (await remainingOf(payment.id))?.remaining ?? 0n;
  return { ...payment, part, rest, first };
}

describe('after a final transfer of too little', () => {
  test('the exact rest completes the payment, and the history names both', async () => {
    const payment = await open();
    const part = (asked * 3n) / 7n;
    const first = send(part);
    expect(await first.tell('seen')).toMatchObject({ outcome: 'under', payment_id: payment.id });
    // A transfer that may still be reversed is no part yet.
    expect(await remainingOf(payment.id)).toBeNull();
    expect((await read(payment.id)).last_error_message).toContain('once the transfer is final');
    service.clock.now += MINUTE_MS;
    await first.tell('final');
    const remaining = (await remainingOf(payment.id))?.remaining ?? 0n;
    expect(await remainingOf(payment.id)).toEqual({ received: part, remaining });
    expect(remaining).toBeGreaterThanOrEqual(asked - part);
    const bitcoin = (units: bigint) => `${Number(units) / 1e8} BTC`;
    expect(await read(payment.id)).toMatchObject({
      last_error_code: 'amount_underpaid',
      last_error_message: `Received ${bitcoin(part)} of ${bitcoin(asked)} by the transfer ${first.transactionHash}, remaining ${bitcoin(remaining)}. Exactly this amount completes the payment.`,
      expires_at: new Date(service.clock.now + 60 * MINUTE_MS),
    });

    const second = send(remaining);
    expect(await second.tell('seen')).toMatchObject({ outcome: 'rest', payment_id: payment.id });
    expect(await stateOf(payment.id)).toBe('pending/completed');
    await second.tell('final');
    expect(await read(payment.id)).toMatchObject({
      status: 'successful',
      last_error_code: null,
      transaction_hash: second.transactionHash,
      token_amount: asked.toString(),
    });
    const history = await listTransitions(service.db, payment.id);
    const after = `the rest after the transfer ${first.transactionHash}`;
    expect(history.map(({ reason }) => reason)).toEqual([
      `transfer ${second.transactionHash} seen, ${after}`,
      `transfer ${second.transactionHash} final, ${after}`,
    ]);
  });

  test('the whole amount settles the payment too, and the rest is then a duplicate', async () => {
    const { id, rest } = await underpaid();
    expect(await send(asked).tell('seen')).toMatchObject({ outcome: 'exact', payment_id: id });
    expect(await send(rest).tell('seen')).toMatchObject({ outcome: 'duplicate' });
    expect(await stateOf(id)).toBe('pending/completed');
  });

  test('parts of other amounts go to the inbox', async () => {
    const { id, part, rest } = await underpaid();
    // These differ from the rest by more than could not be sent, and by no wallet's rounding.
    const more = rest % 10n === 9n ? 2n : 1n;
    for (const amount of [rest - 2_000n, rest + more, part]) {
      const told = await send(amount).tell('final');
      expect(told).toMatchObject({ outcome: 'under', payment_id: null });
    }
    expect(await stateOf(id)).toBe('pending/pending');
    expect(await remainingOf(id)).toEqual({ received: part, remaining: rest });
  });

  test('a reversed rest is asked for again, and its replacement is accepted', async () => {
    const { id, rest, part } = await underpaid();
    const undone = send(rest);
    await undone.tell('seen');
    await undone.tell('reversed');
    expect(await stateOf(id)).toBe('pending/pending');
    expect(await remainingOf(id)).toEqual({ received: part, remaining: rest });
    expect((await read(id)).last_error_code).toBe('amount_underpaid');
    const whole = send(asked);
    await whole.tell('seen');
    const replaced = send(rest);
    await replaced.tell('final');
    await whole.tell('reversed');
    expect(await stateOf(id)).toBe('successful/completed');
    expect((await read(id)).transaction_hash).toBe(replaced.transactionHash);
  });

  test('a rest is asked for when the whole amount, sent before the part was final, is reversed', async () => {
    const { id } = await open();
    const [part, whole] = [send(asked / 2n), send(asked)];
    await part.tell('seen');
    await whole.tell('seen');
    await part.tell('final');
    expect(await remainingOf(id)).toBeNull();
    await whole.tell('reversed');
    expect(await remainingOf(id)).toMatchObject({ received: asked / 2n });
  });

  test('the payment ends as unsuccessful when its time is over, and the rest is then late', async () => {
    const { id, rest } = await underpaid();
    service.clock.now = (await read(id)).expires_at.getTime();
    await expirePayments(service.db, now(), 50);
    expect(await stateOf(id)).toBe('unsuccessful/expired');
    expect(await send(rest).tell('final')).toMatchObject({ outcome: 'late', payment_id: null });
    expect(await send(asked).tell('final')).toMatchObject({ outcome: 'late', payment_id: null });
  });

  test('no payment waits longer than a day, and none gets a shorter deadline than before', async () => {
    const payment = await open();
    const window = 60 * MINUTE_MS;
    const latest = payment.created_at.getTime() + 24 * window;
    const expires_at = new Date(latest - MINUTE_MS);
    await updateOpenPayment(service.db, payment.id, { expires_at });
    service.clock.now += MINUTE_MS;
    const part = send(asked / 2n);
    await part.tell('seen');
    service.clock.now = latest - 2 * MINUTE_MS;
    await part.tell('final');
    expect((await read(payment.id)).expires_at).toEqual(new Date(latest));
    const { id } = await open(asked * 3n);
    await updateOpenPayment(service.db, id, {
      expires_at: new Date(service.clock.now + 2 * window),
    });
    await service.db
      .updateTable('reservations')
      .set({ released_at: now() })
      .where('payment_id', '=', payment.id)
      .execute();
    service.clock.now += 1;
    await send(asked).tell('final');
    expect((await read(id)).expires_at).toEqual(new Date(service.clock.now - 1 + 2 * window));
  });

  test('a payment with a fixed expiry holds its price for another window', async () => {
    const slot = { blockchainId: 'btc', address: ADDRESSES.btc, tokenAmount: asked };
    const quoted = { expiry_fixed: true, quoted_until: new Date(service.clock.now + MINUTE_MS) };
    const payment = await openAt(slot, 8, quoted);
    service.clock.now += MINUTE_MS;
    await send(asked / 2n).tell('final');
    const { expires_at, quoted_until } = await read(payment.id);
    expect(expires_at).toEqual(payment.expires_at);
    expect(quoted_until).toEqual(payment.expires_at);
    await service.db
      .updateTable('payments')
      .set({ quoted_until: now() })
      .where('id', '=', payment.id)
      .execute();
    expect(await lapseQuotes(service.db, now(), 50)).toBe(1);
    const { last_error_message, last_error_code } = await read(payment.id);
    expect(last_error_code).toBe('amount_underpaid');
    expect(last_error_message).toContain('earlier quote');
    expect(await remainingOf(payment.id)).toBeNull();
  });

  test('no amount of another payment is asked for: if none is free, only the whole settles the payment', async () => {
    // So small that only one amount is within 0.5 % above the rest.
    const payment = await open(200n);
    const part = send(120n);
    await part.tell('seen');
    const other = await open(80n);
    await part.tell('final');
    expect((await read(payment.id)).last_error_message).toMatch(
      /^Received 0\.0000012 BTC of 0\.000002 BTC by .*, remaining 0\.0000008 BTC\. No amount is free/,
    );
    expect(await remainingOf(payment.id)).toBeNull();
    expect(await send(80n).tell('final')).toMatchObject({ payment_id: other.id });
    expect(await send(200n).tell('final')).toMatchObject({ payment_id: payment.id });
    expect(await stateOf(payment.id)).toBe('successful/completed');
  });

  test('a rest below what wallets can send is raised to that amount, and the message says so', async () => {
    const { id } = await open(45_671n);
    await send(45_600n).tell('final');
    const { last_error_message: message } = await read(id);
    const remaining = (await remainingOf(id))?.remaining ?? 0n;
    // P2WPKH: twice 294 satoshi.
    expect(remaining).toBeGreaterThanOrEqual(588n);
    expect(remaining).toBeLessThan(700n);
    expect(message).toContain(`remaining ${formatBaseUnits(remaining, 8)} BTC.`);
    expect(message).toContain('wallets send no less');
    expect(await send(71n).tell('final')).toMatchObject({ outcome: 'rest', payment_id: id });
    expect(await stateOf(id)).toBe('successful/completed');
  });

  test('a cent that could not be sent is not asked for', async () => {
    const slot = { blockchainId: 'btc', address: ADDRESSES.btc, tokenAmount: 50_001n };
    const { id } = await openAt(slot, 8);
    await service.db
      .updateTable('reservations')
      .set({ alone_from: '49990' })
      .where('payment_id', '=', id)
      .execute();
    expect(await send(49_989n).tell('seen')).toMatchObject({ outcome: 'under' });
    expect(await send(49_993n).tell('final')).toMatchObject({ outcome: 'tolerated' });
    expect(await stateOf(id)).toBe('successful/completed');
  });

  test('of which the customer cancelled the payment before it was final is late', async () => {
    const { id } = await open();
    const part = send(asked / 2n);
    await part.tell('seen');
    const by = { actor: 'customer', reason: 'cancelled by the customer', now: now() };
    await service.db
      .transaction()
      .execute(tx => movePayment(tx, { paymentId: id, move: 'cancel', ...by }));
    expect(await part.tell('final')).toMatchObject({ outcome: 'late', payment_id: null });
  });
});

describe('several addresses', () => {
  test('the rest is asked for where the part arrived, and counts nowhere else', async () => {
    const { id, rest } = await underpaid();
    // At another address, the same amount belongs to another payment.
    const slot = { blockchainId: 'btc', address: OTHER_ADDRESS, tokenAmount: rest };
    const elsewhere = await openAt(slot, 8);
    expect(await send(rest, OTHER_ADDRESS).tell('final')).toMatchObject({
      outcome: 'exact',
      payment_id: elsewhere.id,
    });
    expect(await stateOf(id)).toBe('pending/pending');
    expect(await send(rest).tell('final')).toMatchObject({ outcome: 'rest', payment_id: id });
  });
});

describe('too little that the merchant tolerates', () => {
  const tolerate = (underpaymentToleranceBps: number) =>
    setMerchant(operatorOf(service), merchant.id, { underpaymentToleranceBps });
  afterAll(() => tolerate(0));

  test('settles the payment, down to the last unit of the current tolerance', async () => {
    const { id } = await open();
    await tolerate(50);
    const least = asked - (asked * 50n) / 10_000n;
    const seen = await send(least).tell('seen');
    expect(seen).toMatchObject({ outcome: 'tolerated', payment_id: id });
    expect(await read(id)).toMatchObject({ session_status: 'completed', last_error_code: null });

    asked *= 2n;
    const { id: other } = await open();
    const less = send(asked - (asked * 50n) / 10_000n - 1n);
    expect(await less.tell('seen')).toMatchObject({ outcome: 'under', payment_id: other });
    // A match stays even if the tolerance changes later.
    await tolerate(200);
    expect(await less.tell('final')).toMatchObject({ outcome: 'under' });
    expect(await send(asked - asked / 100n).tell('final')).toMatchObject({ outcome: 'tolerated' });
    expect(await stateOf(other)).toBe('successful/completed');
  });

  test('does not settle any where several payments are open', async () => {
    await tolerate(200);
    await open();
    await open(asked + 1n);
    expect(await send(asked - 1n).tell('seen')).toMatchObject({ outcome: 'ambiguous' });
  });
});

interface Sent {
  readonly amount: bigint;
  readonly transfer: ReturnType<typeof send>;
  /** When it was first seen, in milliseconds. */
  readonly at: number;
  state: 'seen' | 'final' | 'reversed';
  /** How the model expects it to be recorded. */
  as: 'pays' | 'part' | 'duplicate' | 'inbox';
}

/** The expected state of one payment that has an address to itself. */
class Model {
  readonly sent: Sent[] = [];
  rest: bigint | null = null;
  /** When the rest was reserved, in milliseconds: no earlier transfer can be meant as the rest. */
  restSince = Number.POSITIVE_INFINITY;
  readonly whole: bigint;

  constructor(whole: bigint) {
    this.whole = whole;
  }

  find(as: Sent['as'], ...states: Sent['state'][]): Sent | undefined {
    return this.sent.find(it => it.as === as && states.includes(it.state));
  }

  get payer(): Sent | undefined {
    return this.find('pays', 'seen', 'final');
  }

  get part(): Sent | undefined {
    return this.find('part', 'seen', 'final');
  }

  ask(rest: bigint, at: number): void {
    this.rest = rest;
    this.restSince = at;
  }

  judge(amount: bigint, at: number): Sent['as'] {
    const isExact = amount === this.whole || (amount === this.rest && at >= this.restSince);
    if (this.payer !== undefined) return isExact ? 'duplicate' : 'inbox';
    if (isExact || (at >= this.restSince && this.#completes(amount))) return 'pays';
    if (amount > this.whole) return (amount - this.whole) * 50n <= this.whole ? 'pays' : 'inbox';
    if (amount * 100n < this.whole || this.part !== undefined) return 'inbox';
    return 'part';
  }

  /**
   * Whether the amount completes the payment: it lacks only what could not be sent, or what a wallet cut or rounded
   * off.
   */
  #completes(amount: bigint): boolean {
    const part = this.find('part', 'final');
    if (part === undefined || this.rest === null) return false;
    const missing = this.whole - part.amount;
    // The payment is for 5,000 cents; 588 satoshi are the least that can be sent to its address.
    const [cent, least] = [this.whole / 5_000n, 588n];
    const isLeft = leavings(this.rest, 8).includes(amount);
    if (amount > this.rest) return isLeft && (amount - this.rest) * 50n <= this.rest;
    const share = this.whole / 1_000n;
    if (isLeft && amount >= missing - (cent > share ? cent : share)) return true;
    return amount >= missing - cent && this.rest - amount < least;
  }

  /** A reversed transfer pays nothing. Transfers that no payment took are matched again, as if they came only now. */
  undo(it: Sent): void {
    it.state = 'reversed';
    if (it.as !== 'pays' && it.as !== 'part') return;
    for (const each of this.sent) {
      const isTaken = each.as === 'pays' || each.as === 'part';
      if (this.payer !== undefined || isTaken || each.state === 'reversed') continue;
      const as = this.judge(each.amount, each.at);
      if (as === 'pays' || as === 'part') each.as = as;
    }
  }

  get state(): string {
    if (this.payer === undefined) return 'pending/pending';
    return this.payer.state === 'final' ? 'successful/completed' : 'pending/completed';
  }
}

test('only exact amounts complete a payment, with any parts in any order', async () => {
  const amounts = {
    whole: ({ whole }: Model) => whole,
    rest: ({ whole, rest }: Model) => rest ?? whole / 3n,
    half: ({ whole }: Model) => whole / 2n,
    most: ({ whole }: Model) => whole - 1n,
    dust: ({ whole }: Model) => whole / 101n,
    over: ({ whole }: Model) => whole + whole / 60n,
    double: ({ whole }: Model) => whole * 2n,
  };
  const step = fc.oneof(
    fc.record({
      what: fc.constant('send' as const),
      amount: fc.constantFrom(...(Object.keys(amounts) as (keyof typeof amounts)[])),
    }),
    fc.record({ what: fc.constantFrom('settle' as const, 'undo' as const), which: fc.nat(9) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 12 }), async steps => {
      asked = BigInt(10_000_000 + ++serial);
      service.clock.now += 1_000;
      await releaseAll(service.db);
      const { id } = await open();
      const model = new Model(asked);
      for (const one of steps) {
        service.clock.now += 1_000;
        if (one.what === 'send') {
          const amount = amounts[one.amount](model);
          const transfer = send(amount);
          const at = service.clock.now;
          model.sent.push({ amount, transfer, at, state: 'seen', as: model.judge(amount, at) });
          await transfer.tell('seen');
        } else {
          const seen = model.sent.filter(({ state }) => state === 'seen');
          const it = seen[one.which % seen.length];
          if (it === undefined) continue;
          if (one.what === 'settle') it.state = 'final';
          else model.undo(it);
          await it.transfer.tell(one.what === 'settle' ? 'final' : 'reversed');
        }
        const part = model.find('part', 'final');
        const isOpen = model.payer === undefined;
        const remaining = await remainingOf(id);
        if (isOpen && part !== undefined) {
          if (model.rest === null && remaining !== null) {
            model.ask(remaining.remaining, service.clock.now);
          }
          expect(remaining).toEqual({ received: part.amount, remaining: model.rest });
          expect(part.amount + (model.rest ?? 0n)).toBeGreaterThanOrEqual(asked);
          expect(model.rest).toBeLessThan(asked);
        } else expect(remaining).toBeNull();
        const payment = await read(id);
        expect(await stateOf(id)).toBe(model.state);
        expect(payment.transaction_hash).toBe(model.payer?.transfer.transactionHash ?? null);
        expect(payment.last_error_code === 'amount_underpaid').toBe(
          isOpen && model.part !== undefined,
        );
        if (payment.status !== 'pending') break;
      }
    }),
    { numRuns: runs(60) },
  );
});
