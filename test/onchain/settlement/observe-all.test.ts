import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { observeAll } from '#onchain/settlement/observe-all.ts';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import type { ObservedTransfer } from '#onchain/settlement/observed-transfer.ts';
import { movePayment } from '#payments/move-payment.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import { transact } from '#storage/database/transaction.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { ADDRESSES, addMerchant } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { openCheckout } from '../../helpers/checkout.ts';
import { addPaymentAt } from '../../helpers/open-payment.ts';
import { runs } from '../../helpers/property-runs.ts';
import { reportTogether } from './truth/watch.ts';

let service: TestApp;
/** Two merchants with the same history: one gets its transfers one by one, the other in batches. */
let merchants: readonly [Merchant, Merchant];
let serial = 0;

beforeAll(async () => {
  service = await startTestApp();
  const [one, other] = [await addMerchant(service), await addMerchant(service)];
  merchants = [one.merchant, other.merchant];
  await sql`
    insert into webhook_endpoints (id, merchant_id, url, secret, master_key_version, created_at)
    select gen_random_uuid(), id, 'https://shop.example/', '', 1, now() from merchants`.execute(
    service.db,
  );
});
afterAll(() => service.close());

/** What payments ask for, and where. */
const ASKED: readonly (readonly [place: string, amount: bigint])[] = [
  ...([
    ['A', 10_000_000n],
    ['A', 20_000_000n],
    ['B', 10_000_000n],
  ] as const),
  ...([
    ['C', 10_000_000n],
    ['D', 10_000_000n],
    ['E', 10_000_000n],
  ] as const),
];
const CHUNKS = 4;

const history = fc.record({
  sent: fc.array(
    fc.record({
      /** Index of the payment that it is meant for. */
      to: fc.nat(ASKED.length - 1),
      /** Mostly exact; also too much, too little, its rest, and dust. */
      perMille: fc.constantFrom(1000n, 1000n, 1000n, 1015n, 900n, 100n, 5n),
      /** The batches that report it; a batch after the third does not exist. */
      seen: fc.nat(2),
      final: fc.integer({ min: 1, max: CHUNKS }),
      reversed: fc.option(fc.integer({ min: 1, max: 2 }), { freq: 12 }),
    }),
    { minLength: 4, maxLength: 8 },
  ),
  /** A payment that fails for another reason before the second batch. */
  failing: fc.option(fc.nat(ASKED.length - 1), { freq: 4 }),
});
type History = typeof history extends fc.Arbitrary<infer T> ? T : never;

/** Too little, and then exactly the rest. */
const RESTED: History['sent'] = [
  { to: 2, perMille: 900n, seen: 0, final: 1, reversed: null },
  { to: 2, perMille: 100n, seen: 2, final: 3, reversed: null },
];

const now = () => new Date(service.clock.now);

async function ask(merchant: Merchant, address: string, tokenAmount: bigint): Promise<string> {
  const slot = { blockchainId: 'eth-usdc', address, tokenAmount };
  return (await addPaymentAt(service, merchant, slot, { token_decimals: 6 })).id;
}

/**
 * Plays a history for a merchant.
 * @returns The resulting payments and deposits.
 */
async function play(merchant: Merchant, { sent, failing }: History, areTogether: boolean) {
  const { db } = service;
  const run = `${++serial}`;
  const ids: string[] = [];
  for (const [place, amount] of ASKED) ids.push(await ask(merchant, `${place}${run}`, amount));
  for (let chunk = 0; chunk < CHUNKS; chunk++) {
    service.clock.now += 1000;
    const paymentId = chunk === 1 && failing !== null ? ids[failing] : undefined;
    if (paymentId !== undefined) {
      const by = { actor: 'test', reason: 'failed', now: now() };
      await transact(db, tx => movePayment(tx, { paymentId, move: 'fail', ...by }));
    }
    const told = sent.flatMap(({ to, perMille, ...when }, index) => {
      const [place, amount] = ASKED[to] ?? ['', 0n];
      const finalities = (['reversed', 'seen', 'final'] as const).filter(
        each => when[each] === chunk,
      );
      return finalities.map(
        (finality): ObservedTransfer => ({
          blockchainId: 'eth-usdc',
          transactionHash: `${run}.${index}`,
          position: 0,
          finality,
          address: `${place}${run}`,
          tokenAmount: (amount * perMille) / 1000n,
          blockHeight: chunk,
          blockHash: `block ${chunk}`,
          occurredAt: now(),
          source: 'chain',
        }),
      );
    });
    const inOrder = told.toSorted(
      (a, b) =>
        Number(b.finality === 'reversed') - Number(a.finality === 'reversed') ||
        (a.address < b.address ? -1 : Number(a.address > b.address)),
    );
    if (areTogether) await reportTogether(db, inOrder, service.clock.now);
    else for (const each of inOrder) await observeTransfer(db, each, now());
  }
  const { rows: payments } = await sql`
    select array_position(${ids}::uuid[], id) as place, status, session_status, last_error_code,
           split_part(transaction_hash, '.', 2) as hash, paid_at is not null as paid,
           array(select to_status || to_session_status || actor || regexp_replace(reason, '\\d+[.]', '', 'g')
                 from payment_transitions where payment_id = payments.id order by at, id) as moves,
           array(select type || count(webhook_deliveries.id) from events
                 left join webhook_deliveries on event_id = events.id
                 where payment_id = payments.id group by events.id order by type) as events,
           array(select token_amount || case when released_at is null then ' held' else '' end
                 from reservations where payment_id = payments.id order by token_amount) as amounts
    from payments where id = any(${ids}::uuid[]) order by 1`.execute(db);
  const { rows: deposits } = await sql`
    select split_part(transaction_hash, '.', 2) as hash, state, outcome, token_amount, block_height,
           block_hash, array_position(${ids}::uuid[], payment_id) as payment
    from deposits where split_part(transaction_hash, '.', 1) = ${run} order by 1`.execute(db);
  return { payments, deposits };
}

