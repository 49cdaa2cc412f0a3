import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addMerchant, addPartner, type MerchantWithKey } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import {
  addMerchantUser,
  addPartnerUser,
  open,
  textOf,
  type Visitor,
} from '../../helpers/panel.ts';

/** The maximum size of a page, with its styles and its script. */
const PAGE_BYTES_MAXIMUM = 100_000;
const ROWS = 1_000;

let service: TestApp;
let shop: MerchantWithKey;
let ada: Visitor;
let path: string;
beforeAll(async () => {
  service = await startTestApp();
  shop = await addMerchant(service, { addresses: {} });
  ada = await addMerchantUser(service, shop.merchant.id, 'admin');
  path = `/panel/merchants/${shop.merchant.id}/settings`;
  const { id: merchantId } = shop.merchant;
  await sql`
    insert into branches (id, merchant_id, name, is_main, created_at)
    select gen_random_uuid(), ${merchantId}, 'Branch number ' || n, false, now() + n * interval '1 s'
    from generate_series(1, ${ROWS}) as n`.execute(service.db);
  await sql`
    insert into deposit_addresses (branch_id, blockchain_id, address, updated_at)
    select branches.id, networks.id, '0x' || lpad(n::text, 40, '0'), now()
    from networks, generate_series(1, 20) as n, branches
    where branches.merchant_id = ${merchantId} and branches.is_main`.execute(service.db);
});
afterAll(() => service.close());

/** Revoked keys, as after years of rotations, next to the existing one. */
async function addKeys(keyId: string, places: number): Promise<void> {
  await sql`
    insert into api_keys (id, merchant_id, partner_member_id, name, scopes, passphrase_hash,
      master_key_version, revoked_at, created_at)
    select 'mpk_' || lpad(to_hex(n + ${places}::integer), 24, '0'), merchant_id, partner_member_id,
      'Key number ' || n, scopes, passphrase_hash, master_key_version, now(), created_at - n * interval '1 s'
    from api_keys, generate_series(1, ${ROWS}) as n where id = ${keyId}`.execute(service.db);
}

/** Opens a page that must be small. */
async function openSmall(url: string, visitor: Visitor) {
  const page = await open(service, url, visitor);
  expect(page.statusCode).toBe(200);
  const assets = [...page.body.matchAll(/(?:href|src)="([^"]+\/assets\/[^"]+)"/g)].map(
    ([, asset = '']) => asset,
  );
  expect(assets.length).toBeGreaterThan(3);
  const files = await Promise.all(assets.map(asset => open(service, asset)));
  const sizes = [page, ...files].map(({ rawPayload }) => rawPayload.length);
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(PAGE_BYTES_MAXIMUM);
  return page;
}

/** Names of a list's rows, from all its pages. */
async function readPages(url: string, visitor: Visitor, name: RegExp): Promise<string[]> {
  const names: string[] = [];
  for (let next: string | undefined = url; next !== undefined; ) {
    const page = await openSmall(next, visitor);
    names.push(...[...page.body.matchAll(name)].map(([, each = '']) => each));
    next = /href="([^"]*\?after=[^"]*)" rel="next"/.exec(page.body)?.[1];
  }
  return names;
}

test('a thousand branches have pages, and each can be found', async () => {
  const names = await readPages(`${path}/branches`, ada, /<strong>([^<]+)<\/strong>/g);
  expect(names[0]).toBe('Main');
  expect(new Set(names).size).toBe(names.length);
  // All that are read.
  expect(names).toHaveLength(ROWS);
  const beyond = await open(service, `${path}/branches?after=${shop.merchant.id}`, ada);
  expect(textOf(beyond)).toContain('There are none further. To the first page');
});

test('the page of addresses links to some of many, and to all', async () => {
  const page = await openSmall(`${path}/addresses`, ada);
  expect(textOf(page)).toContain('All branches');
  expect(textOf(page)).toContain('and 17 more');
  const [, last = ''] = /addresses\?branch=([\w-]{36})/.exec(page.body) ?? [];
  expect(textOf(await openSmall(`${path}/addresses?branch=${last}`, ada))).toContain('none');
  const network = await openSmall(`${path}/addresses/eth-test`, ada);
  expect(network.body.match(/class="grouped"/g)).toHaveLength(20);
});

describe.each(['merchant', 'partner'] as const)('a thousand keys of a %s', kind => {
  let visitor = ada;
  let url: string;
  beforeAll(async () => {
    if (kind === 'merchant') {
      [visitor, url] = [ada, `${path}/developer`];
      await addKeys(shop.keyId, 0);
      return;
    }
    const { partner, keyId } = await addPartner(service);
    visitor = await addPartnerUser(service, partner.id, 'owner');
    url = `/panel/partners/${partner.id}/developer`;
    await addKeys(keyId, ROWS);
  });

  test('have pages, and some of them are offered as choices elsewhere', async () => {
    const names = await readPages(`${url}/keys`, visitor, /keys\/mpk_[^"]+">([^<]+)<\/a>/g);
    expect(names[0]).toBe('Test key');
    expect(new Set(names).size).toBe(ROWS);
    await openSmall(`${url}/requests?status=200`, visitor);
    await openSmall(`${url}/explain`, visitor);
  });
});
