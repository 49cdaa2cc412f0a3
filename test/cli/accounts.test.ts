import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addMerchant, addPartner } from '../helpers/accounts.ts';
import { createPrompt } from '../helpers/prompts.ts';
import { send } from '../helpers/signed-request.ts';
import { mpHere, type Operated, startOperated } from './mp.ts';

const UNKNOWN = '01890a5d-ac96-774b-bcce-b302099a8057';
const ID = expect.stringMatching(/^[0-9a-f-]{36}$/);
const INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

interface Listed {
  id: string;
  name: string;
}

let service: Operated;
beforeAll(async () => {
  service = await startOperated();
});
afterAll(() => service.close());

test('networks are listed and set', async () => {
  const networks = await service.ask<Listed[]>('network', 'list');
  expect(networks).toHaveLength(24);
  expect(networks.find(network => network.id === 'btc')).toEqual({
    id: 'btc',
    name: 'Bitcoin Mainnet',
    family: 'bitcoin',
    environment: 'production',
    assetSymbol: 'BTC',
    assetName: 'Bitcoin',
    assetDecimals: 8,
    windowMinutes: 60,
    settledBy: 'simulation',
    explorer: null,
    isActive: true,
    leastAmount: null,
    chain: 'btc',
    contract: null,
    finality: '1@100000,2@1000000,6',
  });
  const off = await service.ask('network', 'set', 'btc', '--active', 'off');
  expect(off).toMatchObject({ id: 'btc', isActive: false, windowMinutes: 60 });
  const both = ['--active', 'on', '--window-minutes', '45'];
  const on = await service.ask('network', 'set', 'btc', ...both);
  expect(on).toMatchObject({ isActive: true, windowMinutes: 45 });
  expect(await service.refused('network', 'set', 'doge', '--active', 'on')).toBe(
    'There is no network doge.',
  );
  const table = await mpHere(['network', 'list'], service.env);
  expect(table.out).toMatch(
    /^id +name +environment +assetSymbol +windowMinutes +settledBy +isActive\n/,
  );
  expect(table.out).toMatch(/\nbtc +Bitcoin Mainnet +production +BTC +45 +simulation +true\n/);
  // Without simulation, as in production, nothing is settled without a node.
  const real = { ...service.env, SIMULATION: 'off' };
  const { out } = await mpHere(['network', 'list'], real);
  expect(out).toMatch(/\nbtc +Bitcoin Mainnet +production +BTC +45 +nobody +true\n/);
  expect(out).not.toContain('simulation');
  const set = await mpHere(['network', 'set', 'btc', '--window-minutes', '45', '--json'], real);
  expect(JSON.parse(set.out)).toMatchObject({ id: 'btc', settledBy: 'nobody' });
});

test('an operator sets the least amount that payers are asked for, as a decimal of the asset', async () => {
  const set = (amount: string) => ['network', 'set', 'btc', '--least-amount', amount];
  expect(await service.ask(...set('0.0005'))).toMatchObject({ id: 'btc', leastAmount: '0.0005' });
  for (const wrong of ['0', '0.000000001', '-1', '1e-4', 'little']) {
    expect(await service.refused(...set(wrong))).toContain('The least amount of btc is refused');
  }
  expect(await service.ask(...set('off'))).toMatchObject({ leastAmount: null });
});

test('a network has a block explorer, https alone and off by default', async () => {
  const set = (explorer: string) => ['network', 'set', 'eth', '--explorer', explorer];
  const explorer = 'https://explorer.example/tx/{hash}?lang=en';
  expect(await service.ask(...set(explorer))).toMatchObject({ id: 'eth', explorer });
  for (const wrong of [
    'http://explorer.example/tx/{hash}',
    'https://explorer.example/tx/',
    'https://explorer.example/{hash}/{hash}',
    'https://explorer.example{hash}/',
    'https://{hash}.example/',
    'https://user:pass@explorer.example/{hash}',
    'https://explorer.example/"{hash}',
    'javascript:{hash}',
  ]) {
    const { status, err } = await mpHere(set(wrong), service.env);
    expect([status, err], wrong).toEqual([2, expect.stringContaining('Must be an https URL')]);
  }
  const audited = await service.ask<{ detail: unknown }[]>('audit', '--object', 'eth');
  expect(audited[0]?.detail).toEqual({ explorer });
  expect(await service.ask(...set('off'))).toMatchObject({ id: 'eth', explorer: null });
});

