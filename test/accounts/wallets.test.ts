import { HDKey } from '@scure/bip32';
import fc from 'fast-check';
import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AddressTaken, HELD_FOR_MS } from '#accounts/address-holders.ts';
import {
  addAddress,
  listAddresses,
  removeAddress,
  setAddress,
  setWallet,
} from '#accounts/deposit-addresses.ts';
import { reseal } from '#accounts/keys/reseal.ts';
import { releaseAddress } from '#accounts/release-address.ts';
import { stockWallets } from '#accounts/wallets.ts';
import { walletAddress } from '#chains/bitcoin/wallet-addresses.ts';
import { historyEntry } from '#cli/payments/history.ts';
import { createKeyring } from '#crypto/keyring.ts';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import { selectNetwork } from '#onchain/settlement/select-network.ts';
import { createWatchList } from '#onchain/watching/watch-list.ts';
import { readHistory } from '#payments/history.ts';
import { movePayment } from '#payments/move-payment.ts';
import { createFixedRates } from '#payments/rates/fixed-rates.ts';
import { readRows } from '#reports/accounting/file.ts';
import { makeEvidence } from '#reports/evidence/document.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { listConfiguredAddresses } from '#storage/repositories/chains/watch-list.ts';
import { listOwnUnmatched } from '#storage/repositories/deposits/account-deposits.ts';
import { findDepositContexts } from '#storage/repositories/deposits/context.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { LATE_FOR_MS } from '#time/late-window.ts';
import { steps as simulated } from '../../migrations/0077_simulated_wallets.ts';
import { ADDRESSES, addMerchant, operatorOf, setSharedAddress } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { addPayment } from '../helpers/payments.ts';
import { runs } from '../helpers/property-runs.ts';
import { simulatedTransfer } from '../helpers/see-transfer.ts';
import { SOON } from '../helpers/soon.ts';

/** As `addresses` of wallets say: at most 18 in a row are asked for behind the last funded one. */
const GAP = 18;
/** Addresses that are derived at first. */
const STOCK = 40;

const MASTER_KEY = Buffer.alloc(32, 8);

let service: TestApp;
const rates = createFixedRates();
beforeAll(async () => {
  service = await startTestApp({ keyring: createKeyring([MASTER_KEY]) });
});
afterAll(() => service.close());

const now = () => new Date(service.clock.now);
const operator = () => ({ ...operatorOf(service), keyring: service.keyring });

let seed = 0;
/** A wallet of native segwit addresses that nobody has. */
function newWallet() {
  seed += 1;
  const account = HDKey.fromMasterSeed(Buffer.alloc(32, seed)).derive("m/84'/0'/0'");
  const receiving = account.deriveChild(0);
  return {
    key: account.publicExtendedKey,
    receivingKey: receiving.publicExtendedKey,
    at: (index: number) => walletAddress({ kind: 'wpkh', prefix: 'bc' }, receiving, index),
  };
}

/** A merchant that is paid on Bitcoin at the addresses of a new wallet, from an index on. */
async function addShop(first = 0) {
  const wallet = newWallet();
  const { merchant } = await addMerchant(service, { addresses: {} });
  const owner = { merchantId: merchant.id };
  await setWallet(operator(), owner, 'btc', { key: wallet.key, next: wallet.at(first) });
  const indices = new Map(Array.from({ length: 60 }, (_, index) => [wallet.at(index), index]));
  const pay = (offered = ['btc']) =>
    addPayment(service.db, merchant, {
      amount: 5_000,
      created_at: now(),
      offered_blockchain_ids: offered,
    });
  const choose = (payment: Payment, blockchainId = 'btc') => {
    const choice = { payment, blockchainId, offering: 'simulated' } as const;
    return selectNetwork(service.db, rates, choice, now());
  };
  /** A payment that is asked for on Bitcoin, and the index of its address. */
  const quote = async () => {
    const payment = await choose(await pay());
    return { payment, index: indices.get(payment.address ?? '') };
  };
  const use = async () => (await listAddresses(service.db, owner, now()))[0]?.wallet;
  return { wallet, merchant, owner, pay, choose, quote, use, indices };
}

