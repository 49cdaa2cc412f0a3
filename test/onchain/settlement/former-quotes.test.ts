import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { assignDeposit } from '#onchain/settlement/inbox.ts';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import type { Finality } from '#onchain/settlement/observed-transfer.ts';
import { readRemaining } from '#onchain/settlement/remaining.ts';
import { selectNetwork } from '#onchain/settlement/select-network.ts';
import { createFixedRates } from '#payments/rates/fixed-rates.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { findDepositContexts } from '#storage/repositories/deposits/context.ts';
import { listStrayDeposits } from '#storage/repositories/deposits/deviations.ts';
import {
  insertReservation,
  releaseReservation,
} from '#storage/repositories/deposits/reservations.ts';
import { listTransitions, lockDuePayments } from '#storage/repositories/payments/moves.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { ADDRESSES, addMerchant, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { releaseAll } from '../../helpers/open-payment.ts';
import { addPayment } from '../../helpers/payments.ts';

const MINUTE_MS = 60_000;
const RATES = createFixedRates();

let service: TestApp;
let merchant: Merchant;
let serial = 0;

beforeAll(async () => {
  service = await startTestApp();
  const addresses = { eth: ADDRESSES.eth, btc: ADDRESSES.btc, 'eth-usdt': ADDRESSES.eth };
  ({ merchant } = await addMerchant(service, { addresses }));
});
beforeEach(() => releaseAll(service.db));
afterAll(() => service.close());

const now = () => new Date(service.clock.now);
const add = (amount = 4_444) =>
  addPayment(service.db, merchant, {
    amount,
    created_at: now(),
    offered_blockchain_ids: ['eth', 'btc', 'eth-usdt'],
    expires_at: new Date(service.clock.now + 60 * MINUTE_MS),
  });
const choose = (payment: Payment, blockchainId: string, rates = RATES) =>
  selectNetwork(service.db, rates, { payment, blockchainId, offering: 'simulated' }, now());
const read = async ({ id }: Payment) => {
  const payment = await findPayment(service.db, id);
  if (payment === undefined) throw new Error('no payment');
  return payment;
};
/** A transfer of what a payment asked for, or of the given amount. */
function transfer(quote: Payment, amount = BigInt(quote.token_amount ?? 0)) {
  const told = {
    blockchainId: quote.blockchain_id ?? '',
    address: quote.address ?? '',
    transactionHash: `former${++serial}`,
    position: 0,
    tokenAmount: amount,
    blockHeight: 1,
    blockHash: 'a',
    source: 'chain' as const,
    occurredAt: now(),
  };
  return (finality: Finality) => observeTransfer(service.db, { ...told, finality }, now());
}

describe('a customer who comes back to a network', () => {
  test('is asked for the same amount as before, and pays it by either code', async () => {
    const payment = await add();
    const first = await choose(payment, 'eth');
    const send = transfer(first);
    service.clock.now += MINUTE_MS;
    await choose(payment, 'btc');
    const again = await choose(payment, 'eth');
    expect(again).toMatchObject({ blockchain_id: 'eth', token_amount: first.token_amount });
    expect(await send('final')).toMatchObject({ outcome: 'exact', payment_id: payment.id });
    expect((await read(payment)).status).toBe('successful');
  });

  test('is asked for another amount if the price has moved, and the first still settles the payment', async () => {
    const payment = await add();
    const first = await choose(payment, 'eth');
    await choose(payment, 'btc');
    const dearer = await choose(payment, 'eth', createFixedRates({ ETH: '3990' }));
    expect(BigInt(dearer.token_amount ?? 0)).toBeGreaterThan(BigInt(first.token_amount ?? 0));
    expect(await transfer(first)('final')).toMatchObject({
      outcome: 'exact',
      payment_id: payment.id,
    });
    expect(await read(payment)).toMatchObject({
      status: 'successful',
      token_amount: first.token_amount,
    });
  });

  test('is asked for the rest again where too little had arrived', async () => {
    const payment = await add();
    const first = await choose(payment, 'eth');
    await transfer(first, BigInt(first.token_amount ?? 0) / 3n)('final');
    const rest = await readRemaining(service.db, await read(payment));
    await choose(payment, 'btc');
    expect(await readRemaining(service.db, await read(payment))).toBeNull();
    const again = await choose(payment, 'eth');
    expect(await readRemaining(service.db, again)).toEqual(rest);
    expect(again.last_error_message).toContain('Exactly this amount completes the payment');
  });
});