test('a merchant is created, shown, changed and listed', async () => {
  const name = ['--name', 'Shop & Söhne', '--email', 'shop@example.com'];
  const shop = await service.ask<Listed>('merchant', 'create', ...name);
  expect(Object.keys(shop)[0]).toBe('id');
  expect(shop).toEqual({
    id: ID,
    partnerId: null,
    name: 'Shop & Söhne',
    email: 'shop@example.com',
    environment: 'live',
    testOf: null,
    status: 'active',
    accountKind: 'standard',
    onboardingStatus: 'approved',
    settlementModel: 'split',
    commissionPayer: 'merchant',
    commissionBps: 0,
    underpaymentToleranceBps: 0,
    supportContact: null,
    accentColor: null,
    showsNote: false,
    logo: null,
    createdAt: INSTANT,
  });
  const branch = await service.ask('branch', 'create', '--merchant', shop.id, '--name', 'Berlin');
  expect(branch).toEqual({
    id: ID,
    merchantId: shop.id,
    name: 'Berlin',
    isMain: false,
    createdAt: INSTANT,
  });
  const main = ['branch', 'create', '--merchant', shop.id, '--name', 'New', '--main'];
  expect(await service.ask(...main)).toMatchObject({ name: 'New', isMain: true });
  expect(await service.ask('merchant', 'show', shop.id.toUpperCase())).toEqual({
    ...shop,
    redirectDomains: [],
    branches: [
      { id: ID, name: 'New', isMain: true, addresses: [] },
      { id: ID, name: 'Main', isMain: false, addresses: [] },
      { id: ID, name: 'Berlin', isMain: false, addresses: [] },
    ],
  });
  expect(await service.ask('branch', 'list', '--merchant', shop.id)).toEqual([
    { ...branch, id: ID, name: 'New', isMain: true, createdAt: INSTANT },
    { ...branch, id: ID, name: 'Main', createdAt: INSTANT },
    branch,
  ]);
  const inactive = await service.ask('merchant', 'set', shop.id, '--status', 'inactive');
  expect(inactive).toEqual({ ...shop, status: 'inactive' });
});

test('every setting of a merchant can be changed', async () => {
  const flags = ['--name', 'Before', '--email', 'before@example.com'];
  const shop = await service.ask<Listed>('merchant', 'create', ...flags);
  const partner = await service.ask<Listed>('partner', 'create', '--name', 'Agency');
  const settings: [string, string, string][] = [
    ['--name', 'name', 'After'],
    ['--email', 'email', 'after@example.com'],
    ['--status', 'status', 'inactive'],
    ['--onboarding', 'onboardingStatus', 'rejected'],
    ['--partner', 'partnerId', partner.id],
    ['--settlement', 'settlementModel', 'direct'],
    ['--commission-payer', 'commissionPayer', 'shopper'],
    ['--commission-bps', 'commissionBps', '125'],
    ['--underpayment-tolerance-bps', 'underpaymentToleranceBps', '200'],
  ];
  let expected: object = shop;
  for (const [flag, field, value] of settings) {
    expected = { ...expected, [field]: field.endsWith('Bps') ? Number(value) : value };
    expect(await service.ask('merchant', 'set', shop.id, flag, value)).toEqual(expected);
  }
  expect(await service.ask('merchant', 'show', shop.id)).toMatchObject(expected);
});

test('terms of a merchant apply to payments created afterwards', async () => {
  const shop = await addMerchant(service, { commissionBps: 100 });
  const create = () => createPrompt(service, shop, { amount: 5000 });
  const { prompt: before } = await create();
  const terms = ['--settlement', 'direct', '--commission-payer', 'shopper'];
  await service.ask('merchant', 'set', shop.merchant.id, ...terms);
  const { prompt: after } = await create();
  const models = [before, after].map(({ settlementModel, commissionPayer }) => [
    settlementModel,
    commissionPayer,
  ]);
  expect(models).toEqual([
    ['split', 'merchant'],
    ['direct', 'shopper'],
  ]);
  const read = await send(service, shop, { path: `/external/v1/payments/${before.id}` });
  expect(read.json()).toMatchObject({ settlementModel: 'split', commissionPayer: 'merchant' });
});

