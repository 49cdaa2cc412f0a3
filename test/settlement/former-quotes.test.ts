import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Merchant } from '../../src/database/account-tables.ts';
import type { Payment } from '../../src/database/payment-tables.ts';
import { createFixedRates } from '../../src/rates/fixed-rates.ts';
import { findDepositContexts } from '../../src/repositories/deposits/context.ts';
import { listStrayDeposits } from '../../src/repositories/deposits/deviations.ts';
import { listTransitions, lockDuePayments } from '../../src/repositories/payments/moves.ts';
import { findPayment } from '../../src/repositories/payments/payments.ts';
import { assignDeposit } from '../../src/settlement/inbox.ts';
import { observeTransfer } from '../../src/settlement/observe-transfer.ts';
import type { Finality } from '../../src/settlement/observed-transfer.ts';
import { readRemaining } from '../../src/settlement/remaining.ts';
import { selectNetwork } from '../../src/settlement/select-network.ts';
import { ADDRESSES, addMerchant, operatorOf } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { releaseAll } from '../helpers/open-payment.ts';
import { addPayment } from '../helpers/payments.ts';

const MINUTE_MS = 60_000;
const RATES = createFixedRates();

let service: TestApp;
let merchant: Merchant;
let serial = 0;

beforeAll(async () => {
  service = await startTestApp();
  const addresses = { eth: ADDRESSES.eth, btc: ADDRESSES.btc };
  ({ merchant } = await addMerchant(service, { addresses }));
});
beforeEach(() => releaseAll(service.db));
afterAll(() => service.close());

const now = () => new Date(service.clock.now);
const add = () =>
  addPayment(service.db, merchant, {
    ...{ amount: 4_444, created_at: now(), offered_blockchain_ids: ['eth', 'btc'] },
    expires_at: new Date(service.clock.now + 60 * MINUTE_MS),
  });
const choose = (payment: Payment, blockchainId: string, rates = RATES) =>
  selectNetwork(service.db, rates, { payment, blockchainId, simulation: true }, now());
const read = async ({ id }: Payment) => {
  const payment = await findPayment(service.db, id);
  if (payment === undefined) throw new Error('no payment');
  return payment;
};
/** A transfer of what a payment asked for, or of so much. */
function transfer(quote: Payment, amount = BigInt(quote.token_amount ?? 0)) {
  const told = {
    ...{ blockchainId: quote.blockchain_id ?? '', address: quote.address ?? '' },
    ...{ transactionHash: `former${++serial}`, position: 0, tokenAmount: amount },
    ...{ blockHeight: 1, blockHash: 'a', source: 'chain' as const, occurredAt: now() },
  };
  return (finality: Finality) => observeTransfer(service.db, { ...told, finality }, now());
}

