import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { removeAddress, setAddress } from '../../src/accounts/deposit-addresses.ts';
import { createBranch, setMerchant } from '../../src/accounts/merchants.ts';
import { setNetwork } from '../../src/accounts/networks.ts';
import { setPartner } from '../../src/accounts/partners.ts';
import { addDomain, removeDomain } from '../../src/accounts/redirect-domains.ts';
import { untilHeard } from '../../src/database/change-feed.ts';
import { revokeKey, rotateKey } from '../../src/keys/manage-keys.ts';
import {
  ADDRESSES,
  addMerchant,
  addPartner,
  type MerchantWithKey,
  operatorOf,
  type PartnerWithKey,
} from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { PROMPT_PATH } from '../helpers/prompt-path.ts';
import { type SignedRequest, send } from '../helpers/signed-request.ts';

const LIST = { path: '/external/v1/payments' };
const CREATE = { path: PROMPT_PATH, body: { amount: 5000 } };
const SOON = { timeout: 5_000, interval: 5 };

let first: TestApp;
let second: TestApp;

beforeAll(async () => {
  first = await startTestApp({ remembers: true });
  second = await startTestApp({ beside: first, remembers: true });
});
afterAll(async () => {
  await second.close();
  await first.close();
});

/** In one transaction, whose maker waits for nobody. */
function addShop(options?: Parameters<typeof addMerchant>[1]): Promise<MerchantWithKey> {
  return first.db.transaction().execute(db => addMerchant({ ...first, db }, options));
}

/** What each replica answers, by status or error code. */
async function askBoth(credentials: Parameters<typeof send>[1], request: SignedRequest) {
  const answers = await Promise.all(
    [first, second].map(replica => send(replica, credentials, request)),
  );
  return answers.map(answer => answer.json().error?.errorCode ?? answer.statusCode);
}

describe('what a replica remembers', () => {
  test('saves asking the database', async () => {
    const shop = await addShop();
    await untilHeard(first.db);
    expect(await askBoth(shop, LIST)).toEqual([200, 200]);
    await first.db.transaction().execute(async tx => {
      // Nobody is told.
      await sql`set local session_replication_role = replica`.execute(tx);
      await sql`
        update merchants set status = 'inactive' where id = ${shop.merchant.id}`.execute(tx);
    });
    expect(await askBoth(shop, LIST)).toEqual([200, 200]);
    await sql`select pg_notify('account_changes', ${shop.merchant.id})`.execute(first.db);
    await vi.waitUntil(async () => (await askBoth(shop, LIST)).join() === 'E2008,E2008', SOON);
  });

  test('is of no use with a wrong passphrase or secret', async () => {
    const shop = await addShop();
    const other = await addShop();
    expect(await askBoth(shop, LIST)).toEqual([200, 200]);
    expect(await askBoth({ ...shop, passphrase: other.passphrase }, LIST)).toEqual([
      'E2004',
      'E2004',
    ]);
    expect(await askBoth({ ...shop, secret: other.secret }, LIST)).toEqual(['E2007', 'E2007']);
    expect(await askBoth(shop, LIST)).toEqual([200, 200]);
  });

  test('ends with the expiry of the key, and with the grace period of the pair', async () => {
    const expiresAt = new Date(first.clock() + 60_000);
    const shop = await addShop({ key: { expiresAt } });
    const rotated = await addShop();
    const renewed = await rotateKey(operatorOf(first), first.keyring, rotated.keyId, false);
    const ask = async () => [
      ...(await askBoth(shop, LIST)),
      ...(await askBoth(rotated, LIST)),
      ...(await askBoth({ ...rotated, ...renewed }, LIST)),
      // A pair's passphrase goes with its own secret only.
      ...(await askBoth({ ...rotated, secret: renewed.secret }, LIST)),
    ];
    expect(await ask()).toEqual([200, 200, 200, 200, 200, 200, 'E2007', 'E2007']);
    expect(await ask()).toEqual([200, 200, 200, 200, 200, 200, 'E2007', 'E2007']);
    const start = first.clock.now;
    first.clock.now = start + 24 * 60 * 60 * 1000;
    expect(await ask()).toEqual(['E2006', 'E2006', 'E2004', 'E2004', 200, 200, 'E2004', 'E2004']);
    first.clock.now = start;
  });
});

test('of a whole series of changes nothing is remembered, and each is heard', async () => {
  const shop = await addShop();
  await untilHeard(first.db);
  expect(await askBoth(shop, LIST)).toEqual([200, 200]);
  await first.db.transaction().execute(async tx => {
    await sql`
      select pg_notify('account_changes', 'x' || n) from generate_series(1, 5000) as n`.execute(tx);
    await sql`
      update merchants set status = 'inactive' where id = ${shop.merchant.id}`.execute(tx);
  });
  await untilHeard(first.db);
  expect(await askBoth(shop, LIST)).toEqual(['E2008', 'E2008']);
});

