import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setMerchant } from '#accounts/merchants.ts';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import type { ObservedTransfer } from '#onchain/settlement/observed-transfer.ts';
import { movePayment } from '#payments/move-payment.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import { transact } from '#storage/database/transaction.ts';
import {
  insertReservation,
  releaseReservation,
} from '#storage/repositories/deposits/reservations.ts';
import { updateOpenPayment } from '#storage/repositories/payments/moves.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { LATE_FOR_MS } from '#time/late-window.ts';
import { addMerchant, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addPayment } from '../../helpers/payments.ts';
import { runs } from '../../helpers/property-runs.ts';
import { reportTogether } from './truth/watch.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
/** As on EVM chains, and far less than block clocks are off in these histories. */
const SKEW_MS = 2 * SECOND_MS;
/** A network for which these tests can use any text as an address. */
const NETWORK = 'eth-usdc';
const BASE = 1_000_000n;
/**
 * Amounts asked for lie within 2 % of one another, so that each may be mistaken for a slight overpayment of the next.
 */
const STEP = 2_000n;

let service: TestApp;
let merchant: Merchant;
let serial = 0;

beforeAll(async () => {
  service = await startTestApp();
  ({ merchant } = await addMerchant(service));
  const tolerance = { underpaymentToleranceBps: 100 };
  await setMerchant(operatorOf(service), merchant.id, tolerance);
});
afterAll(() => service.close());

const place = fc.constantFrom(0, 0, 0, 1);
const amount = fc.nat(5).map(steps => BASE + BigInt(steps) * STEP);
const tenths = fc.integer({ min: 2, max: 9 }).map(count => (BASE * BigInt(count)) / 10n);
const sent = fc.record({
  place,
  amount: fc.oneof(
    // An amount that is or was reserved at the address, counted from the latest.
    { weight: 5, arbitrary: fc.nat(4).map(back => ({ back })) },
    { weight: 1, arbitrary: amount.map(exactly => ({ exactly })) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(1n, STEP / 2n, -1n).map(off => ({ exactly: BASE + off })),
    },
    // Too little, after which the rest is asked for.
    { weight: 1, arbitrary: tenths.map(exactly => ({ exactly })) },
  ),
  /** How long ago it was made, and how far its block's clock is ahead, both in milliseconds. */
  foundAfter: fc.constantFrom(0, 20 * SECOND_MS, 2 * MINUTE_MS, 15 * MINUTE_MS),
  ahead: fc.integer({ min: -10 * MINUTE_MS, max: 10 * MINUTE_MS }),
  isPolled: fc.constantFrom(true, false, false),
  finality: fc.constantFrom('seen', 'final'),
});
const ask = fc.record({ kind: fc.constant('ask'), place, amount });
const wait = fc.record({
  kind: fc.constant('wait'),
  ms: fc.constantFrom(...Array(6).fill(4 * MINUTE_MS), 23 * HOUR_MS, 25 * HOUR_MS),
});
const send = fc.record({
  kind: fc.constant('send'),
  sent: fc.array(sent, { minLength: 1, maxLength: 3 }),
  areTogether: fc.boolean(),
});
const step = fc.oneof(
  { weight: 2, arbitrary: ask },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('renew'), payment: fc.nat(4), amount }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('end'), payment: fc.nat(4) }) },
  { weight: 5, arbitrary: send },
  { weight: 2, arbitrary: wait },
);
/** At least two payments, some minutes apart, and then any events. */
const history = fc
  .tuple(ask, wait, ask, fc.array(step, { minLength: 3, maxLength: 14 }))
  .map(([first, then, second, steps]) => [first, then, second, ...steps]);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type Sent = typeof sent extends fc.Arbitrary<infer T> ? T : never;

/** Outcomes of transfers of amounts that are or were reserved. */
const outcomes = new Set<string>();
const now = () => new Date(service.clock.now);

/** One merchant's addresses, and the payments that are open there. */
class World {
  readonly #run = ++serial;
  readonly #payments: { readonly id: string; readonly address: string }[] = [];

  addressOf(index: number): string {
    return `A${index}-${this.#run}`;
  }

  async take(each: Step): Promise<void> {
    if (each.kind === 'wait') service.clock.now += each.ms;
    if (each.kind === 'ask') await this.#ask(each.place, each.amount);
    if (each.kind === 'renew') await this.#renew(each.payment, each.amount);
    if (each.kind === 'end') await this.#end(each.payment);
    if (each.kind === 'send') await this.#send(each.sent, each.areTogether);
    service.clock.now += 20 * SECOND_MS;
  }

