import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setNetwork } from '#accounts/networks.ts';
import { solanaReference } from '#chains/solana-reference.ts';
import { expirePayments } from '#onchain/settlement/expire-on-chain.ts';
import { assignDeposit, dismissDeposit } from '#onchain/settlement/inbox.ts';
import type { ObservedTransfer } from '#onchain/settlement/observed-transfer.ts';
import { formatBaseUnits } from '#payments/token-amount.ts';
import { findDeposits } from '#storage/repositories/deposits/deposits.ts';
import { addMerchant, type MerchantWithKey, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { type OpenedCheckout, openCheckout } from '../../helpers/checkout.ts';
import { textOf } from '../../helpers/panel.ts';
import { seeTransfer } from '../../helpers/see-transfer.ts';

/** What the page says about each transfer for its payment. */

const CENT_ETH = 10n ** 16n;
const AGAIN = 'Arrived after this payment had been paid. It did not count. Contact Shop, and name';
const LATE = 'Arrived too late for this payment. It did not count. Contact Shop, and name';

let service: TestApp;

beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service?.close());

/** A merchant at its own address, where nothing is ambiguous. */
function addShop(): Promise<MerchantWithKey> {
  const eth = `0x${randomBytes(20).toString('hex')}`;
  return addMerchant(service, { name: 'Shop', addresses: { eth } });
}

async function open(shop?: MerchantWithKey): Promise<OpenedCheckout> {
  const checkout = await openCheckout(service, shop ?? (await addShop()));
  await checkout.pick('eth');
  return checkout;
}

/** Reports a final transfer of exactly what is asked for, unless an amount is given. */
async function send(
  checkout: OpenedCheckout,
  transfer: Partial<ObservedTransfer> = {},
): Promise<string> {
  service.clock.now += 1_000;
  return seeTransfer(service, checkout, 1, { finality: 'final', ...transfer });
}

async function expire(checkout: OpenedCheckout): Promise<void> {
  service.clock.now = (await checkout.payment()).expires_at.getTime() + 1;
  await expirePayments(service.db, new Date(service.clock()), 100);
}

async function read(checkout: OpenedCheckout) {
  const page = await checkout.get();
  expect(page.statusCode, page.body).toBe(200);
  const { revision } = (await checkout.get(`${checkout.path}/status`)).json();
  expect(page.body).toContain(`data-revision="${revision}"`);
  const [, list = ''] = page.body.match(/<section class="transfers".*?<ul>(.*?)<\/section>/s) ?? [];
  const items = list.split('</li>').slice(0, -1);
  return { list, told: items.map(body => textOf({ body }).trim()), revision: String(revision) };
}

/** What the page says of too much. */
const excessOf = (units: bigint) =>
  `In all ${formatBaseUnits(units, 18)} ETH more than was asked for.`;

async function depositOf(transactionHash: string) {
  const key = { blockchainId: 'eth', transactionHash, position: 0 };
  const [deposit] = await findDeposits(service.db, [key]);
  return deposit ?? expect.fail('there is no such deposit');
}

