import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import { insertReservation } from '#storage/repositories/deposits/reservations.ts';
import { updateOpenPayment } from '#storage/repositories/payments/moves.ts';
import { addMerchant, addPartner, type MerchantWithKey } from '../helpers/accounts.ts';
import { releaseAll } from '../helpers/open-payment.ts';
import { addPayment } from '../helpers/payments.ts';
import { send } from '../helpers/signed-request.ts';
import { mpHere, type Operated, startOperated } from './mp.ts';

interface ShownPayment {
  id: string;
  status: string;
  sessionStatus: string;
  blockchainId: string;
  transactionHash: string | null;
  lastError: { code: string } | null;
  history: { from: string; to: string; actor: string }[];
  deposits: { id: string; state: string; outcome: string }[];
}

let service: Operated;
let shop: MerchantWithKey;
let partnerId: string;

beforeAll(async () => {
  service = await startOperated();
  partnerId = (await addPartner(service)).partner.id;
  shop = await addMerchant(service, { partnerId });
});
afterAll(() => service.close());

async function createPayment(): Promise<string> {
  const response = await send(service, shop, {
    path: '/external/v1/payments/prompt',
    body: { amount: 5000 },
  });
  return response.json().prompt.id;
}

const simulate = (id: string, play: string) =>
  service.ask<ShownPayment>('payment', 'simulate', id, '--case', play, '--network', 'eth');

describe('mp payment simulate', () => {
  test.each([
    ['detect', 'pending/completed', null],
    ['confirm', 'successful/completed', null],
    ['over', 'successful/completed', null],
    ['duplicate', 'successful/completed', null],
    ['rest', 'successful/completed', null],
    ['under', 'pending/pending', 'amount_underpaid'],
    ['late', 'expired/expired', null],
    ['revert', 'unsuccessful/completed', 'transaction_reverted'],
    ['fail', 'unsuccessful/completed', 'transaction_reverted'],
    ['reorg', 'pending/pending', 'transfer_reversed'],
    ['cancel', 'cancelled/cancelled', null],
  ])('%s leads to %s', async (play, state, error) => {
    const id = await createPayment();
    const shown = await simulate(id, play);
    expect(`${shown.status}/${shown.sessionStatus}`).toBe(state);
    expect(shown.lastError?.code ?? null).toBe(error);
    const read = await send(service, shop, { path: `/external/v1/payments/${id}` });
    expect(read.json().status).toBe(shown.status);
    expect(read.json().lastError?.code ?? null).toBe(error);
  });

  test('confirms a detected payment, and shows the history', async () => {
    const id = await createPayment();
    const { transactionHash } = await simulate(id, 'detect');
    await simulate(id, 'confirm');
    const shown = await service.ask<ShownPayment>('payment', 'show', id);
    expect(shown).toMatchObject({ status: 'successful', blockchainId: 'eth', transactionHash });
    expect(shown.history.map(({ from, to, actor }) => [from, to, actor])).toEqual([
      ['pending/pending', 'pending/completed', 'simulation'],
      ['pending/completed', 'successful/completed', 'simulation'],
    ]);
    expect(shown.deposits).toMatchObject([{ state: 'final', outcome: 'exact' }]);
    expect(await service.ask('partner', 'verify', partnerId)).toEqual({
      id: partnerId,
      exact: true,
      discrepancies: [],
    });
  });

  test('is refused in production, on US accounts and for unknown payments and networks', async () => {
    const id = await createPayment();
    const without = { ...service.env, SIMULATION: undefined };
    for (const [env, reason] of [
      [
        { ...without, NODE_ENV: 'production' },
        'In production only payments of test merchants are simulated',
      ],
      [{ ...without, NODE_ENV: undefined }, 'needs SIMULATION=on'],
    ] as const) {
      const refused = await mpHere(['payment', 'simulate', id, '--case', 'confirm'], env);
      expect(refused).toMatchObject({ status: 1, out: '' });
      expect(refused.err).toContain(reason);
    }
    const entries = service.db.selectFrom('audit_log').select('action');
    expect(await entries.where('object_id', '=', id).execute()).toEqual(
      Array(2).fill({ action: 'payment.refuse-simulation' }),
    );
    expect(
      await service.refused('payment', 'simulate', id, '--case', 'confirm', '--network', 'sol'),
    ).toBe('sol is not offered for this payment.');
    const unknown = '01890a5d-ac96-774b-bcce-b302099a8057';
    expect(await service.refused('payment', 'show', unknown)).toBe(
      `There is no payment ${unknown}.`,
    );
    expect((await mpHere(['payment', 'simulate', id, '--case', 'magic'])).status).toBe(2);
    expect((await mpHere(['payment', 'simulate', id])).status).toBe(2);
  });
});