  async #ask(index: number, tokenAmount: bigint): Promise<void> {
    const { id } = await addPayment(service.db, merchant, { created_at: now() });
    const own = { id, address: this.addressOf(index) };
    this.#payments.push(own);
    await this.#reserve(own, tokenAmount);
  }

  /** Reserves the amount, or the next one that is free. */
  async #reserve({ id, address }: { id: string; address: string }, tokenAmount: bigint) {
    const slot = { blockchainId: NETWORK, address, tokenAmount };
    while (!(await insertReservation(service.db, id, slot, now()))) slot.tokenAmount += STEP;
    const chosen = { blockchain_id: NETWORK, address, token_decimals: 6 };
    await updateOpenPayment(service.db, id, { ...chosen, token_amount: slot.tokenAmount });
  }

  async #renew(index: number, tokenAmount: bigint): Promise<void> {
    const own = this.#payments[index];
    const payment = own && (await findPayment(service.db, own.id));
    if (own === undefined || payment?.status !== 'pending') return;
    if (payment.session_status !== 'pending') return;
    await releaseReservation(service.db, own.id, now());
    await this.#reserve(own, tokenAmount);
  }

  async #end(index: number): Promise<void> {
    const own = this.#payments[index];
    if (own === undefined) return;
    const by = { actor: 'customer', reason: 'cancelled', now: now() };
    await transact(service.db, tx => movePayment(tx, { paymentId: own.id, move: 'cancel', ...by }));
  }

  async #send(list: readonly Sent[], areTogether: boolean): Promise<void> {
    const told: ObservedTransfer[] = [];
    for (const each of list) told.push(await this.#transferOf(each));
    const before = new Map<ObservedTransfer, ReservedAmount[]>();
    for (const each of told) before.set(each, await readReserved(each));
    if (areTogether) await reportTogether(service.db, told, service.clock.now);
    else for (const each of told) await observeTransfer(service.db, each, now());
    for (const each of told) await check(each, before.get(each) ?? [], told.length === 1);
  }

  async #transferOf(each: Sent): Promise<ObservedTransfer> {
    const address = this.addressOf(each.place);
    const { rows } = await sql<{ amount: string }>`
      select token_amount as amount from reservations where address = ${address}
      order by id desc`.execute(service.db);
    const { amount: wanted } = each;
    const tokenAmount =
      'back' in wanted
        ? BigInt(rows[wanted.back % Math.max(rows.length, 1)]?.amount ?? BASE)
        : wanted.exactly;
    const block = service.clock.now - each.foundAfter + each.ahead;
    const most = (ms: number) => new Date(Math.min(service.clock.now, ms));
    return {
      blockchainId: NETWORK,
      transactionHash: `tx${++serial}`,
      position: 0,
      address,
      tokenAmount,
      blockHeight: 1,
      blockHash: 'block',
      source: 'chain',
      finality: each.finality,
      occurredAt: each.isPolled ? now() : most(block + SKEW_MS),
      earliestAt: each.isPolled ? now() : most(block - SKEW_MS),
    };
  }
}

interface ReservedAmount {
  readonly payment: string;
  readonly released: Date | null;
  readonly isOpen: boolean;
}

/** The payments for which exactly this amount is reserved, or was within a day. */
async function readReserved(told: ObservedTransfer): Promise<ReservedAmount[]> {
  const { address, tokenAmount, earliestAt = told.occurredAt } = told;
  const { rows } = await sql<ReservedAmount>`
    select payment_id as payment, released_at as released,
           status = 'pending' and session_status = 'pending' and expires_at > ${now()} as "isOpen"
    from reservations join payments on payments.id = payment_id
    where reservations.address = ${address}
      and reservations.token_amount = ${tokenAmount.toString()}::numeric
      and (released_at is null or released_at > ${new Date(earliestAt.getTime() - LATE_FOR_MS)})`.execute(
    service.db,
  );
  return rows;
}

/** @param isAlone Whether the transfer was reported on its own. */
async function check(
  told: ObservedTransfer,
  before: readonly ReservedAmount[],
  isAlone: boolean,
): Promise<void> {
  if (before.length === 0) return;
  const { outcome, payment_id: payment } = await service.db
    .selectFrom('deposits')
    .select(['outcome', 'payment_id'])
    .where('transaction_hash', '=', told.transactionHash)
    .executeTakeFirstOrThrow();
  outcomes.add(outcome);
  const waiting = before.find(({ released, isOpen }) => released === null && isOpen);
  if (isAlone && waiting !== undefined && told.occurredAt.getTime() === service.clock.now) {
    expect(payment).toBe(waiting.payment);
  }
  if (payment === null) return;
  // Includes a rest that has been reserved since this report.
  const reserved = [...before, ...(await readReserved(told))];
  expect(['exact', 'rest'], `${told.tokenAmount} of ${told.address}`).toContain(outcome);
  expect(reserved.map(each => each.payment)).toContain(payment);
}

const told = { place: 0, foundAfter: 0, ahead: 0, isPolled: true, finality: 'final' } as const;
/**
 * The amount of the second of two payments, by a block clock that is behind; and an underpayment followed by its
 * rest.
 */
const EXAMPLES: readonly Step[][] = [
  [
    { kind: 'ask', place: 0, amount: BASE },
    { kind: 'wait', ms: 4 * MINUTE_MS },
    { kind: 'ask', place: 0, amount: BASE + STEP },
    sendOne({ ...told, amount: { back: 0 }, isPolled: false, ahead: -2 * MINUTE_MS }),
  ],
  [
    { kind: 'ask', place: 0, amount: BASE },
    sendOne({ ...told, amount: { exactly: (BASE * 4n) / 10n } }),
    sendOne({ ...told, amount: { back: 0 } }),
  ],
  // The amount of a former quote, whose price is no longer promised.
  [
    { kind: 'ask', place: 0, amount: BASE },
    { kind: 'renew', payment: 0, amount: BASE + STEP },
    ...Array<Step>(9).fill({ kind: 'wait', ms: 4 * MINUTE_MS }),
    sendOne({ ...told, amount: { back: 1 } }),
  ],
];

function sendOne(only: Sent): Step {
  return { kind: 'send', sent: [only], areTogether: true };
}

test('an amount pays the payment it is reserved for, or goes to the inbox, whatever the clocks say', async () => {
  await fc.assert(
    fc.asyncProperty(history, async steps => {
      const world = new World();
      for (const each of steps) await world.take(each);
    }),
    {
      examples: EXAMPLES.map(steps => [steps]),
      ...(process.env.HISTORIES
        ? { numRuns: Number(process.env.HISTORIES) }
        : { numRuns: runs(80), seed: 1 }),
    },
  );
  const all = ['ambiguous', 'duplicate', 'exact', 'late', 'rest', 'superseded', 'unknown'];
  expect([...outcomes].toSorted()).toEqual(all);
});