describe('a page', () => {
  test('lists nothing before something has arrived', async () => {
    expect((await read(await open())).list).toBe('');
  });

  test('shows a transfer that pays, with amount, network, time and the ends of its hash', async () => {
    const checkout = await open();
    const before = await read(checkout);
    const transactionHash = await send(checkout, { finality: 'seen' });
    const at = new Date(service.clock());
    const seen = await read(checkout);
    const short = `${transactionHash.slice(0, 10)}…${transactionHash.slice(-8)}`;
    expect(seen.told).toEqual([
      expect.stringMatching(
        /^0\.0125\d*\s?ETH on Ethereum Mainnet Pays this order in full\. Not final yet · Seen May \d+, 2026/,
      ),
    ]);
    expect(seen.list).toContain(`<time datetime="${at.toISOString()}">`);
    expect(seen.list).toContain(`<code dir="ltr">${short}</code>`);
    expect(seen.list).not.toContain('<a ');
    await send(checkout, { transactionHash });
    const paid = await read(checkout);
    expect(paid.told).toEqual([expect.stringContaining('Pays this order in full. Final · Seen')]);
    expect(new Set([before, seen, paid].map(({ revision }) => revision)).size).toBe(3);
  });

  test('links to the explorer of a network that has one', async () => {
    const checkout = await open();
    const hash = await send(checkout);
    await setNetwork(operatorOf(service), 'eth', {
      explorer: 'https://explorer.example/tx/{hash}',
    });
    const { list } = await read(checkout);
    await setNetwork(operatorOf(service), 'eth', { explorer: null });
    expect(list).toContain(
      `href="https://explorer.example/tx/${hash}" target="_blank" rel="noreferrer noopener"><code`,
    );
  });

  test('distinguishes an underpayment and its rest', async () => {
    const checkout = await open();
    const transactionHash = await send(checkout, { tokenAmount: CENT_ETH, finality: 'seen' });
    const due = [expect.stringContaining('The first part of this order. The rest is still due.')];
    expect((await read(checkout)).told).toEqual(due);
    await send(checkout, { transactionHash, tokenAmount: CENT_ETH });
    expect((await read(checkout)).told).toEqual(due);
    await checkout.simulate('rest');
    expect((await read(checkout)).told).toEqual([
      expect.stringMatching(/The first part of this order\. Final/),
      expect.stringContaining('The rest: it completes this order.'),
    ]);
  });

  test('shows an underpayment whose rest did not come, or after which the whole was sent', async () => {
    const ended = await open();
    const hash = await send(ended, { tokenAmount: CENT_ETH });
    await expire(ended);
    const before = await read(ended);
    expect(before.told).toEqual([
      expect.stringContaining('Less than was asked for. It did not count. Contact Shop, and name'),
    ]);
    expect(before.list).toContain(`data-copy="${hash}"`);
    const { id } = await depositOf(hash);
    await service.db
      .insertInto('booked_returns')
      .values({
        deposit_id: id,
        merchant_id: (await ended.payment()).merchant_id,
        booked_at: new Date(service.clock()),
        returned_to: 'Ada',
        transaction_hash: '0xback',
      })
      .execute();
    const after = await read(ended);
    expect(after.told[0]).toContain('It has been returned by this transaction: 0xback');
    expect(after.revision).not.toBe(before.revision);

    const paid = await open();
    await send(paid, { tokenAmount: CENT_ETH });
    await send(paid);
    expect((await read(paid)).told).toEqual([
      expect.stringContaining('Less than was asked for. It did not count.'),
      expect.stringContaining('Pays this order in full.'),
    ]);
  });

  test('shows a second transfer, and what became of it', async () => {
    const checkout = await open();
    await send(checkout);
    const paid = await read(checkout);
    const hash = await send(checkout);
    const twice = await read(checkout);
    expect(twice.told).toEqual([
      expect.stringContaining('Pays this order in full.'),
      expect.stringContaining(AGAIN),
    ]);
    expect(twice.revision).not.toBe(paid.revision);
    const { id } = await depositOf(hash);
    await dismissDeposit(operatorOf(service), id, { remedy: 'kept' });
    const kept = await read(checkout);
    expect(kept.told[1]).toContain('It did not count, and Shop has dealt with it.');
    expect(kept.revision).not.toBe(twice.revision);
  });

  test('shows a slight overpayment, and how much was too much', async () => {
    const checkout = await open();
    const asked = BigInt((await checkout.payment()).token_amount ?? 0);
    await send(checkout, { tokenAmount: asked + asked / 100n });
    const { told, list } = await read(checkout);
    expect(told).toEqual([
      expect.stringContaining('More than was asked for: it pays this order in full.'),
    ]);
    expect(textOf({ body: list })).toContain(excessOf(asked / 100n));
  });

  test('shows how much was too much of what was assigned, and with an underpayment', async () => {
    const assigned = await open();
    const asked = BigInt((await assigned.payment()).token_amount ?? 0);
    const hash = await send(assigned, { tokenAmount: asked * 3n });
    expect((await read(assigned)).told).toEqual([]);
    const [arrived = '', due = ''] = [asked * 3n, asked].map(units => formatBaseUnits(units, 18));
    const consent = { amounts: { arrived, due } };
    const { id } = await depositOf(hash);
    await assignDeposit(operatorOf(service), id, assigned.paymentId, consent);
    expect(textOf({ body: (await read(assigned)).list })).toContain(excessOf(asked * 2n));

    const both = await open();
    await send(both, { tokenAmount: CENT_ETH });
    await send(both);
    expect(textOf({ body: (await read(both)).list })).toContain(excessOf(CENT_ETH));
    // A second transfer of the same amount was not counted.
    await send(both);
    expect(textOf({ body: (await read(both)).list })).toContain(excessOf(CENT_ETH));
  });

  test('shows a late transfer, and that it was returned', async () => {
    const checkout = await open();
    await expire(checkout);
    const hash = await send(checkout);
    expect((await read(checkout)).told).toEqual([expect.stringContaining(LATE)]);
    const { id } = await depositOf(hash);
    const remedy = { remedy: 'returned', to: 'Ada', hash: '0xback' } as const;
    await dismissDeposit(operatorOf(service), id, remedy);
    expect((await read(checkout)).told).toEqual([
      expect.stringContaining('It has been returned by this transaction: 0xback'),
    ]);
  });

  test('shows a reversed transfer, and one that came instead', async () => {
    const checkout = await open();
    const transactionHash = await send(checkout, { finality: 'seen' });
    await send(checkout, { transactionHash, finality: 'reversed' });
    const undone = expect.stringContaining(
      'The network has undone this transfer: it does not count. Undone · Seen',
    );
    expect((await read(checkout)).told).toEqual([undone]);
    await send(checkout);
    expect((await read(checkout)).told).toEqual([
      undone,
      expect.stringContaining('Pays this order in full.'),
    ]);
  });

  test('shows an underpayment that was reversed, or became final after the end', async () => {
    const undone = await open();
    const part = { tokenAmount: CENT_ETH, transactionHash: `0x${randomBytes(32).toString('hex')}` };
    await send(undone, { ...part, finality: 'seen' });
    await send(undone, { ...part, finality: 'reversed' });
    const gone = await read(undone);
    expect(gone.told).toEqual([expect.stringContaining('The network has undone this transfer')]);
    // It comes back, and counts as before.
    await send(undone, part);
    expect((await read(undone)).told).toEqual([
      expect.stringContaining('The first part of this order. The rest is still due. Final'),
    ]);

    const late = await open();
    const { address, blockchain_id: blockchainId } = await late.payment();
    const transfer = { ...part, transactionHash: `0x${randomBytes(32).toString('hex')}` };
    await send(late, { ...transfer, finality: 'seen' });
    await expire(late);
    expect(await late.payment()).toMatchObject({
      status: 'unsuccessful',
      address,
      blockchain_id: blockchainId,
    });
    await send(late, transfer);
    expect((await read(late)).told).toEqual([expect.stringContaining(LATE)]);
  });

  test('lists the newest hundred, and says how many more there are', async () => {
    const checkout = await open();
    await send(checkout);
    const again = await depositOf(await send(checkout));
    // As if it had arrived 101 times more.
    await sql`
      with copies as (
        insert into deposits select copy.* from deposits, generate_series(1, 101) as n,
          jsonb_populate_record(deposits, jsonb_build_object(
            'id', md5(n::text)::uuid, 'transaction_hash', '0x' || repeat(md5(n::text), 2))) as copy
        where deposits.id = ${again.id}
        returning id
      )
      insert into deviating_deposits select copy.* from deviating_deposits, copies,
        jsonb_populate_record(deviating_deposits, jsonb_build_object('deposit_id', copies.id)) as copy
      where deviating_deposits.deposit_id = ${again.id}`.execute(service.db);
    const { told, list } = await read(checkout);
    expect(told).toHaveLength(100);
    expect(told.filter(text => text.includes(AGAIN))).toHaveLength(100);
    expect(list).toContain('Earlier transfers that are not listed: 3.');
  });
});

