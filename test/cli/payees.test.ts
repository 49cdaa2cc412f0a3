import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addAddress } from '#accounts/deposit-addresses.ts';
import { addDomain } from '#accounts/redirect-domains.ts';
import { ADDRESSES, operatorOf } from '../helpers/accounts.ts';
import { mpHere, type Operated, startOperated } from './mp.ts';

const UNKNOWN = '01890a5d-ac96-774b-bcce-b302099a8057';

let service: Operated;
let shop: string;
beforeAll(async () => {
  service = await startOperated();
  shop = await createMerchant();
});
afterAll(() => service.close());

async function createMerchant(): Promise<string> {
  const args = ['merchant', 'create', '--name', 'Shop', '--email', 'shop@example.com'];
  return (await service.ask<{ id: string }>(...args)).id;
}

test('addresses are set in canonical spelling, listed and removed', async () => {
  const owner = ['--merchant', shop];
  const eth = ['--blockchain', 'eth', '--address', ADDRESSES.eth.toLowerCase()];
  const set = await service.ask<{ branchId: string }>('address', 'set', ...owner, ...eth);
  expect(set).toMatchObject({ blockchainId: 'eth', address: ADDRESSES.eth });
  await service.ask('address', 'set', ...owner, '--blockchain', 'btc', '--address', ADDRESSES.btc);
  expect(await service.ask('address', 'list', ...owner)).toEqual([
    { blockchainId: 'btc', address: ADDRESSES.btc, wallet: null },
    { blockchainId: 'eth', address: ADDRESSES.eth, wallet: null },
  ]);

  const branch = await service.ask<{ id: string }>(
    ...['branch', 'create', '--merchant', shop, '--name', 'Second'],
  );
  const second = [...owner, '--branch', branch.id];
  expect(await service.ask('address', 'list', ...second)).toEqual([]);
  const empty = await mpHere(['address', 'list', ...second], service.env);
  expect(empty.out).toBe('None.\n');

  const { out } = await mpHere(['merchant', 'show', shop], service.env);
  expect(out).toContain(`\n  id      ${set.branchId}\n`);
  expect(out).toContain(`\n    btc           ${ADDRESSES.btc}  -\n`);

  expect(await service.ask('address', 'remove', ...owner, '--blockchain', 'btc')).toEqual({
    branchId: set.branchId,
    blockchainId: 'btc',
    address: ADDRESSES.btc,
    walletId: null,
  });
  expect(await service.refused('address', 'remove', ...owner, '--blockchain', 'btc')).toBe(
    'The branch has no address on btc.',
  );
});

test('a branch has several addresses on a network, and set replaces them by one', async () => {
  const owner = ['--merchant', await createMerchant(), '--blockchain', 'btc'];
  const add = (address: string) => service.ask('address', 'add', ...owner, '--address', address);
  const list = async () => {
    const all = await service.ask<{ address: string }[]>('address', 'list', ...owner.slice(0, 2));
    return all.map(({ address }) => address);
  };
  const [first, second] = [
    '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
    '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy',
  ];
  for (const address of [ADDRESSES.btc, first, second, first]) await add(address);
  expect((await list()).toSorted()).toEqual([first, second, ADDRESSES.btc]);
  const remove = ['address', 'remove', ...owner];
  expect(await service.refused(...remove)).toBe(
    'The branch has 3 addresses on btc: name the one to remove.',
  );
  await service.ask(...remove, '--address', second);
  expect(await service.refused(...remove, '--address', second)).toBe(
    'The branch does not have this address on btc.',
  );
  const { branchId } = await service.ask<{ branchId: string }>(
    ...['address', 'set', ...owner, '--address', second],
  );
  expect(await list()).toEqual([second]);
  const audit = await service.db
    .selectFrom('audit_log')
    .select('detail')
    .where('object_id', '=', branchId)
    .where('action', '=', 'address.set')
    .executeTakeFirstOrThrow();
  expect(audit.detail).toEqual({
    blockchainId: 'btc',
    address: second,
    replaced: expect.arrayContaining([first, ADDRESSES.btc]),
  });
});