test('transfers recorded together have the same outcome as one after the other', async () => {
  await fc.assert(
    fc.asyncProperty(history, async each => {
      const start = service.clock.now;
      const single = await play(merchants[0], each, false);
      service.clock.now = start;
      expect(await play(merchants[1], each, true)).toEqual(single);
    }),
    {
      examples: [[{ sent: RESTED, failing: null }]],
      ...(process.env.HISTORIES
        ? { numRuns: Number(process.env.HISTORIES) }
        : { numRuns: runs(25), seed: 1 }),
    },
  );
});

test('a transfer that may match a former quote elsewhere is recorded in its turn', async () => {
  const { db } = service;
  const outcomes = [];
  for (const areTogether of [false, true]) {
    const addresses = {
      'eth-test': ADDRESSES['eth-test'],
      'eth-usdc-test': ADDRESSES['eth-test'],
    };
    const shop = await addMerchant(service, { addresses });
    const [one, other] = [await openCheckout(service, shop), await openCheckout(service, shop)];
    await one.pick('eth-test');
    await one.pick('eth-usdc-test');
    await other.pick('eth-test');
    const paid = await findPayment(db, one.paymentId);
    const told = (blockchainId: string, tokenAmount: bigint): ObservedTransfer => ({
      blockchainId,
      transactionHash: `${++serial}`,
      position: 0,
      finality: 'seen',
      address: ADDRESSES['eth-test'],
      tokenAmount,
      blockHeight: 1,
      blockHash: 'block',
      occurredAt: now(),
      source: 'chain',
    });
    // What a wallet may cut either payment's amount on eth-test to, and then what the first payment asks for now.
    const cut = told('eth-test', 10n ** 16n);
    const both = [cut, told('eth-usdc-test', BigInt(paid?.token_amount ?? 0))];
    if (areTogether) await transact(db, tx => observeAll(tx, both, now()));
    else for (const each of both) await observeTransfer(db, each, now());
    expect((await findPayment(db, one.paymentId))?.session_status).toBe('completed');
    const { rows } = await sql<{ outcome: string }>`
      select outcome from deposits where transaction_hash = ${cut.transactionHash}`.execute(db);
    outcomes.push(rows);
    await other.post('cancel');
    service.clock.now += 60_000;
  }
  expect(outcomes).toEqual([[{ outcome: 'ambiguous' }], [{ outcome: 'ambiguous' }]]);
});

test('records any number of exact transfers, also of one address, with the same few statements', async () => {
  const { db } = service;
  const counts: number[] = [];
  for (const size of [2, 40]) {
    const run = `${++serial}`;
    const amounts = Array.from({ length: size }, (_, index) => 1000n + BigInt(index));
    const ids: string[] = [];
    for (const amount of amounts) ids.push(await ask(merchants[0], run, amount));
    for (const finality of ['seen', 'final'] as const) {
      const told = amounts.map(
        (tokenAmount, position): ObservedTransfer => ({
          blockchainId: 'eth-usdc',
          transactionHash: run,
          position,
          address: run,
          tokenAmount,
          blockHeight: 1,
          blockHash: 'block',
          occurredAt: now(),
          finality,
          source: 'chain',
        }),
      );
      await transact(db, async tx => {
        let count = 0;
        const counted = tx.withPlugin({
          transformQuery: ({ node }) => node,
          async transformResult({ result }) {
            count += 1;
            return result;
          },
        });
        await observeAll(counted, told, now());
        counts.push(count);
      });
    }
    const { rows } = await sql`
      select from payments where id = any(${ids}::uuid[]) and status = 'successful'`.execute(db);
    expect(rows).toHaveLength(size);
  }
  expect(counts.slice(0, 2)).toEqual(counts.slice(2));
});