describe('at an address that others pay to as well', () => {
  test('a page shows only its own transfers', async () => {
    const shop = await addShop();
    const [one, other] = [await open(shop), await open(shop)];
    const asked = BigInt((await one.payment()).token_amount ?? 0);
    // With an amount that neither asked for, while both are open.
    await send(one, { tokenAmount: (asked * 3n) / 2n });
    await send(other);
    expect((await read(one)).told).toEqual([]);
    expect((await read(other)).told).toHaveLength(1);
    await send(one);
    expect((await read(one)).told).toEqual([expect.stringContaining('Pays this order in full.')]);
  });

  test('a transfer that turned out to be for another payment is only on that payment’s page', async () => {
    const shop = await addShop();
    const late = await open(shop);
    await expire(late);
    const hash = await send(late);
    const next = await open(shop);
    const [arrived, due] = [await late.payment(), await next.payment()].map(payment =>
      formatBaseUnits(BigInt(payment.token_amount ?? 0), 18),
    );
    const consent = { otherOrder: true, amounts: { arrived: arrived ?? '', due: due ?? '' } };
    const { id } = await depositOf(hash);
    await assignDeposit(operatorOf(service), id, next.paymentId, consent);
    expect((await read(late)).told).toEqual([]);
    expect((await read(next)).told).toEqual([
      expect.stringContaining('Credited to this order by hand.'),
    ]);
  });

  test('a transfer that was misread is not on the page of the payment that it seemed to be for', async () => {
    const [one, other] = [await open(), await open()];
    const { address } = await other.payment();
    const seen = { tokenAmount: CENT_ETH, finality: 'seen' } as const;
    const transactionHash = await send(one, seen);
    expect((await read(one)).told).toHaveLength(1);
    const corrected = { ...seen, transactionHash, address: address ?? '' };
    await send(one, { ...corrected, isCorrection: true });
    expect((await read(one)).told).toEqual([]);
    expect((await read(other)).told).toEqual([expect.stringContaining('The first part')]);
    await send(one, { ...corrected, finality: 'reversed' });
    expect((await read(one)).told).toEqual([]);
    expect((await read(other)).told).toEqual([expect.stringContaining('has undone this')]);
  });

  test('a transfer that names another payment is on no page, whatever its amount', async () => {
    const shop = await addShop();
    const [one, other] = [await open(shop), await open(shop)];
    const hash = await send(one, { references: [solanaReference(other.paymentId)] });
    expect((await depositOf(hash)).outcome).toBe('ambiguous');
    for (const each of [one, other]) expect((await read(each)).told).toEqual([]);
  });
});