function end({ id }: Payment) {
  return movePayment(service.db, {
    paymentId: id,
    move: 'cancel',
    actor: 'customer',
    reason: 'test',
    now: now(),
  });
}

let transfers = 0;
function arrive(
  address: string,
  tokenAmount: bigint,
  finality: 'seen' | 'final' = 'final',
  source: 'chain' | 'simulation' = 'chain',
) {
  transfers += 1;
  const transfer = simulatedTransfer({
    blockchainId: 'btc',
    transactionHash: String(transfers).padStart(64, '0'),
    address,
    tokenAmount,
    occurredAt: now(),
    finality,
    source,
  });
  return observeTransfer(service.db, transfer, now());
}

const paid = ({ address, token_amount: amount }: Payment, finality?: 'seen' | 'final') =>
  arrive(address ?? '', BigInt(amount ?? 0), finality);

describe('which address a payment gets', () => {
  test('the lowest that no open payment has, from the next unused one of the wallet on', async () => {
    const shop = await addShop(3);
    const quotes = [await shop.quote(), await shop.quote(), await shop.quote()];
    expect(quotes.map(({ index }) => index)).toEqual([3, 4, 5]);
    const amounts = quotes.map(({ payment }) => payment.token_amount);
    expect(new Set(amounts).size).toBe(1);
    expect(await shop.use()).toMatchObject({ nextIndex: 6, out: 3, funded: 0, gap: 3 });
  });

  test.each([
    [30, 3],
    [3, 30],
  ])('from the index on that the wallet was set again with: %i, then %i', async (first, again) => {
    const shop = await addShop(first);
    const { wallet } = shop;
    await setWallet(operator(), shop.owner, 'btc', { key: wallet.key, next: wallet.at(again) });
    const quotes = [await shop.quote(), await shop.quote(), await shop.quote()];
    expect(quotes.map(({ index }) => index)).toEqual([again, again + 1, again + 2]);
  });

  test('one whose payment has ended only after the late window, and never a paid one again', async () => {
    const shop = await addShop();
    const [first, second] = [await shop.quote(), await shop.quote()];
    await end(first.payment);
    expect((await paid(second.payment)).outcome).toBe('exact');
    expect((await shop.quote()).index).toBe(2);
    service.clock.now += LATE_FOR_MS + 1;
    expect((await shop.quote()).index).toBe(0);
    expect((await shop.quote()).index).toBe(3);
    expect(await shop.use()).toMatchObject({ funded: 1, nextIndex: 4 });
  });

  test('no more than 18 in a row are out; then payments share one, with amounts of their own', async () => {
    const shop = await addShop();
    const quotes = [];
    for (let count = 0; count < GAP + 2; count += 1) quotes.push(await shop.quote());
    const indices = quotes.map(({ index }) => index);
    expect(indices.slice(0, GAP)).toEqual(Array.from({ length: GAP }, (_, index) => index));
    expect(indices.slice(GAP)).toEqual([0, 1]);
    expect(quotes[GAP]?.payment.token_amount).not.toBe(quotes[0]?.payment.token_amount);
    // What is funded at the end moves the gap.
    const last = quotes[GAP - 1];
    expect((last && (await paid(last.payment)))?.outcome).toBe('exact');
    expect((await shop.quote()).index).toBe(GAP);
  });

  test('of those with as many open payments, one that several had: others keep adding up parts', async () => {
    const shop = await addShop();
    const quotes = [];
    for (let count = 0; count < GAP; count += 1) quotes.push(await shop.quote());
    const fifth = quotes[5]?.payment;
    if (fifth === undefined) throw new Error('nothing was quoted');
    await end(fifth);
    expect([(await shop.quote()).index, (await shop.quote()).index]).toEqual([5, 5]);
    // Of those that one open payment has, only this one was ever shared.
    expect((await shop.quote()).index).toBe(0);
  });

  test('simulated transfers fund no address, and use none up', async () => {
    const shop = await addShop();
    const { payment } = await shop.quote();
    const { address, token_amount: amount } = payment;
    const deposit = await arrive(address ?? '', BigInt(amount ?? 0), 'final', 'simulation');
    expect(deposit.payment_id).toBe(payment.id);
    expect(await shop.use()).toMatchObject({ funded: 0, gap: 1, nextIndex: 1 });
    service.clock.now += LATE_FOR_MS + 1;
    expect((await shop.quote()).index).toBe(0);
    const forgetSimulated = async () => {
      for (const step of simulated) await step(service.db as unknown as Kysely<unknown>);
    };
    // Also those of former releases, and before an address is derived.
    await service.db
      .updateTable('wallet_addresses')
      .set({ received_at: now(), is_funded: true })
      .where('address', '=', address ?? '')
      .execute();
    await forgetSimulated();
    await arrive(shop.wallet.at(50), 1_000n, 'final', 'simulation');
    const given = { key: shop.wallet.key, next: shop.wallet.at(20) };
    await setWallet(operator(), shop.owner, 'btc', given);
    expect(await shop.use()).toMatchObject({ funded: 0 });
    await arrive(address ?? '', 1_000n);
    expect(await shop.use()).toMatchObject({ funded: 1 });
    await forgetSimulated();
    expect(await shop.use()).toMatchObject({ funded: 1 });
  });

  test('not one at which something was seen, whoever sent it', async () => {
    const shop = await addShop();
    expect((await arrive(shop.wallet.at(0), 777_777n, 'seen')).outcome).toBe('unknown');
    expect((await shop.quote()).index).toBe(1);
  });

  test('no more behind one whose transfer was undone again', async () => {
    const shop = await addShop();
    const quotes = [];
    for (let count = 0; count < GAP; count += 1) quotes.push(await shop.quote());
    const last = quotes[GAP - 1]?.payment;
    if (last === undefined) throw new Error('nothing was quoted');
    const transfer = simulatedTransfer({
      blockchainId: 'btc',
      transactionHash: 'f'.repeat(64),
      address: last.address ?? '',
      tokenAmount: BigInt(last.token_amount ?? 0),
      blockHeight: 7,
      occurredAt: now(),
      finality: 'seen',
      source: 'chain',
    });
    await observeTransfer(service.db, transfer, now());
    expect(await shop.use()).toMatchObject({ funded: 1 });
    await observeTransfer(service.db, { ...transfer, finality: 'reversed' }, now());
    expect(await shop.use()).toMatchObject({ funded: 0 });
    expect((await shop.quote()).index).toBe(0);
  });

  test('the same one when the payer comes back, also if a part has arrived there', async () => {
    const shop = await addShop();
    await setSharedAddress(operator(), shop.merchant.id, 'eth', ADDRESSES.eth);
    const payment = await shop.choose(await shop.pay(['btc', 'eth']));
    expect((await shop.quote()).index).toBe(1);
    for (const part of [0n, 2n]) {
      if (part > 0n) await arrive(payment.address ?? '', BigInt(payment.token_amount ?? 0) / part);
      expect((await shop.choose(payment, 'eth')).address).toBe(ADDRESSES.eth);
      expect((await shop.choose(payment)).address).toBe(payment.address);
    }
  });

  test('never the same for two at once while another is free', async () => {
    const shop = await addShop();
    const payments = await Promise.all(Array.from({ length: GAP }, () => shop.pay()));
    const chosen = await Promise.all(payments.map(payment => shop.choose(payment)));
    expect(new Set(chosen.map(({ address }) => address)).size).toBe(GAP);
  });

  test('as a model of the rule says, whatever happens', async () => {
    const step = fc.oneof(
      { weight: 5, arbitrary: fc.constant({ kind: 'quote' } as const) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('end' as const), which: fc.nat() }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('pay' as const), which: fc.nat() }) },
      { weight: 1, arbitrary: fc.constant({ kind: 'day' } as const) },
    );
    await fc.assert(
      fc.asyncProperty(fc.nat(5), fc.array(step, { minLength: 30, maxLength: 50 }), playAll),
      { numRuns: runs(6) },
    );

    async function playAll(first: number, steps: readonly Step[]) {
      const shop = await addShop(first);
      const model = new Map<
        number,
        { open: Payment[]; had: number; endedAt: number; isPaid: boolean }
      >();
      let funded = first - 1;
      const isFree = (index: number) => {
        const known = model.get(index);
        if (known === undefined) return true;
        const isLate = service.clock.now - known.endedAt < LATE_FOR_MS;
        return known.open.length === 0 && !isLate && !known.isPaid;
      };
      for (const each of steps) {
        service.clock.now += 1_000;
        if (each.kind === 'day') service.clock.now += LATE_FOR_MS;
        if (each.kind === 'quote') {
          const reach = Array.from({ length: funded + GAP - first + 1 }, (_, at) => first + at);
          const unpaid = reach.filter(index => model.get(index)?.isPaid !== true);
          const isSingle = (at: number) => Number((model.get(at)?.had ?? 0) < 2);
          const shared = unpaid.toSorted(
            (a, b) => openAt(a) - openAt(b) || isSingle(a) - isSingle(b) || a - b,
          );
          const { payment, index = -1 } = await shop.quote();
          expect(index).toBe(reach.find(isFree) ?? shared[0]);
          const known = model.get(index) ?? {
            open: [],
            had: 0,
            endedAt: -LATE_FOR_MS,
            isPaid: false,
          };
          known.open.push(payment);
          known.had += 1;
          model.set(index, known);
          continue;
        }
        if (!('which' in each)) continue;
        const all = [...model].flatMap(([index, { open }]) => open.map(one => ({ index, one })));
        const chosen = all[each.which % Math.max(all.length, 1)];
        const at = chosen && model.get(chosen.index);
        if (chosen === undefined || at === undefined) continue;
        if (each.kind === 'pay') {
          at.isPaid = true;
          funded = Math.max(funded, chosen.index);
          const deposit = await paid(chosen.one);
          await stockWallets(service.db, service.keyring, 20);
          // Its time was over.
          if (deposit.payment_id === null) continue;
        } else await end(chosen.one);
        at.open = at.open.filter(one => one !== chosen.one);
        at.endedAt = service.clock.now;
      }

      function openAt(index: number): number {
        return model.get(index)?.open.length ?? 0;
      }
    }
  });
});

