import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { revokeKey } from '#accounts/keys/manage-keys.ts';
import { setMerchant } from '#accounts/merchants.ts';
import { setNetwork } from '#accounts/networks.ts';
import { setPartner } from '#accounts/partners.ts';
import type { Step } from '#onchain/settlement/setup-steps.ts';
import {
  ADDRESSES,
  addMerchant,
  addPartner,
  type MerchantWithKey,
  operatorOf,
} from '../helpers/accounts.ts';
import { addMerchantUser } from '../helpers/panel.ts';
import { requestPrompt } from '../helpers/prompts.ts';
import { watchNetworks } from '../helpers/watch-networks.ts';
import { mpHere, type Operated, startOperated } from './mp.ts';

let service: Operated;
beforeAll(async () => {
  service = await startOperated();
});
afterAll(() => service.close());

interface Diagnosis {
  readonly canSettle: boolean;
  readonly steps: readonly (Omit<Step, 'finding'> & { readonly finding: string })[];
}

/** The command's JSON output; its status says whether something is missing. */
async function diagnose(merchantId: string, env = {}): Promise<Diagnosis> {
  const command = ['doctor', merchantId, '--json'];
  const { status, out, err } = await mpHere(command, { ...service.env, ...env });
  expect(err).toBe('');
  const diagnosis: Diagnosis = JSON.parse(out);
  expect(status).toBe(diagnosis.canSettle ? 0 : 1);
  return diagnosis;
}

const named = ({ steps }: Diagnosis, wanted: Step['state']) =>
  steps.filter(({ state }) => state === wanted).map(({ name }) => name);

test('it names one step after the other until all are done', async () => {
  const { db } = service;
  const live = { SIMULATION: 'off', PROCESSOR: '' };
  const { id } = await service.ask<{ id: string }>(
    ...['merchant', 'create', '--name', 'New', '--email', 'new@shop.example'],
  );
  const look = () => diagnose(id, live);
  const first = await look();
  expect(named(first, 'done')).toEqual(['account']);
  expect(named(first, 'missing')).toEqual(['node', 'address', 'key']);
  expect(named(first, 'advised')).toEqual(['domain', 'webhook', 'person']);
  for (const { state, remedy } of first.steps) expect(remedy === null).toBe(state === 'done');

  await watchNetworks(db, ['eth', 'eth-usdt'], new Date(Date.now() - 24 * 60 * 60_000));
  expect(named(await look(), 'missing')).toEqual(['address', 'key']);
  await service.ask(
    'address',
    'set',
    '--merchant',
    id,
    '--blockchain',
    'btc',
    '--address',
    ADDRESSES.btc,
  );
  const elsewhere = await look();
  expect(named(elsewhere, 'missing')).toEqual(['address', 'key']);
  expect(elsewhere.steps[2]).toMatchObject({
    finding: expect.stringContaining('addresses on btc alone'),
    remedy: `mp address set --merchant ${id} --blockchain NETWORK --address ADDRESS`,
  });
  await service.ask(
    'address',
    'set',
    '--merchant',
    id,
    '--blockchain',
    'eth',
    '--address',
    ADDRESSES.eth,
  );
  expect(named(await look(), 'missing')).toEqual(['worker', 'key']);
  await watchNetworks(db, ['eth', 'eth-usdt']);
  await sql`update chains set halted = 'another history' where id = 'eth'`.execute(db);
  expect((await look()).steps[3]).toMatchObject({
    state: 'missing',
    finding: 'The chain eth is halted: another history',
  });
  await watchNetworks(db, ['eth', 'eth-usdt']);
  expect(named(await look(), 'missing')).toEqual(['key']);
  await service.ask('key', 'create', '--merchant', id, '--name', 'Web shop');
  const enough = await look();
  expect(enough.canSettle).toBe(true);
  expect(named(enough, 'advised')).toEqual(['domain', 'webhook', 'person']);

  await service.ask('domain', 'add', '--merchant', id, '--domain', 'shop.example.com');
  await service.ask(
    'webhook',
    'create',
    '--merchant',
    id,
    '--url',
    'https://shop.example.com/hooks',
  );
  await addMerchantUser(service, id, 'admin');
  expect(named(await look(), 'done')).toHaveLength(first.steps.length + 1);
  // Without a panel, the panel's step is left out.
  expect(named(await diagnose(id, { ...live, NODE_ENV: 'production' }), 'advised')).toEqual([
    'person',
  ]);
  await sql`update networks set settled_by = 'simulation'`.execute(db);
});