describe('a transfer to a network that the customer has left', () => {
  test('settles the payment while the price is promised, and the payment asks for that amount again', async () => {
    const payment = await add();
    const first = await choose(payment, 'eth');
    service.clock.now += MINUTE_MS;
    const second = await choose(payment, 'btc');
    const send = transfer(first);
    expect(await send('seen')).toMatchObject({ outcome: 'exact', payment_id: payment.id });
    expect(await read(payment)).toMatchObject({
      session_status: 'completed',
      blockchain_id: 'eth',
      address: first.address,
      token_amount: first.token_amount,
      token_decimals: 18,
      quoted_at: first.quoted_at,
    });
    const [detected] = await listTransitions(service.db, payment.id);
    expect(detected?.reason).toContain('it pays a former quote');
    // Once it is reversed, both amounts are accepted, and no price is promised for longer.
    await send('reversed');
    expect(await reservedSince(payment, 'eth')).toEqual(first.quoted_at);
    expect(await read(payment)).toMatchObject({
      session_status: 'pending',
      blockchain_id: 'eth',
      token_amount: first.token_amount,
    });
    expect(await transfer(second)('final')).toMatchObject({
      outcome: 'exact',
      payment_id: payment.id,
    });
    expect(await read(payment)).toMatchObject({ status: 'successful', blockchain_id: 'btc' });
    // The payment is paid, so the first transfer is a duplicate now.
    expect(await transfer(first)('final')).toMatchObject({ outcome: 'duplicate' });
  });

  test('completes the payment as its rest', async () => {
    const payment = await add();
    const first = await choose(payment, 'eth');
    await transfer(first, BigInt(first.token_amount ?? 0) / 3n)('final');
    const rest = await readRemaining(service.db, await read(payment));
    await choose(payment, 'btc');
    expect(await transfer(first, rest?.remaining)('final')).toMatchObject({
      outcome: 'rest',
      payment_id: payment.id,
    });
    expect(await read(payment)).toMatchObject({
      status: 'successful',
      blockchain_id: 'eth',
      token_amount: first.token_amount,
    });
  });

  test('is never another payment’s: nobody else is asked for its amount meanwhile', async () => {
    const payment = await add();
    const first = await choose(payment, 'eth');
    await choose(payment, 'btc');
    const amounts = new Set<string | null>();
    for (let index = 0; index < 95; index++) {
      amounts.add((await choose(await add(), 'eth')).token_amount);
    }
    expect(amounts.size).toBe(95);
    expect(amounts).not.toContain(first.token_amount);
  });

  describe('when the price is no longer promised', () => {
    async function arriveLater() {
      const payment = await add();
      const first = await choose(payment, 'eth');
      service.clock.now += 10 * MINUTE_MS;
      const second = await choose(payment, 'btc');
      // The 30 minutes of Ether's window are over, those of Bitcoin's are not.
      service.clock.now += 22 * MINUTE_MS;
      return { payment, first, second, deposit: await transfer(first)('final') };
    }

    test('the transfer is in the inbox, with its payment first, and on the payment’s page', async () => {
      const { payment, deposit, second } = await arriveLater();
      expect(deposit).toMatchObject({ outcome: 'superseded', payment_id: null });
      expect(await read(payment)).toEqual(second);
      const contexts = await findDepositContexts(service.db, [deposit]);
      expect(contexts.get(deposit.id)?.fits[0]).toEqual({
        paymentId: payment.id,
        merchantId: merchant.id,
        tokenAmount: deposit.token_amount,
      });
      expect(await listStrayDeposits(service.db, payment.id)).toMatchObject([
        { id: deposit.id, kind: 'superseded' },
      ]);
    });

    test('the transfer can be assigned to it, across networks', async () => {
      const { payment, first, deposit } = await arriveLater();
      await assignDeposit(operatorOf(service), deposit.id, payment.id);
      expect(await read(payment)).toMatchObject({
        status: 'successful',
        blockchain_id: 'eth',
        token_amount: first.token_amount,
      });
    });

    test('the transfer can be assigned to no payment that never asked for anything there', async () => {
      const { deposit } = await arriveLater();
      const other = await choose(await add(), 'btc');
      const assigned = assignDeposit(operatorOf(service), deposit.id, other.id, {
        otherOrder: true,
      });
      await expect(assigned).rejects.toThrow('on another network');
    });
  });

  test('a transfer is late once the payment has ended, whatever price was promised', async () => {
    const payment = await add();
    await choose(payment, 'btc');
    const second = await choose(payment, 'eth');
    const first = { ...second, blockchain_id: 'btc', address: ADDRESSES.btc };
    const [asked = '0'] = await reservedOn(payment, 'btc');
    service.clock.now += 32 * MINUTE_MS;
    expect(await transfer(first, BigInt(asked))('final')).toMatchObject({
      outcome: 'late',
      payment_id: null,
    });
  });

  test('keeps the payment from expiring until its chain has been scanned up to that time', async () => {
    const payment = await add();
    await choose(payment, 'eth');
    service.clock.now += 5 * MINUTE_MS;
    const { expires_at: end } = await choose(payment, 'btc');
    const promisedUntil = service.clock.now + 25 * MINUTE_MS;
    const onChain = { settled_by: 'chain' as const };
    await service.db.updateTable('networks').set(onChain).where('id', '=', 'eth').execute();
    const dueOnceWatched = async (until: number | null) => {
      await service.db
        .updateTable('chains')
        .set({ expires_until: until === null ? null : new Date(until) })
        .where('id', '=', 'eth')
        .execute();
      return service.db
        .transaction()
        .execute(tx => lockDuePayments(tx, end, 10, payment.id))
        .then(ids => ids.length === 1);
    };
    expect(await dueOnceWatched(null)).toBe(false);
    expect(await dueOnceWatched(promisedUntil - 1)).toBe(false);
    expect(await dueOnceWatched(promisedUntil)).toBe(true);
    const simulated = { settled_by: 'simulation' as const };
    await service.db.updateTable('networks').set(simulated).where('id', '=', 'eth').execute();
  });
});

