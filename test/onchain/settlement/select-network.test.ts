import { register } from 'prom-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addAddress, removeAddress } from '#accounts/deposit-addresses.ts';
import { setNetwork } from '#accounts/networks.ts';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import { selectNetwork } from '#onchain/settlement/select-network.ts';
import { movePayment } from '#payments/move-payment.ts';
import { createFixedRates } from '#payments/rates/fixed-rates.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { findMerchantSetup } from '#storage/repositories/accounts/merchant-setup.ts';
import { findMainBranch } from '#storage/repositories/accounts/merchants.ts';
import { listWaiting } from '#storage/repositories/deposits/waiting-payments.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { ADDRESSES, addMerchant, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addPayment } from '../../helpers/payments.ts';

const MINUTE_MS = 60_000;

let service: TestApp;
let merchant: Merchant;
const rates = createFixedRates();
const warnings: unknown[] = [];

beforeAll(async () => {
  service = await startTestApp();
  const addresses = { btc: ADDRESSES.btc, eth: ADDRESSES.eth, 'eth-usdc': ADDRESSES['eth-usdc'] };
  ({ merchant } = await addMerchant(service, { addresses, commissionBps: 150 }));
});
afterAll(() => service.close());

const now = () => new Date(service.clock.now);
const select = (payment: Payment, blockchainId: string, from = rates) =>
  selectNetwork(service.db, from, { payment, blockchainId, offering: 'simulated' }, now());
/** Address and amount of a new payment of 2 dollars on Bitcoin, or the code of its refusal. */
async function quoteCheap(of: Merchant, amount = 200): Promise<string> {
  const columns = { amount, offered_blockchain_ids: ['btc'], created_at: now() };
  const payment = await addPayment(service.db, of, columns);
  const log = { warn: (line: unknown) => void warnings.push(line) };
  const choice = { payment, blockchainId: 'btc', offering: 'simulated', log } as const;
  return selectNetwork(service.db, rates, choice, now()).then(
    chosen => `${chosen.address} ${chosen.token_amount}`,
    (error: { errorCode: string }) => error.errorCode,
  );
}
const newPayment = (columns: Partial<Parameters<typeof addPayment>[2]> = {}) =>
  addPayment(service.db, merchant, {
    created_at: now(),
    amount: 5000,
    offered_blockchain_ids: ['btc', 'eth', 'eth-usdc'],
    ...columns,
  });