test('a branch has at most 20 addresses on a network, also when two are added concurrently', async () => {
  const merchantId = await createMerchant();
  const owner = ['--merchant', merchantId, '--blockchain', 'eth'];
  const address = (number: number) => `0x${'5a'.repeat(16)}${number.toString(16).padStart(8, '0')}`;
  const add = (number: number) => ['address', 'add', ...owner, '--address', address(number)];
  for (let number = 1; number <= 18; number++) {
    await addAddress(operatorOf(service), { merchantId }, 'eth', address(number));
  }
  await service.ask(...add(19));
  const [first, second] = await Promise.all([
    mpHere(add(20), service.env),
    mpHere(add(21), service.env),
  ]);
  expect([first.status, second.status].sort()).toEqual([0, 1]);
  expect(first.err + second.err).toBe('A branch may have at most 20 addresses on a network.\n');
  // Adding an existing one is no addition.
  await service.ask(...add(1));
});

test('an address is refused with the reason, and never repeated', async () => {
  const privateKey = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
  const cases: [string, string, string][] = [
    ['eth', ADDRESSES.eth.replace('f39F', 'f39f'), 'checksum'],
    ['btc', ADDRESSES['btc-test'], 'The address is refused:'],
    ['btc', ADDRESSES.eth, 'The address is refused:'],
    ['eth', privateKey, 'The address is refused:'],
    ['tron-usdc', `${ADDRESSES['tron-usdc']}x`, 'The address is refused:'],
    ['doge', ADDRESSES.btc, 'There is no network doge.'],
  ];
  for (const [network, address, reason] of cases) {
    const args = ['address', 'set', '--merchant', shop, '--blockchain', network];
    const { status, out, err } = await mpHere([...args, '--address', address], service.env);
    expect({ status, out }).toEqual({ status: 1, out: '' });
    expect(err).toContain(reason);
    expect(err).not.toContain(address);
    expect(err.trimEnd()).not.toContain('\n');
  }
});

test('a branch has to be one of the merchant', async () => {
  const other = await createMerchant();
  const { branches } = await service.ask<{ branches: { id: string }[] }>(
    ...['merchant', 'show', other],
  );
  const branch = branches[0]?.id ?? '';
  const list = ['address', 'list', '--merchant', shop, '--branch'];
  expect(await service.refused(...list, branch)).toBe(`The merchant has no branch ${branch}.`);
  const unknown = await mpHere(['address', 'list', '--merchant', UNKNOWN], service.env);
  expect(unknown).toMatchObject({ status: 1, err: `There is no merchant ${UNKNOWN}.\n` });
});

test('domains are added in canonical spelling, listed and removed', async () => {
  const owner = ['--merchant', shop];
  expect(await service.ask('domain', 'add', ...owner, '--domain', 'Shop.Example.COM')).toEqual({
    merchantId: shop,
    domain: 'shop.example.com',
  });
  await service.ask('domain', 'add', ...owner, '--domain', 'localhost');
  expect(await service.ask('domain', 'list', ...owner)).toEqual([
    { merchantId: shop, domain: 'localhost' },
    { merchantId: shop, domain: 'shop.example.com' },
  ]);
  await service.ask('domain', 'remove', ...owner, '--domain', 'SHOP.example.com');
  expect(await service.ask('merchant', 'show', shop)).toMatchObject({
    redirectDomains: ['localhost'],
  });
  const removed = ['domain', 'remove', ...owner, '--domain', 'shop.example.com'];
  expect(await service.refused(...removed)).toBe(
    'The merchant has no redirect domain shop.example.com.',
  );
  for (const verb of ['add', 'remove', 'list']) {
    const domain = verb === 'list' ? [] : ['--domain', 'a.example'];
    const args = ['domain', verb, '--merchant', UNKNOWN, ...domain];
    expect((await mpHere(args, service.env)).err).toBe(`There is no merchant ${UNKNOWN}.\n`);
  }
});