test('a cut amount of a former quote does not go to another payment', async () => {
  const p1 = await add();
  const q1 = await choose(p1, 'eth-usdt');
  service.clock.now += MINUTE_MS;
  await choose(p1, 'btc');
  service.clock.now += MINUTE_MS;
  const p2 = await add();
  await choose(p2, 'eth-usdt');
  const unit = 10_000n;
  const cut = (BigInt(q1.token_amount ?? 0) / unit) * unit;
  service.clock.now += MINUTE_MS;
  const d = await transfer(q1, cut)('final');
  expect(d.payment_id).not.toBe(p2.id);
});

test('a customer who comes back gets no amount that another payment has been promised since', async () => {
  const p1 = await add();
  const q1 = await choose(p1, 'eth-usdt');
  await choose(p1, 'btc');
  service.clock.now += 25 * MINUTE_MS;
  await choose(p1, 'eth');
  service.clock.now += 20 * MINUTE_MS;
  // The third payment asks for the same amount, and leaves the network.
  const p3 = await add();
  await choose(p3, 'btc');
  await releaseReservation(service.db, p3.id, now());
  await insertReservation(
    service.db,
    p3.id,
    {
      blockchainId: 'eth-usdt',
      address: q1.address ?? '',
      tokenAmount: BigInt(q1.token_amount ?? 0),
    },
    now(),
  );
  service.clock.now += MINUTE_MS;
  await releaseReservation(service.db, p3.id, now());
  service.clock.now += MINUTE_MS;
  const again = await choose(p1, 'eth-usdt');
  service.clock.now += MINUTE_MS;
  expect(again.token_amount).not.toBe(q1.token_amount);
});