describe('choosing a network', () => {
  test('fixes amount, address, commission and the time to pay', async () => {
    const chosen = await select(await newPayment(), 'eth-usdc');
    expect(chosen).toMatchObject({
      blockchain_id: 'eth-usdc',
      address: ADDRESSES['eth-usdc'],
      token_amount: '50000100',
      token_decimals: 6,
      commission_amount: 75,
      expires_at: new Date(service.clock.now + 30 * MINUTE_MS),
    });
  });

  test('asks the shopper for the commission where the shopper pays it', async () => {
    const chosen = await select(await newPayment({ commission_payer: 'shopper' }), 'eth-usdc');
    expect(BigInt(chosen.token_amount ?? 0) / 10_000n).toBe(5075n);
  });

  test('gives each open payment of a price its own amount, which no wallet’s cutting confuses with another', async () => {
    const chosen = await Promise.all(
      Array.from({ length: 30 }, async () => select(await newPayment({ amount: 777 }), 'eth-usdc')),
    );
    const amounts = chosen.map(payment => payment.token_amount);
    expect(new Set(amounts).size).toBe(30);
    for (const amount of amounts) {
      expect(BigInt(amount ?? 0)).toBeGreaterThanOrEqual(7_770_000n);
      // Half a per cent.
      expect(BigInt(amount ?? 0)).toBeLessThan(7_770_000n + 38_850n);
    }
    // All four stay distinct with two decimals only.
    expect(new Set(amounts.map(amount => BigInt(amount ?? 0) / 10_000n)).size).toBe(4);
  });

  test('asks for an amount that wallets cut to another value than the amounts of others', async () => {
    const asked: (string | null)[] = [];
    for (let index = 0; index < 4; index++) {
      asked.push((await select(await newPayment({ amount: 5432 }), 'eth-usdc')).token_amount);
    }
    expect(asked).toEqual(['54320100', '54330100', '54340100', '54350100']);
  });

  test('again changes nothing; choosing another network frees the amount', async () => {
    const payment = await newPayment({ amount: 4321 });
    const first = await select(payment, 'eth-usdc');
    service.clock.now += MINUTE_MS;
    expect(await select(payment, 'eth-usdc')).toEqual(first);
    const second = await select(payment, 'btc');
    expect(second.blockchain_id).toBe('btc');
    const left = await listWaiting(
      service.db,
      { blockchainId: 'eth-usdc', address: ADDRESSES['eth-usdc'] },
      { at: now(), endedBy: now() },
      1000,
    );
    expect(left.map(candidate => candidate.paymentId)).not.toContain(payment.id);
  });

  test('never makes a payment wait longer than a day', async () => {
    const payment = await newPayment({
      created_at: new Date(service.clock.now - 24 * 60 * MINUTE_MS + MINUTE_MS),
      expires_at: new Date(service.clock.now + MINUTE_MS),
    });
    expect((await select(payment, 'btc')).expires_at).toEqual(
      new Date(service.clock.now + MINUTE_MS),
    );
  });

  test('uses the longest unused amount first', async () => {
    const one = await select(await newPayment({ amount: 999 }), 'eth-usdc');
    await service.db.transaction().execute(tx =>
      movePayment(tx, {
        paymentId: one.id,
        move: 'cancel',
        actor: 'test',
        reason: 'test',
        now: now(),
      }),
    );
    const two = await select(await newPayment({ amount: 999 }), 'eth-usdc');
    expect(two.token_amount).not.toBe(one.token_amount);
  });
});

describe('refuses', () => {
  test('a network that is not offered, inactive, or without an address', async () => {
    const payment = await newPayment({ offered_blockchain_ids: ['btc', 'eth', 'sol'] });
    await expect(select(payment, 'eth-usdc')).rejects.toMatchObject({ errorCode: 'E1040' });
    await expect(select(payment, 'sol')).rejects.toMatchObject({ errorCode: 'E1040' });
    await setNetwork(operatorOf(service), 'eth', { active: false });
    await expect(select(payment, 'eth')).rejects.toMatchObject({ errorCode: 'E1040' });
    await setNetwork(operatorOf(service), 'eth', { active: true });
    expect((await findPayment(service.db, payment.id))?.blockchain_id).toBeNull();
  });

  test('a payment that has ended, is past its time or has funds', async () => {
    const expired = await newPayment({ expires_at: now() });
    await expect(select(expired, 'btc')).rejects.toMatchObject({ errorCode: 'E1040' });
    const paid = await select(await newPayment({ amount: 6543 }), 'btc');
    await observeTransfer(
      service.db,
      {
        blockchainId: 'btc',
        transactionHash: 'paid',
        position: 0,
        address: ADDRESSES.btc,
        tokenAmount: BigInt(paid.token_amount ?? 0),
        blockHeight: 1,
        blockHash: null,
        occurredAt: now(),
        source: 'chain',
        finality: 'seen',
      },
      now(),
    );
    await expect(select(paid, 'eth')).rejects.toMatchObject({ errorCode: 'E1040' });
  });

  test('to quote without an agreed price', async () => {
    const unpriced = createFixedRates();
    unpriced.switchOff('BTC');
    await expect(select(await newPayment(), 'btc', unpriced)).rejects.toMatchObject({
      errorCode: 'E5002',
    });
  });

  test('when every amount of the price is taken', async () => {
    // Up to 3 cents (30 satoshi; half a per cent of 2 dollars is less) above the price, not ending in zero: 27
    // amounts.
    const taken: string[] = [];
    for (let index = 0; index < 29; index++) taken.push(await quoteCheap(merchant));
    expect(taken.slice(27)).toEqual(['E5002', 'E5002']);
    expect(new Set(taken.slice(0, 27)).size).toBe(27);
  });

  test('a price below what can be sent to any address of the branch', async () => {
    // P2WPKH: twice 294 satoshi; a cent is 10.
    expect(await quoteCheap(merchant, 58)).toBe('E1040');
    expect(await quoteCheap(merchant, 59)).toContain(ADDRESSES.btc);
    await setNetwork(operatorOf(service), 'btc', { leastAmount: 5_000n });
    expect(await quoteCheap(merchant, 499)).toBe('E1040');
    expect(await quoteCheap(merchant, 500)).toContain(ADDRESSES.btc);
    await setNetwork(operatorOf(service), 'btc', { leastAmount: null });
  });
});