test('a member that becomes inactive or gets another role has other keys at once', async () => {
  const { member, ...key } = await addPartner(service);
  const answer = async (path: string) => {
    const response = await send(service, key, { path: `/external/partner/${path}` });
    return response.statusCode === 200 ? 200 : response.json().error.errorCode;
  };
  expect(await answer('team')).toBe(200);
  expect(await service.ask('member', 'set', member.id, '--role', 'developer')).toEqual({
    id: member.id,
    partnerId: member.partner_id,
    name: 'Member',
    email: 'member@example.com',
    role: 'developer',
    status: 'active',
    signsIn: false,
    createdAt: member.created_at.toISOString(),
  });
  expect([await answer('team'), await answer('overview')]).toEqual(['E2101', 200]);
  const inactive = await service.ask('member', 'set', member.id, '--status', 'inactive');
  expect(inactive).toMatchObject({ role: 'developer', status: 'inactive' });
  expect(await answer('overview')).toBe('E2008');
  const log = await service.ask('audit', '--object', member.id);
  expect(log).toMatchObject([
    { action: 'member.set', detail: { status: 'inactive' } },
    { action: 'member.set', detail: { role: 'developer' } },
    { action: 'member.create' },
  ]);
});

test('a US merchant of a partner starts with onboarding pending', async () => {
  const partner = await service.ask<Listed>('partner', 'create', '--name', 'Agency');
  const us = await service.ask<Listed>(
    ...['merchant', 'create', '--name', 'US', '--email', 'us@example.com', '--kind', 'us'],
    ...['--partner', partner.id, '--settlement', 'direct', '--commission-payer', 'shopper'],
    ...['--commission-bps', '250', '--underpayment-tolerance-bps', '50', '--no-main-branch'],
  );
  expect(us).toMatchObject({
    partnerId: partner.id,
    accountKind: 'us',
    onboardingStatus: 'pending',
    settlementModel: 'direct',
    commissionPayer: 'shopper',
    commissionBps: 250,
    underpaymentToleranceBps: 50,
  });
  expect(await service.ask('merchant', 'show', us.id)).toMatchObject({ branches: [] });
  const given = ['--name', 'Shop (test)', '--email', 'test@example.com', '--test'];
  const tested = await service.ask<Listed>('merchant', 'create', ...given);
  expect(tested).toMatchObject({ environment: 'test' });
  expect((await mpHere(['merchant', 'list'], service.env)).out).toMatch(/ Shop \(test\) +test +/);
  const btc = ['--blockchain', 'btc', '--address', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'];
  expect(await service.refused('address', 'set', '--merchant', tested.id, ...btc)).toBe(
    'A test merchant has addresses on test networks alone, and btc is a main network.',
  );
  expect(await mpHere(['merchant', 'set', tested.id, '--test'], service.env)).toMatchObject({
    status: 2,
  });
  const change = ['--onboarding', 'approved', '--partner', 'none'];
  expect(await service.ask('merchant', 'set', us.id, ...change)).toMatchObject({
    onboardingStatus: 'approved',
    partnerId: null,
  });
});

test('partners and their members are created, changed and listed', async () => {
  const partner = await service.ask<Listed>(
    ...['partner', 'create', '--name', 'House', '--self-service', 'on'],
  );
  expect(partner).toEqual({
    id: ID,
    name: 'House',
    status: 'active',
    selfServiceApiPayments: true,
    createdAt: INSTANT,
  });
  const member = await service.ask<Listed>(
    ...['member', 'create', '--partner', partner.id, '--name', 'Ann'],
    ...['--email', 'ann@example.com', '--role', 'developer'],
  );
  expect(member).toEqual({
    id: ID,
    partnerId: partner.id,
    name: 'Ann',
    email: 'ann@example.com',
    role: 'developer',
    status: 'active',
    signsIn: false,
    createdAt: INSTANT,
  });
  expect(await service.ask('member', 'list', '--partner', partner.id)).toEqual([member]);
  expect(await service.ask('partner', 'show', partner.id)).toEqual({
    ...partner,
    members: [member],
  });
  const change = ['--status', 'inactive', '--self-service', 'off'];
  const changed = await service.ask('partner', 'set', partner.id, ...change);
  expect(changed).toEqual({ ...partner, status: 'inactive', selfServiceApiPayments: false });
});

test.each(['merchant', 'partner'])('%ss are listed in pages, newest first', async noun => {
  const ids: string[] = [];
  for (const name of ['One', 'Two', 'Three']) {
    const flags = noun === 'merchant' ? ['--email', 'shop@example.com'] : [];
    const row = await service.ask<Listed>(noun, 'create', '--name', name, ...flags);
    ids.unshift(row.id);
  }
  const page = await service.ask<Listed[]>(noun, 'list', '--limit', '2');
  expect(page.map(row => row.id)).toEqual(ids.slice(0, 2));
  const rest = await service.ask<Listed[]>(noun, 'list', '--before', ids[1] ?? '');
  expect(rest[0]?.id).toBe(ids[2]);
  const { out } = await mpHere([noun, 'list', '--limit', '2'], service.env);
  expect(out).toContain(`\nThere may be more: --before ${ids[1]}\n`);
});

test.each([
  [['merchant', 'show', UNKNOWN], 'merchant'],
  [['merchant', 'set', UNKNOWN, '--status', 'active'], 'merchant'],
  [['merchant', 'list', '--before', UNKNOWN], 'merchant'],
  [['branch', 'create', '--merchant', UNKNOWN, '--name', 'A'], 'merchant'],
  [['branch', 'list', '--merchant', UNKNOWN], 'merchant'],
  [['member', 'set', UNKNOWN, '--role', 'owner'], 'partner member'],
  [['partner', 'show', UNKNOWN], 'partner'],
  [['partner', 'set', UNKNOWN, '--self-service', 'on'], 'partner'],
  [['partner', 'list', '--before', UNKNOWN], 'partner'],
  [['member', 'list', '--partner', UNKNOWN], 'partner'],
  [
    ['member', 'create', '--partner', UNKNOWN, '--name', 'A', '--email', 'a@b.de'].concat(
      ...['--role', 'owner'],
    ),
    'partner',
  ],
  [['merchant', 'create', '--name', 'A', '--email', 'a@b.de', '--partner', UNKNOWN], 'partner'],
])('refuses an unknown account: mp %j', async (args, noun) => {
  expect(await mpHere(args, service.env)).toEqual({
    status: 1,
    out: '',
    err: `There is no ${noun} ${UNKNOWN}.\n`,
  });
});

test('every change is in the audit log with the name of who made it', async () => {
  const env = { ...service.env, MP_ACTOR: undefined };
  const made = await mpHere(['partner', 'create', '--name', 'Audited', '--json'], env);
  const { id } = JSON.parse(made.out);
  const args = ['partner', 'set', id, '--status', 'inactive', '--json'];
  await mpHere(args, { ...service.env, MP_ACTOR: 'Zoë (on call)' });
  const log = await service.db
    .selectFrom('audit_log')
    .select(['actor', 'action', 'object_type', 'detail'])
    .where('object_id', '=', id)
    .orderBy('at')
    .execute();
  expect(log).toEqual([
    {
      actor: expect.stringMatching(/./),
      action: 'partner.create',
      object_type: 'partner',
      detail: { name: 'Audited', selfService: false },
    },
    {
      actor: 'Zoë (on call)',
      action: 'partner.set',
      object_type: 'partner',
      detail: { status: 'inactive' },
    },
  ]);
  expect(log[0]?.actor).not.toBe('alice');
});

test('what payers see of a merchant is set, shown and removed', async () => {
  const shop = await service.ask<Listed>(
    ...['merchant', 'create', '--name', 'Looks', '--email', 'looks@example.com'],
  );
  const set = (...flags: string[]) => ['merchant', 'set', shop.id, ...flags];
  const directory = await mkdtemp(join(tmpdir(), 'eps-logo-'));
  try {
    const [logo, wrong] = [join(directory, 'logo.webp'), join(directory, 'logo.svg')];
    await writeFile(logo, 'UklGRhwAAABXRUJQVlA4TBAAAAAvB8ABAAdQwChg/wMR0f8A', 'base64');
    await writeFile(wrong, '<svg/>');
    const looks = {
      logo: expect.stringMatching(/^[0-9a-f]{64}$/),
      accentColor: '#7c3aed',
      supportContact: 'help@example.com',
      showsNote: true,
    };
    const flags = ['--accent', '#7C3AED', '--support', 'help@example.com', '--show-note', 'on'];
    expect(await service.ask(...set('--logo', logo, ...flags))).toMatchObject(looks);
    expect(await service.ask('merchant', 'show', shop.id)).toMatchObject(looks);
    expect(await service.refused(...set('--logo', wrong))).toBe(
      `The image "${wrong}" is neither PNG nor WebP.`,
    );
    expect(await service.refused(...set('--logo', `${wrong}x`))).toBe(
      `The logo cannot be read from "${wrong}x" (ENOENT).`,
    );
    const gone = ['--logo', 'none', '--accent', 'none', '--support', 'none', '--show-note', 'off'];
    expect(await service.ask(...set(...gone))).toMatchObject({
      logo: null,
      accentColor: null,
      supportContact: null,
      showsNote: false,
    });
  } finally {
    await rm(directory, { recursive: true });
  }
});