test('deposits are listed with decimals, their merchant and the payments they would fit', async () => {
  const { merchant } = await addMerchant(service, { addresses: {} });
  const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
  const owner = ['--merchant', merchant.id, '--blockchain', 'eth'];
  await service.ask('address', 'set', ...owner, '--address', address);
  const now = new Date();
  const wait = async (tokenAmount: bigint) => {
    const { id } = await addPayment(service.db, merchant, { created_at: now });
    const slot = { blockchainId: 'eth', address, tokenAmount };
    await insertReservation(service.db, id, slot, now);
    const columns = {
      blockchain_id: 'eth',
      address,
      token_amount: tokenAmount,
      token_decimals: 18,
    };
    await updateOpenPayment(service.db, id, columns);
    return id;
  };
  const far = await wait(3_000_000_000_000_000_000n);
  const near = await wait(1_500_000_000_000_000_001n);
  const ended = await wait(1_500_000_000_000_000_002n);
  await service.ask('payment', 'simulate', ended, '--case', 'cancel');
  const receive = (transactionHash: string, tokenAmount: bigint) =>
    observeTransfer(
      service.db,
      {
        blockchainId: 'eth',
        address,
        transactionHash,
        tokenAmount,
        position: 0,
        blockHeight: 1,
        blockHash: null,
        occurredAt: new Date(),
        source: 'chain',
        finality: 'final',
      },
      new Date(),
    );
  const deposit = await receive('0xunclear', 1_500_000_000_000_000_000n);
  const find = async (...flags: string[]) =>
    (await service.ask<{ id: string }[]>('deposit', 'list', ...flags)).find(
      ({ id }) => id === deposit.id,
    );
  expect(await find('--unmatched')).toMatchObject({
    outcome: 'ambiguous',
    tokenAmount: '1.5',
    assetSymbol: 'ETH',
    paymentId: null,
    merchantIds: [merchant.id],
    fits: [
      { paymentId: near, tokenAmount: '1.500000000000000001' },
      { paymentId: far, tokenAmount: '3' },
    ],
  });
  const { out } = await mpHere(['deposit', 'list', '--unmatched'], service.env);
  expect(out).toContain(`  1.5 ETH  `);
  expect(out).toContain(`${near} (1.500000000000000001), ${far} (3)`);

  // Who had a payment at an address is still known after the address was removed.
  await service.ask('address', 'remove', ...owner);
  expect(await find()).toMatchObject({ merchantIds: [merchant.id] });
  // It is too little by one smallest unit.
  expect(await service.refused('deposit', 'assign', deposit.id, near)).toBe(
    '1.5 arrived, and 1.500000000000000001 is due: too little to settle the payment. Type both amounts to confirm it. To assign it all the same, add both amounts: --arrived and --due.',
  );
  const amounts = ['--arrived', '1.5', '--due', '1.500000000000000001'];
  await service.ask('deposit', 'assign', deposit.id, near, ...amounts);
  expect(await find()).toMatchObject({
    outcome: 'assigned',
    paymentId: near,
    merchantIds: [merchant.id],
    fits: [],
  });
  expect(await service.ask('payment', 'show', near)).toMatchObject({
    deposits: [{ id: deposit.id, tokenAmount: '1.5', assetSymbol: 'ETH' }],
  });
});