describe('a creation behaves as it predicts', () => {
  const create = (key: MerchantWithKey) => requestPrompt(service, key, { amount: 5000 });

  test.each<[string, string, (shop: MerchantWithKey) => Promise<unknown>]>([
    [
      'account',
      'E2008',
      ({ merchant }) => setMerchant(operatorOf(service), merchant.id, { status: 'inactive' }),
    ],
    [
      'account',
      'E1030',
      ({ merchant }) =>
        sql`update branches set is_main = false where merchant_id = ${merchant.id}`.execute(
          service.db,
        ),
    ],
    [
      'address',
      'E1020',
      ({ merchant }) =>
        sql`delete from deposit_addresses where branch_id in (select id from branches where merchant_id = ${merchant.id})`.execute(
          service.db,
        ),
    ],
    ['key', 'E2005', ({ keyId }) => revokeKey(operatorOf(service), keyId)],
  ])('without its %s it is refused with %s', async (name, code, breakIt) => {
    const shop = await addMerchant(service);
    expect((await create(shop)).statusCode).toBe(201);
    expect((await diagnose(shop.merchant.id)).canSettle).toBe(true);
    await breakIt(shop);
    expect((await create(shop)).json()).toMatchObject({ error: { errorCode: code } });
    const diagnosis = await diagnose(shop.merchant.id);
    expect(named(diagnosis, 'missing')).toContain(name);
    const { finding } = diagnosis.steps.find(step => step.name === name) ?? {};
    if (name !== 'key') expect(finding).toContain(code);
  });

  test('while every network is switched off', async () => {
    const shop = await addMerchant(service, { addresses: { eth: ADDRESSES.eth } });
    await sql`update networks set is_active = false`.execute(service.db);
    expect((await create(shop)).json()).toMatchObject({ error: { errorCode: 'E1020' } });
    expect(named(await diagnose(shop.merchant.id), 'missing')).toEqual(['node']);
    await watchNetworks(service.db, ['eth']);
    const { steps } = await diagnose(shop.merchant.id);
    expect(steps[1]?.remedy).toBe('mp network set eth --active on');
    await setNetwork(operatorOf(service), 'eth', { active: true });
    expect((await diagnose(shop.merchant.id)).canSettle).toBe(true);
    expect((await create(shop)).statusCode).toBe(201);
    await sql`update networks set is_active = true, settled_by = 'simulation'`.execute(service.db);
  });

  test('if a partner has switched its merchants’ keys off', async () => {
    const { partner, keyId } = await addPartner(service);
    const shop = await addMerchant(service, { partnerId: partner.id });
    await setPartner(operatorOf(service), partner.id, { selfService: false });
    expect((await create(shop)).json()).toMatchObject({ error: { errorCode: 'E2103' } });
    // The partner can still create payments for it.
    expect((await diagnose(shop.merchant.id)).canSettle).toBe(true);
    await revokeKey(operatorOf(service), keyId);
    expect(named(await diagnose(shop.merchant.id), 'missing')).toEqual(['key']);
  });

  test('for a test merchant, for which main networks do not count', async () => {
    const shop = await addMerchant(service, { environment: 'test', addresses: {} });
    const addresses = async () => (await diagnose(shop.merchant.id)).steps[1];
    expect(await addresses()).toMatchObject({ name: 'node', state: 'done' });
    expect((await addresses())?.finding).toMatch(
      /^Networks that are offered: \S+-(test|dev)(, \S+-(test|dev))*\.$/,
    );
    const us = await addMerchant(service, { environment: 'test', kind: 'us', addresses: {} });
    const stripe = (mode: string) => ({
      PROCESSOR: 'stripe',
      STRIPE_SECRET_KEY: `sk_${mode}_x`,
      STRIPE_WEBHOOK_SECRET: 'whsec_x',
    });
    expect(named(await diagnose(us.merchant.id, stripe('test')), 'missing')).toEqual([]);
    expect(named(await diagnose(us.merchant.id, stripe('live')), 'missing')).toEqual([]);
  });

  test('on a US account, which needs approval and a processor instead of a chain', async () => {
    const shop = await addMerchant(service, { kind: 'us', approved: false });
    expect((await create(shop)).json()).toMatchObject({ error: { errorCode: 'E2102' } });
    expect(named(await diagnose(shop.merchant.id), 'missing')).toEqual(['account']);
    await setMerchant(operatorOf(service), shop.merchant.id, { onboarding: 'approved' });
    expect((await create(shop)).statusCode).toBe(201);
    const names = (await diagnose(shop.merchant.id)).steps.map(({ name }) => name);
    expect(names).toEqual(['account', 'processor', 'key', 'webhook', 'person']);
    const without = await diagnose(shop.merchant.id, { SIMULATION: 'off' });
    expect(named(without, 'missing')).toEqual(['processor']);
  });
});

test('without a merchant it lists those that it may be asked about, the newest first', async () => {
  const empty = await startOperated();
  const ask = () => mpHere(['doctor'], empty.env);
  expect(await ask()).toMatchObject({
    status: 2,
    out: '',
    err: expect.stringMatching(/^error: there is no merchant yet/),
  });
  const { merchant } = await addMerchant(empty, { name: 'First\u001b[2J shop' });
  const { err } = await ask();
  expect(err).toContain(
    `"mp doctor ID" takes one of\n  ${merchant.id}  First\\u001b[2J shop (live)\n`,
  );
  expect(err).not.toContain('older ones');
  await sql`insert into merchants
    select (jsonb_populate_record(m, jsonb_build_object('id', gen_random_uuid()))).*
    from merchants m, generate_series(1, 20)`.execute(empty.db);
  const many = await ask();
  expect(many.err.match(/^ {2}[0-9a-f-]{36} /gm)).toHaveLength(20);
  expect(many.err).toContain('\nand older ones, which "mp merchant list" shows\n');
  await empty.close();
});

test('it prints each step with its remedy, and a summary', async () => {
  const { merchant } = await addMerchant(service, { name: 'Blue\u001b[2J Coffee' });
  const { status, out } = await mpHere(['doctor', merchant.id], service.env);
  expect(status).toBe(0);
  expect(out).toMatch(/^done {5}account {4}It is active and has a main branch\.\n/);
  expect(out).toContain(
    `\nadvised  webhook    No webhook endpoint: a server learns outcomes only by asking for each payment.\n${' '.repeat(20)}mp webhook create --merchant ${merchant.id} --url URL\n`,
  );
  expect(out).toMatch(/\n\nA payment of Blue\\u001b\[2J Coffee can settle\.\n$/);
  const unknown = '01890a5d-ac96-774b-bcce-b302099a8057';
  expect(await service.refused('doctor', unknown)).toBe(`There is no merchant ${unknown}.`);
});