describe('a wallet in place of an address', () => {
  // BIP-84, test vectors.
  const KEY =
    'zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs';
  const NEXT = 'bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g';
  const at = (merchant: string) => [
    ...['address', 'set', '--merchant', merchant, '--blockchain', 'btc'],
  ];

  test('is set from a file by the next unused address, and listed with how it stands', async () => {
    const merchant = await createMerchant();
    const folder = await mkdtemp(join(tmpdir(), 'mp-wallet-'));
    try {
      await writeFile(join(folder, 'key.txt'), `${KEY}\n`);
      const wallet = ['--wallet', `@${join(folder, 'key.txt')}`, '--next', NEXT];
      const set = await service.ask(...at(merchant), ...wallet);
      expect(set).toMatchObject({ blockchainId: 'btc', address: NEXT });
      expect(JSON.stringify(set)).not.toContain('pub');
    } finally {
      await rm(folder, { recursive: true });
    }
    const [listed] = await service.ask<object[]>('address', 'list', '--merchant', merchant);
    const wallet = {
      kind: 'wpkh',
      fingerprint: 'fd13aac9',
      nextIndex: 1,
      out: 0,
      funded: 0,
      gap: 0,
    };
    expect(listed).toMatchObject({ address: NEXT, wallet });
    const { out } = await mpHere(['address', 'list', '--merchant', merchant], service.env);
    expect(out).toContain(
      'btc: wallet fd13aac9 (wpkh), next index 1, 0 out to open payments, 0 funded, 0 of at most 18',
    );
    const doctor = await mpHere(['doctor', merchant], service.env);
    expect(doctor.out).toContain('Each payment gets one of its own from a wallet: btc fd13aac9.');
    const rival = await service.refused(...at(shop), '--wallet', KEY, '--next', NEXT);
    expect(rival).toContain(`merchant ${merchant} has it`);
  });

  test('is refused with the reason, and takes both flags', async () => {
    const wallet = (key: string, next: string) => ['--wallet', key, '--next', next];
    expect(await service.refused(...at(shop), ...wallet(`pkh(${KEY})`, ADDRESSES.btc))).toMatch(
      /^The wallet is refused: the address is not among the first 10000 receiving addresses/,
    );
    expect(await service.refused(...at(shop), ...wallet('xpub', NEXT))).toMatch(
      /^The wallet is refused: /,
    );
    const eth = ['address', 'set', '--merchant', shop, '--blockchain', 'eth'];
    expect(await service.refused(...eth, ...wallet(KEY, ADDRESSES.eth))).toBe(
      'Only Bitcoin has wallets with an address for each payment, and eth does not.',
    );
    for (const flags of [
      [],
      ['--wallet', KEY],
      ['--address', NEXT, '--wallet', KEY, '--next', NEXT],
    ]) {
      expect((await mpHere([...at(shop), ...flags], service.env)).status).toBe(2);
    }
  });

  test.each([
    'xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi',
    'legal winner thank year wave sausage worth useful legal winner thank yellow',
  ])('a private key is refused before anything is done with it: %s', async secret => {
    for (const args of [
      [...at(shop), '--wallet', secret, '--next', NEXT],
      [...at(shop), '--address', secret],
      [secret],
      [...at(shop), '--address', ...secret.split(' ')],
    ]) {
      const { status, out, err } = await mpHere(args, service.env);
      expect({ status, out }).toEqual({ status: 1, out: '' });
      expect(err).toContain('move the money to a new wallet');
      expect(err).not.toContain(secret.slice(0, 5));
    }
  });
});

test('a domain is refused with the reason', async () => {
  const cases: [string, string][] = [
    ['https://shop.example.com', 'without https://'],
    ['*.example.com', 'wildcards'],
    ['shop.example.com/path', 'without path'],
    ['example', 'not fully qualified'],
    ['10.0.0.1', 'an IP address'],
  ];
  for (const [domain, reason] of cases) {
    const args = ['domain', 'add', '--merchant', shop, '--domain', domain];
    const { status, err } = await mpHere(args, service.env);
    expect(status).toBe(1);
    expect(err).toMatch(/^The domain is refused: .*\.\n$/);
    expect(err).toContain(reason);
  }
});

test('production accepts no loopback domain, and allows removing an existing one', async () => {
  const env = { ...service.env, NODE_ENV: 'production', SIMULATION: '' };
  const flags = ['--merchant', shop, '--domain', 'localhost'];
  expect((await mpHere(['domain', 'add', ...flags], service.env)).status).toBe(0);
  expect(await mpHere(['domain', 'add', ...flags], env)).toMatchObject({ status: 1, out: '' });
  expect(await mpHere(['domain', 'remove', ...flags], env)).toMatchObject({ status: 0, err: '' });
});

test('a merchant has at most 20 domains, also when two are added concurrently', async () => {
  const merchant = await createMerchant();
  const add = (name: string) => ['domain', 'add', '--merchant', merchant, '--domain', name];
  for (let number = 1; number <= 18; number++) {
    await addDomain(operatorOf(service), merchant, `shop${number}.example`);
  }
  expect((await mpHere(add('shop19.example'), service.env)).status).toBe(0);
  const [first, second] = await Promise.all([
    mpHere(add('a.example'), service.env),
    mpHere(add('b.example'), service.env),
  ]);
  expect([first.status, second.status].sort()).toEqual([0, 1]);
  expect(first.err + second.err).toBe('A merchant may have at most 20 redirect domains.\n');
  // Adding an existing one is no addition.
  expect((await mpHere(add('shop1.example'), service.env)).status).toBe(0);
});