describe('who comes back to a network', () => {
  test('is asked for the same amount as before, and pays it by any of the two codes', async () => {
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

  test('is asked for another one if the price has moved, and the first settles it all the same', async () => {
    const payment = await add();
    const first = await choose(payment, 'eth');
    await choose(payment, 'btc');
    const dearer = await choose(payment, 'eth', createFixedRates({ ETH: '3990' }));
    expect(BigInt(dearer.token_amount ?? 0)).toBeGreaterThan(BigInt(first.token_amount ?? 0));
    expect(await transfer(first)('final')).toMatchObject({
      ...{ outcome: 'exact', payment_id: payment.id },
    });
    expect(await read(payment)).toMatchObject({
      ...{ status: 'successful', token_amount: first.token_amount },
    });
  });

  test('is asked for the rest again where too little has arrived', async () => {
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

describe('what arrives for a network that was left', () => {
  test('settles the payment while the price is promised, which asks for that again', async () => {
    const payment = await add();
    const first = await choose(payment, 'eth');
    service.clock.now += MINUTE_MS;
    const second = await choose(payment, 'btc');
    const send = transfer(first);
    expect(await send('seen')).toMatchObject({ outcome: 'exact', payment_id: payment.id });
    expect(await read(payment)).toMatchObject({
      ...{ session_status: 'completed', blockchain_id: 'eth', address: first.address },
      ...{ token_amount: first.token_amount, token_decimals: 18, quoted_at: first.quoted_at },
    });
    const [detected] = await listTransitions(service.db, payment.id);
    expect(detected?.reason).toContain('for what was asked before another quote');
    // Undone, both are waited for, and no price is promised for longer.
    await send('reversed');
    expect(await reservedSince(payment, 'eth')).toEqual(first.quoted_at);
    expect(await read(payment)).toMatchObject({
      ...{ session_status: 'pending', blockchain_id: 'eth', token_amount: first.token_amount },
    });
    expect(await transfer(second)('final')).toMatchObject({
      ...{ outcome: 'exact', payment_id: payment.id },
    });
    expect(await read(payment)).toMatchObject({ status: 'successful', blockchain_id: 'btc' });
    // The other one came a second time then.
    expect(await transfer(first)('final')).toMatchObject({ outcome: 'duplicate' });
  });

  test('completes it as the rest', async () => {
    const payment = await add();
    const first = await choose(payment, 'eth');
    await transfer(first, BigInt(first.token_amount ?? 0) / 3n)('final');
    const rest = await readRemaining(service.db, await read(payment));
    await choose(payment, 'btc');
    expect(await transfer(first, rest?.remaining)('final')).toMatchObject({
      ...{ outcome: 'rest', payment_id: payment.id },
    });
    expect(await read(payment)).toMatchObject({
      ...{ status: 'successful', blockchain_id: 'eth', token_amount: first.token_amount },
    });
  });

  test('is never another payment’s: its amount is not asked for meanwhile', async () => {
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

  describe('when the price is not promised any more', () => {
    async function arriveLater() {
      const payment = await add();
      const first = await choose(payment, 'eth');
      service.clock.now += 10 * MINUTE_MS;
      const second = await choose(payment, 'btc');
      // 30 minutes of Ether's window are over, and those of Bitcoin's are not.
      service.clock.now += 22 * MINUTE_MS;
      return { payment, first, second, deposit: await transfer(first)('final') };
    }

    test('is in the inbox, with its payment first, and on the payment’s page', async () => {
      const { payment, deposit, second } = await arriveLater();
      expect(deposit).toMatchObject({ outcome: 'superseded', payment_id: null });
      expect(await read(payment)).toEqual(second);
      const contexts = await findDepositContexts(service.db, [deposit]);
      expect(contexts.get(deposit.id)?.fits[0]).toEqual({
        ...{ paymentId: payment.id, merchantId: merchant.id, tokenAmount: deposit.token_amount },
      });
      expect(await listStrayDeposits(service.db, payment.id)).toMatchObject([
        { id: deposit.id, kind: 'superseded' },
      ]);
    });

    test('can be assigned to it, across networks', async () => {
      const { payment, first, deposit } = await arriveLater();
      await assignDeposit(operatorOf(service), deposit.id, payment.id);
      expect(await read(payment)).toMatchObject({
        ...{ status: 'successful', blockchain_id: 'eth', token_amount: first.token_amount },
      });
    });

    test('can be assigned to no payment that never asked for anything there', async () => {
      const { deposit } = await arriveLater();
      const other = await choose(await add(), 'btc');
      const assigned = assignDeposit(operatorOf(service), deposit.id, other.id, {
        otherOrder: true,
      });
      await expect(assigned).rejects.toThrow('on another network');
    });
  });

  test('is late once the payment has ended, whatever was promised', async () => {
    const payment = await add();
    await choose(payment, 'btc');
    const second = await choose(payment, 'eth');
    const first = { ...second, blockchain_id: 'btc', address: ADDRESSES.btc };
    const [asked = '0'] = await reservedOn(payment, 'btc');
    service.clock.now += 32 * MINUTE_MS;
    expect(await transfer(first, BigInt(asked))('final')).toMatchObject({
      ...{ outcome: 'late', payment_id: null },
    });
  });

  test('keeps the payment from expiring until its chain is watched as far', async () => {
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
        .set({ watched_until: until === null ? null : new Date(until) })
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

/** Since when a payment has its amount on a network reserved. */
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
