import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addMerchant, addPartner, type MerchantWithKey } from '../helpers/accounts.ts';
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

  test('confirms what was detected before, and shows the history', async () => {
    const id = await createPayment();
    const { transactionHash } = await simulate(id, 'detect');
    await simulate(id, 'confirm');
    const shown = await service.ask<ShownPayment>('payment', 'show', id);
    expect(shown).toMatchObject({ status: 'successful', blockchainId: 'eth', transactionHash });
    expect(shown.history.map(({ from, to, actor }) => [from, to, actor])).toEqual([
      ['pending/pending', 'pending/completed', 'chain'],
      ['pending/completed', 'successful/completed', 'chain'],
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
      [{ ...without, NODE_ENV: 'production' }, 'cannot be simulated in production'],
      [{ ...without, NODE_ENV: undefined }, 'needs SIMULATION=on'],
    ] as const) {
      const refused = await mpHere(['payment', 'simulate', id, '--case', 'confirm'], env);
      expect(refused).toMatchObject({ status: 1, out: '' });
      expect(refused.err).toContain(reason);
    }
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

test('the inbox lists what no payment took, and lets go of it', async () => {
  const inbox = () =>
    service.ask<{ id: string; outcome: string }[]>('deposit', 'list', '--unmatched');
  const before = (await inbox()).map(deposit => deposit.id);
  const ended = await createPayment();
  await simulate(ended, 'late');
  const [late] = (await inbox()).filter(deposit => !before.includes(deposit.id));
  expect(late).toMatchObject({ outcome: 'late', paymentId: null });
  const deposit = late?.id ?? '';

  expect(await service.refused('deposit', 'assign', deposit, ended)).toContain('has ended');
  const open = await createPayment();
  expect(await service.refused('deposit', 'assign', deposit, open)).toContain('another network');
  await simulate(open, 'reorg');
  expect(await service.ask('deposit', 'assign', deposit, open)).toMatchObject({
    outcome: 'assigned',
    paymentId: open,
  });
  expect(await service.ask('payment', 'show', open)).toMatchObject({ status: 'successful' });
  expect(await service.refused('deposit', 'dismiss', deposit)).toContain('belongs to payment');

  await simulate(await createPayment(), 'late');
  const [another] = (await inbox()).filter(one => !before.includes(one.id));
  await service.ask('deposit', 'dismiss', another?.id ?? '');
  expect((await inbox()).map(one => one.id)).toEqual(before);
});