describe('the very next request is decided from the change, on every replica', () => {
  let shop: MerchantWithKey;
  let partner: PartnerWithKey;
  let linked: MerchantWithKey;

  beforeAll(async () => {
    shop = await addShop({ domains: ['shop.example'] });
    partner = await first.db.transaction().execute(db => addPartner({ ...first, db }));
    linked = await addShop({ partnerId: partner.partner.id });
  });

  const operator = () => operatorOf(first);
  const redirect = {
    path: PROMPT_PATH,
    body: { amount: 5000, redirectUrl: 'https://shop.example/' },
  };
  const onBitcoin = { path: PROMPT_PATH, body: { amount: 5000, blockchainIds: ['btc'] } };
  const bitcoin = ADDRESSES.btc;
  const merchant = () => ({ merchantId: shop.merchant.id });

  /** Asks so that it is remembered, changes it, asks; and the same with the change undone. */
  test.each<
    [
      name: string,
      who: () => Parameters<typeof send>[1],
      request: SignedRequest,
      refused: string | number,
      change: () => Promise<unknown>,
      undo: () => Promise<unknown>,
    ]
  >([
    [
      'merchant',
      () => shop,
      LIST,
      'E2008',
      () => setMerchant(operator(), shop.merchant.id, { status: 'inactive' }),
      () => setMerchant(operator(), shop.merchant.id, { status: 'active' }),
    ],
    [
      'partner',
      () => partner,
      { path: '/external/partner/team' },
      'E2008',
      () => setPartner(operator(), partner.partner.id, { status: 'inactive' }),
      () => setPartner(operator(), partner.partner.id, { status: 'active' }),
    ],
    [
      'self-service of the partner',
      () => linked,
      LIST,
      'E2103',
      () => setPartner(operator(), partner.partner.id, { selfService: false }),
      () => setPartner(operator(), partner.partner.id, { selfService: true }),
    ],
    [
      'link to a partner',
      () => partner,
      { path: PROMPT_PATH, body: { amount: 5000, merchantId: '' } },
      'E3001',
      () => setMerchant(operator(), linked.merchant.id, { partnerId: null }),
      () => setMerchant(operator(), linked.merchant.id, { partnerId: partner.partner.id }),
    ],
    [
      'deposit address',
      () => shop,
      onBitcoin,
      'E1020',
      () => removeAddress(operator(), merchant(), 'btc'),
      () => setAddress(operator(), merchant(), 'btc', bitcoin),
    ],
    [
      'redirect domain',
      () => shop,
      redirect,
      'E1010',
      () => removeDomain(operator(), shop.merchant.id, 'shop.example'),
      () => addDomain(operator(), shop.merchant.id, 'shop.example'),
    ],
  ])('%s', async (_name, who, { body, ...request }, refused, change, undo) => {
    const sent =
      body !== undefined && 'merchantId' in (body as object)
        ? { ...request, body: { ...(body as object), merchantId: linked.merchant.id } }
        : { ...request, ...(body === undefined ? {} : { body }) };
    const [allowed] = await askBoth(who(), sent);
    expect([200, 201]).toContain(allowed);
    await change();
    expect(await askBoth(who(), sent)).toEqual([refused, refused]);
    await undo();
    expect(await askBoth(who(), sent)).toEqual([allowed, allowed]);
  });

  test('key', async () => {
    const other = await addShop();
    expect(await askBoth(other, LIST)).toEqual([200, 200]);
    const rotated = await rotateKey(operator(), first.keyring, other.keyId, true);
    expect(await askBoth(other, LIST)).toEqual(['E2004', 'E2004']);
    expect(await askBoth({ ...other, ...rotated }, LIST)).toEqual([200, 200]);
    await revokeKey(operator(), other.keyId);
    expect(await askBoth({ ...other, ...rotated }, LIST)).toEqual(['E2005', 'E2005']);
  });

  test('main branch', async () => {
    expect(await askBoth(shop, CREATE)).toEqual([201, 201]);
    await createBranch(operator(), { merchantId: shop.merchant.id, name: 'New', main: true });
    expect(await askBoth(shop, CREATE)).toEqual(['E1020', 'E1020']);
  });

  test('network', async () => {
    const ids = async () => {
      const path = '/external/v1/blockchains/active';
      const answers = await Promise.all([first, second].map(app => send(app, shop, { path })));
      return answers.map(answer => answer.json().some(({ id }: { id: string }) => id === 'btc'));
    };
    expect(await ids()).toEqual([true, true]);
    await setNetwork(operator(), 'btc', { active: false });
    expect(await ids()).toEqual([false, false]);
    await setNetwork(operator(), 'btc', { active: true });
    expect(await ids()).toEqual([true, true]);
  });

  test('anything, while changes are not heard', async () => {
    const other = await addShop();
    expect(await askBoth(other, LIST)).toEqual([200, 200]);
    await first.changes.close();
    await sql`
      update merchants set status = 'inactive' where id = ${other.merchant.id}`.execute(first.db);
    expect((await send(first, other, LIST)).json().error.errorCode).toBe('E2008');
  });
});