test('the inbox lists deposits that no payment took, and deposits can be dismissed', async () => {
  const inbox = () =>
    service.ask<{ id: string; outcome: string }[]>('deposit', 'list', '--unmatched');
  const before = (await inbox()).map(deposit => deposit.id);
  const ended = await createPayment();
  await simulate(ended, 'late');
  const [late] = (await inbox()).filter(deposit => !before.includes(deposit.id));
  expect(late).toMatchObject({ outcome: 'late', paymentId: null, meantFor: ended });
  const deposit = late?.id ?? '';

  expect(await service.refused('deposit', 'assign', deposit, ended)).toBe(
    'The payment has ended: it is expired and stays so. Settle with the customer, then dismiss the deposit with a note of how.',
  );
  const open = await createPayment();
  expect(await service.refused('deposit', 'assign', deposit, open)).toContain('another network');
  await simulate(open, 'reorg');
  expect(await service.refused('deposit', 'assign', deposit, open)).toBe(
    `It was meant for payment ${ended}, which is expired. Make sure that it is not that customer’s money. To assign it all the same, add --other-order.`,
  );
  expect(await service.ask('payment', 'show', ended)).toMatchObject({
    strayDeposits: [{ id: deposit, outcome: 'late', remedy: null }],
  });
  const dues = await amountsOf(deposit, open);
  expect(
    await service.ask('deposit', 'assign', deposit, open, '--other-order', ...dues),
  ).toMatchObject({
    outcome: 'assigned',
    paymentId: open,
  });
  expect(await service.ask('payment', 'show', open)).toMatchObject({ status: 'successful' });
  expect(await service.refused('deposit', 'dismiss', deposit, '--kept')).toContain(
    'belongs to payment',
  );
  const paid = await createPayment();
  await simulate(paid, 'duplicate');
  const [double] = (await inbox()).filter(one => !before.includes(one.id));
  expect(await service.refused('deposit', 'assign', double?.id ?? '', paid)).toContain('has ended');
  const seen = await createPayment();
  await simulate(seen, 'detect');
  expect(await service.refused('deposit', 'assign', double?.id ?? '', seen)).toContain(
    'has funds already. Settle with the customer',
  );
  expect(double).toMatchObject({ outcome: 'duplicate' });
  const unsaid = await mpHere(['deposit', 'dismiss', double?.id ?? ''], service.env);
  expect(unsaid).toMatchObject({ status: 2 });
  expect(unsaid.err).toContain('say what was done with the money');
  const returned = ['--returned-to', 'Ada', '--return-hash', '0xback'];
  expect(await service.ask('deposit', 'dismiss', double?.id ?? '', ...returned)).toMatchObject({
    remedy: { remedy: 'returned', to: 'Ada', transactionHash: '0xback', note: null },
  });

  await simulate(await createPayment(), 'late');
  const [another] = (await inbox()).filter(one => !before.includes(one.id));
  await service.ask('deposit', 'dismiss', another?.id ?? '', '--note', 'a voucher');
  expect((await inbox()).map(one => one.id)).toEqual(before);
});

test('a part of an ended payment is recorded as returned, once', async () => {
  await releaseAll(service.db);
  const id = await createPayment();
  const part = (await simulate(id, 'under')).deposits[0]?.id ?? '';
  const flags = ['--to', 'bc1qada', '--hash', '0xback', '--note', 'ticket 7'];
  expect(await service.refused('deposit', 'return', part, ...flags)).toContain('is still open');
  await simulate(id, 'expire');
  const unsaid = await mpHere(['deposit', 'return', part, '--to', 'bc1qada'], service.env);
  expect(unsaid).toMatchObject({ status: 2, err: expect.stringContaining('--hash') });
  const blank = ['--to', 'bc1qada', '--hash', ' '];
  expect(await mpHere(['deposit', 'return', part, ...blank], service.env)).toMatchObject({
    status: 2,
  });
  const returned = { at: expect.any(String), to: 'bc1qada', transactionHash: '0xback' };
  const object = { id: part, remedy: null, returned: { ...returned, note: 'ticket 7' } };
  expect(await service.ask('deposit', 'return', part, ...flags)).toMatchObject(object);
  expect(await service.ask('payment', 'show', id)).toMatchObject({ deposits: [object] });
  expect(await service.refused('deposit', 'return', part, ...flags)).toBe(
    'It is recorded already that the deposit was returned.',
  );
});

/** The flags that let a deposit settle a payment, whether or not it suffices. */
async function amountsOf(depositId: string, paymentId: string): Promise<string[]> {
  const deposits = await service.ask<{ id: string; tokenAmount: string }[]>('deposit', 'list');
  const { tokenAmount } = await service.ask<{ tokenAmount: string }>('payment', 'show', paymentId);
  const arrived = deposits.find(({ id }) => id === depositId)?.tokenAmount ?? '';
  return ['--arrived', arrived, '--due', tokenAmount];
}