test('transfers that are seen and then replaced do not hold a price longer', async () => {
  const p = await add();
  const first = await choose(p, 'eth');
  for (let round = 0; round < 20; round++) {
    service.clock.now += 28 * MINUTE_MS;
    await choose(await read(p), 'btc');
    const tx = transfer(first);
    const seen = await tx('seen');
    if (seen.outcome !== 'exact') {
      break;
    }
    service.clock.now += 1000;
    await tx('reversed');
  }
  const d = await transfer(first)('final');
  expect(d.outcome).not.toBe('exact');
}, 30000);

test('a rest that a wallet has cut is told apart from the whole amount', async () => {
  const p = await add(22_200);
  const first = await choose(p, 'eth');
  const whole = BigInt(first.token_amount ?? 0);
  const unit = 10n ** 16n;
  await transfer(first, whole - 5n * unit)('final');
  const rest = (await readRemaining(service.db, await read(p)))?.remaining ?? 0n;
  const d = await transfer(first, (rest / unit) * unit)('final');
  expect(d.outcome).toBe('rest');
});

test('a payment does not expire while a transaction on a network it has left cannot be read', async () => {
  const p = await add();
  const q = await choose(p, 'eth');
  const second = await choose(p, 'btc');
  await service.db
    .insertInto('findings')
    .values({
      id: '01a2227d-8456-72b1-aa89-9b25b0950769',
      chain: 'eth',
      kind: 'unreadable',
      blockchain_id: 'eth',
      address: q.address,
      detail: 'x',
      found_at: now(),
      transaction_hash: 'y',
    } as never)
    .execute();
  const ids = await service.db
    .transaction()
    .execute(tx => lockDuePayments(tx, second.expires_at, 10, p.id));
  await sql`delete from findings`.execute(service.db);
  expect(ids).toEqual([]);
});

test('a cut amount settles its payment even if the customer left the network before it was seen', async () => {
  const p = await add();
  const q = await choose(p, 'eth-usdt');
  service.clock.now += 1000;
  const send = transfer(q, (BigInt(q.token_amount ?? 0) / 10_000n) * 10_000n);
  service.clock.now += 1000;
  await choose(p, 'btc');
  const d = await send('final');
  const { rows } =
    await sql`select kind from deviating_deposits where deposit_id = ${d.id}`.execute(service.db);
  expect(d.payment_id ?? rows.length).toBe(p.id);
});

test('an amount of the previous release that another amount may be cut to is not asked for again', async () => {
  const p = await add();
  const q = await choose(p, 'eth-usdt');
  await releaseReservation(service.db, p.id, now());
  await choose(p, 'btc');
  await sql`delete from reservations where payment_id = ${p.id} and blockchain_id='eth-usdt'`.execute(
    service.db,
  );
  // As the previous release stored it.
  await sql`insert into reservations (payment_id, blockchain_id, address, token_amount, reserved_at, released_at) values (${p.id}, 'eth-usdt', ${q.address}, ${(BigInt(q.token_amount ?? 0) / 10_000n) * 10_000n}, ${now()}, ${now()})`.execute(
    service.db,
  );
  const again = await choose(p, 'eth-usdt');
  expect(again.token_amount).not.toMatch(/0000$/);
});

test('a transfer on another network settles the payment once its funds are reversed', async () => {
  const p = await add();
  const e = await choose(p, 'eth');
  const b = await choose(p, 'btc');
  const eth = transfer(e);
  await eth('seen');
  await transfer(b)('final');
  await eth('reversed');
  const after = await read(p);
  expect(after.status).toBe('successful');
});

/** What a payment asked for on a network, in the asset's smallest unit. */
async function reservedOn({ id }: Payment, network: string): Promise<string[]> {
  const rows = await service.db
    .selectFrom('reservations')
    .select('token_amount')
    .where('payment_id', '=', id)
    .where('blockchain_id', '=', network)
    .execute();
  return rows.map(({ token_amount: amount }) => amount);
}

/** When a payment's amount on a network was reserved. */
async function reservedSince({ id }: Payment, network: string): Promise<Date | undefined> {
  const row = await service.db
    .selectFrom('reservations')
    .select('reserved_at')
    .where('payment_id', '=', id)
    .where('blockchain_id', '=', network)
    .where('released_at', 'is', null)
    .executeTakeFirst();
  return row?.reserved_at;
}