type Step =
  | { readonly kind: 'quote' }
  | { readonly kind: 'day' }
  | { readonly kind: 'end' | 'pay'; readonly which: number };

/** The indices that are derived for a merchant's wallet. */
async function derivedOf(merchantId: string): Promise<number[]> {
  const rows = await service.db
    .selectFrom('wallet_addresses')
    .innerJoin('wallets', 'wallets.id', 'wallet_id')
    .select('index')
    .where('merchant_id', '=', merchantId)
    .orderBy('index')
    .execute();
  return rows.map(({ index }) => index);
}

describe('whose a wallet is', () => {
  test('another merchant is refused it in every spelling, until it has been left for long', async () => {
    const shop = await addShop();
    const { merchant: rival } = await addMerchant(service, { addresses: {} });
    const spellings = [
      { key: shop.wallet.key, next: shop.wallet.at(0) },
      { key: shop.wallet.key, next: shop.wallet.at(30) },
      { key: `wpkh(${shop.wallet.receivingKey}/*)`, next: shop.wallet.at(30) },
    ];
    const attempt = (given: (typeof spellings)[number]) =>
      setWallet(operator(), { merchantId: rival.id }, 'btc', given);
    for (const given of spellings) await expect(attempt(given)).rejects.toThrow(AddressTaken);
    const { payment } = await shop.quote();
    await removeAddress(operator(), shop.owner, 'btc');
    await end(payment);
    for (const given of spellings) await expect(attempt(given)).rejects.toThrow(AddressTaken);
    service.clock.now += HELD_FOR_MS + 1;
    await attempt({ key: shop.wallet.key, next: shop.wallet.at(30) });
    expect(await derivedOf(rival.id)).toHaveLength(STOCK);
    await expect(
      setWallet(operator(), shop.owner, 'btc', { key: shop.wallet.key, next: shop.wallet.at(0) }),
    ).rejects.toThrow(AddressTaken);
  });

  test('one that was never shown is free at once', async () => {
    const shop = await addShop();
    await removeAddress(operator(), shop.owner, 'btc');
    const { merchant: heir } = await addMerchant(service, { addresses: {} });
    const given = { key: shop.wallet.key, next: shop.wallet.at(0) };
    await setWallet(operator(), { merchantId: heir.id }, 'btc', given);
    expect(await derivedOf(heir.id)).toHaveLength(STOCK);
  });

  test('one that was removed is free with all its addresses once an operator releases one of them', async () => {
    const shop = await addShop();
    const { payment } = await shop.quote();
    const { merchant: heir } = await addMerchant(service, { addresses: {} });
    const given = { key: shop.wallet.key, next: shop.wallet.at(60) };
    const attempt = () => setWallet(operator(), { merchantId: heir.id }, 'btc', given);
    const refused: AddressTaken = await attempt().catch(error => error);
    const wanted = { ...refused.wanted, merchantId: shop.merchant.id };
    await expect(releaseAddress(operator(), wanted)).rejects.toThrow('is in force');
    await removeAddress(operator(), shop.owner, 'btc');
    await end(payment);
    await expect(attempt()).rejects.toThrow(AddressTaken);
    await releaseAddress(operator(), wanted);
    await attempt();
    expect(await derivedOf(heir.id)).toHaveLength(STOCK);
  });

  test('one that is set again leaves out what another merchant has taken meanwhile, and no more', async () => {
    const shop = await addShop();
    await removeAddress(operator(), shop.owner, 'btc');
    const { merchant: other } = await addMerchant(service, { addresses: {} });
    const taken = { merchantId: other.id };
    for (const index of [1, 2]) {
      await setAddress(operator(), taken, 'btc', shop.wallet.at(index));
    }
    await setWallet(operator(), shop.owner, 'btc', {
      key: shop.wallet.key,
      next: shop.wallet.at(0),
    });
    const quotes = [await shop.quote(), await shop.quote(), await shop.quote()];
    expect(quotes.map(({ index }) => index)).toEqual([0, 1, 3]);
    await expect(setAddress(operator(), taken, 'btc', shop.wallet.at(3))).rejects.toThrow(
      AddressTaken,
    );
  });

  test('two that want one at the same time: one gets it', async () => {
    const wallet = newWallet();
    const rivals = await Promise.all(
      Array.from({ length: 2 }, () => addMerchant(service, { addresses: {} })),
    );
    const given = { key: wallet.key, next: wallet.at(0) };
    const settled = await Promise.allSettled(
      rivals.map(({ merchant: { id } }) => setWallet(operator(), { merchantId: id }, 'btc', given)),
    );
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('setting it again beside those who derive its addresses: one waits for the other', async () => {
    const shop = await addShop();
    const quotes = [];
    for (let count = 0; count < GAP; count += 1) quotes.push(await shop.quote());
    const last = quotes[GAP - 1]?.payment;
    if (last === undefined) throw new Error('nothing was quoted');
    await paid(last);
    const hold = (tx: Connection, index: number) =>
      sql`select hold_address(${shop.merchant.id}, 'btc', ${shop.wallet.at(index)}, ${now()})`.execute(
        tx,
      );
    const waiting = async () => {
      const { rows } = await sql`
        select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(service.db);
      return rows.length;
    };
    const started: Promise<unknown>[] = [];
    await service.db.transaction().execute(async tx => {
      await hold(tx, STOCK);
      started.push(stockWallets(service.db, service.keyring, 20));
      await expect.poll(waiting, SOON).toBe(1);
      const again = { key: shop.wallet.key, next: shop.wallet.at(STOCK + 5) };
      started.push(setWallet(operator(), shop.owner, 'btc', again));
      await expect.poll(waiting, SOON).toBe(2);
      // The one that waits has nothing yet that the other will ask for.
      await service.db.transaction().execute(async other => {
        await sql`set local lock_timeout = '2s'`.execute(other);
        await hold(other, STOCK + 5);
      });
    });
    await Promise.all(started);
    expect((await shop.quote()).index).toBe(STOCK + 5);
  });

  test('an address of it is refused to others as a static one, and one of theirs is left out', async () => {
    const shop = await addShop();
    const { merchant: rival } = await addMerchant(service, { addresses: {} });
    const owner = { merchantId: rival.id };
    await expect(setAddress(operator(), owner, 'btc', shop.wallet.at(7))).rejects.toThrow(
      AddressTaken,
    );
    const wallet = newWallet();
    await setAddress(operator(), owner, 'btc', wallet.at(1));
    const { merchant } = await addMerchant(service, { addresses: {} });
    const given = { key: wallet.key, next: wallet.at(0) };
    await setWallet(operator(), { merchantId: merchant.id }, 'btc', given);
    expect((await derivedOf(merchant.id)).slice(0, 3)).toEqual([0, 2, 3]);
  });

  test('two branches of a merchant share it, and its index', async () => {
    const shop = await addShop();
    const { id } = await service.db
      .insertInto('branches')
      .values({
        id: crypto.randomUUID(),
        merchant_id: shop.merchant.id,
        name: 'Second',
        created_at: now(),
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    const owner = { ...shop.owner, branchId: id };
    await setWallet(operator(), owner, 'btc', { key: shop.wallet.key, next: shop.wallet.at(0) });
    const [main, other] = await Promise.all([
      listAddresses(service.db, shop.owner, now()),
      listAddresses(service.db, owner, now()),
    ]);
    expect(other[0]?.wallet?.id).toBe(main[0]?.wallet?.id);
  });

  test('a static address beside it is refused, and one in its place is not', async () => {
    const shop = await addShop();
    await expect(addAddress(operator(), shop.owner, 'btc', ADDRESSES.btc)).rejects.toThrow(
      'needs no further addresses',
    );
    const { payment } = await shop.quote();
    const { merchant: own } = await addMerchant(service, { addresses: {} });
    const only = newWallet().at(0);
    await setAddress(operator(), shop.owner, 'btc', only);
    expect((await shop.quote()).payment.address).toBe(only);
    expect(payment.address).not.toBe(only);
    expect(own.id).not.toBe(shop.merchant.id);
  });
});

describe('a wallet in the rest of the service', () => {
  test('its key is sealed, in no other column, and brought under a new master key', async () => {
    const { wallet, merchant } = await addShop();
    const read = () =>
      service.db
        .selectFrom('wallets')
        .selectAll()
        .where('merchant_id', '=', merchant.id)
        .executeTakeFirstOrThrow();
    const row = await read();
    for (const key of [wallet.key, wallet.receivingKey]) {
      expect(JSON.stringify({ ...row, key: row.key.toString() })).not.toContain(key);
    }
    const open = (from: typeof row, keyring = service.keyring) =>
      keyring.open(from.key, from.id, from.master_key_version);
    expect(open(row)).toBe(wallet.receivingKey);
    const audit = await service.db.selectFrom('audit_log').select('detail').execute();
    expect(JSON.stringify(audit)).not.toMatch(/[xyz]pub/);
    const newer = createKeyring([Buffer.alloc(32, 9), MASTER_KEY]);
    await reseal(operatorOf(service), newer);
    expect(open(await read(), newer)).toBe(wallet.receivingKey);
    await reseal(operatorOf(service), createKeyring([MASTER_KEY, Buffer.alloc(32, 9)]));
  });

  test('what no payment takes is in its merchant’s inbox, with its index', async () => {
    const shop = await addShop();
    const deposit = await arrive(shop.wallet.at(5), 12_345n);
    const contexts = await findDepositContexts(service.db, [deposit]);
    expect(contexts.get(deposit.id)).toMatchObject({
      merchantIds: [shop.merchant.id],
      derivationIndex: 5,
    });
  });

  test('its inbox looks at the addresses at which something has waited, of those derived', async () => {
    const shop = await addShop();
    const { id } = shop.merchant;
    const looked = async () => {
      const rows = await service.db
        .selectFrom('account_addresses')
        .select('address')
        .where('merchant_id', '=', id)
        .where('may_wait', '=', true)
        .orderBy('address')
        .execute();
      return rows.map(({ address }) => address);
    };
    const unmatched = async () => {
      const rows = await listOwnUnmatched(service.db, id, {}, { after: undefined, limit: 10 });
      return rows.map(({ address }) => address);
    };
    await shop.quote();
    const { payment } = await shop.quote();
    await paid(payment);
    expect([...(await looked()), ...(await unmatched())]).toEqual([]);
    // A second time, what nobody asked for, and what was matched and is late.
    await paid(payment);
    await arrive(shop.wallet.at(30), 12_345n, 'seen');
    const both = [shop.wallet.at(1), shop.wallet.at(30)].toSorted();
    expect((await unmatched()).toSorted()).toEqual(both);
    expect(await looked()).toEqual(both);
    const late = (await shop.quote()).payment;
    const part = await arrive(late.address ?? '', 1_000n, 'seen');
    expect(part.payment_id).toBe(late.id);
    expect(await unmatched()).toHaveLength(2);
    await service.db
      .updateTable('deposits')
      .set({ payment_id: null, outcome: 'late' })
      .where('id', '=', part.id)
      .execute();
    expect((await unmatched()).toSorted()).toEqual([...both, shop.wallet.at(2)].toSorted());
  });

  test('history, evidence and exports name the index of what arrived', async () => {
    const shop = await addShop(4);
    const { payment } = await shop.quote();
    await paid(payment);
    const open = await findPayment(service.db, payment.id);
    if (open === undefined) throw new Error('there is no payment');
    const texts = (await readHistory(service.db, open)).map(fact => historyEntry(fact).what);
    expect(texts.filter(text => text.endsWith(', at index 4 of the wallet'))).toHaveLength(1);
    const dependencies = { ...service, publicUrl: 'https://pay.example.test' };
    const { evidence } = await makeEvidence(dependencies, open);
    expect(evidence.deposits).toMatchObject([{ derivationIndex: 4 }]);
    const account = { id: shop.merchant.id, environment: 'live' } as const;
    const month = now().toISOString().slice(0, 7);
    const rows = [];
    for await (const page of readRows(service.db, account, month, 100)) rows.push(...page);
    expect(rows).toMatchObject([{ type: 'payment', derivationIndex: 4 }]);
  });

  test('its addresses are watched for 90 days after a payment, and looked at by every rescan', async () => {
    const shop = await addShop();
    const { payment } = await shop.quote();
    await service.db
      .updateTable('networks')
      .set({ settled_by: 'chain' })
      .where('id', '=', 'btc')
      .execute();
    try {
      const lists = [createWatchList('btc')];
      const isWatched = async (list = createWatchList('btc')) =>
        (await list.read(service.db, now())).some(({ address }) => address === payment.address);
      expect(await isWatched(lists[0])).toBe(true);
      service.clock.now += 10 * 60_000;
      expect(await isWatched(lists[0])).toBe(true);
      // By a transaction that has taken long.
      service.clock.now -= 9 * 60_000;
      await end(payment);
      service.clock.now += 9 * 60_000 + 60_000;
      expect(await isWatched(lists[0])).toBe(true);
      service.clock.now += 89 * 24 * 60 * 60_000;
      for (const list of [...lists, createWatchList('btc')])
        expect(await isWatched(list)).toBe(true);
      service.clock.now += 2 * 24 * 60 * 60_000;
      for (const list of [...lists, createWatchList('btc')]) {
        expect(await isWatched(list)).toBe(false);
      }
      const all = await listConfiguredAddresses(service.db, 'btc');
      expect(all.map(({ address }) => address)).toContain(payment.address);
    } finally {
      await service.db
        .updateTable('networks')
        .set({ settled_by: 'simulation' })
        .where('id', '=', 'btc')
        .execute();
    }
  });
});