describe('several addresses of a branch', () => {
  const [FIRST, SECOND] = [
    '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
    '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy',
  ];
  let own: Merchant;
  const addressOf = (place: string) => place.split(' ')[0];

  beforeAll(async () => {
    ({ merchant: own } = await addMerchant(service, { addresses: { btc: FIRST } }));
    await addAddress(operatorOf(service), { merchantId: own.id }, 'btc', SECOND);
  });

  test('take turns: a quote goes to the least recently used one', async () => {
    const places: (string | undefined)[] = [];
    for (let index = 0; index < 4; index++) places.push(addressOf(await quoteCheap(own)));
    expect(places).toEqual([FIRST, SECOND, FIRST, SECOND]);
  });

  test('multiply the amounts of a price, and a shortage is counted and logged', async () => {
    warnings.length = 0;
    const before = await quotesCounted();
    const places = new Set<string>();
    // Four of the 54 amounts are taken. Once 44 are, fewer than a fifth are free.
    for (let taken = 4; taken < 54; taken++) places.add(await quoteCheap(own));
    expect(places.size).toBe(50);
    expect(new Set([...places].map(addressOf))).toEqual(new Set([FIRST, SECOND]));
    expect(await quoteCheap(own)).toBe('E5002');
    const after = await quotesCounted();
    const counted = Object.keys(after).map(free => [
      free,
      (after[free] ?? 0) - (before[free] ?? 0),
    ]);
    expect(Object.fromEntries(counted)).toEqual({ plenty: 40, few: 10, none: 1 });
    expect(warnings).toHaveLength(11);
    const branchId = (await findMainBranch(service.db, own.id))?.id;
    expect(warnings[0]).toEqual({
      merchantId: own.id,
      branchId,
      blockchainId: 'btc',
      addresses: 2,
      free: 10,
      all: 54,
    });
  });

  test('offer their network once, until the last address is removed', async () => {
    const networks = async () => (await findMerchantSetup(service.db, own.id))?.networks;
    const btc = {
      id: 'btc',
      environment: 'production',
      windowMinutes: 60,
      isActive: true,
      settledBy: 'simulation',
    };
    expect(await networks()).toEqual([btc]);
    const remove = (address?: string) =>
      removeAddress(operatorOf(service), { merchantId: own.id }, 'btc', address);
    await expect(remove()).rejects.toThrow('The branch has 2 addresses on btc: name the one');
    await remove(SECOND);
    expect(await networks()).toEqual([btc]);
    await remove();
    expect(await networks()).toEqual([]);
    expect(await quoteCheap(own)).toBe('E1040');
  });
});

/** Quotes on Bitcoin so far, by the level of free amounts. */
async function quotesCounted(): Promise<Record<string, number>> {
  const metric = await register.getSingleMetric('eps_quotes_total')?.get();
  const values = metric?.values.filter(({ labels }) => labels.blockchain_id === 'btc') ?? [];
  return Object.fromEntries(values.map(({ labels, value }) => [labels.free_amounts, value]));
}
