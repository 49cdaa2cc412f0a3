import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createBranch } from '#accounts/branches.ts';
import { removeAddress } from '#accounts/deposit-addresses.ts';
import { revokeKey, rotateKey } from '#accounts/keys/manage-keys.ts';
import { setMerchant } from '#accounts/merchants.ts';
import { setNetwork } from '#accounts/networks.ts';
import { setPartner } from '#accounts/partners.ts';
import { addDomain, removeDomain } from '#accounts/redirect-domains.ts';
import { untilHeard } from '#storage/database/change-feed.ts';
import {
  ADDRESSES,
  addMerchant,
  addPartner,
  type MerchantWithKey,
  operatorOf,
  type PartnerWithKey,
  setSharedAddress,
} from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { PROMPT_PATH } from '../../helpers/prompt-path.ts';
import { type SignedRequest, send } from '../../helpers/signed-request.ts';
import { SOON } from '../../helpers/soon.ts';

const LIST = { path: '/external/v1/payments' };
const CREATE = { path: PROMPT_PATH, body: { amount: 5000 } };

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

/** Adds a merchant in one transaction, without waiting for replicas. */
function addShop(options?: Parameters<typeof addMerchant>[1]): Promise<MerchantWithKey> {
  return first.db.transaction().execute(db => addMerchant({ ...first, db }, options));
}

/** What each replica responds, by status or error code. */
async function askBoth(credentials: Parameters<typeof send>[1], request: SignedRequest) {
  const responses = await Promise.all(
    [first, second].map(replica => send(replica, credentials, request)),
  );
  return responses.map(response => response.json().error?.errorCode ?? response.statusCode);
}

describe('a replica’s cache of accounts', () => {
  test('saves database queries', async () => {
    const shop = await addShop();
    await untilHeard(first.db);
    expect(await askBoth(shop, LIST)).toEqual([200, 200]);
    await first.db.transaction().execute(async tx => {
      // Without a notification.
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

  test('expires with the key, and with the grace period of the pair', async () => {
    const expiresAt = new Date(first.clock() + 60_000);
    const shop = await addShop({ key: { expiresAt } });
    const rotated = await addShop();
    const renewed = await rotateKey(operatorOf(first), first.keyring, rotated.keyId, false);
    const ask = async () => [
      ...(await askBoth(shop, LIST)),
      ...(await askBoth(rotated, LIST)),
      ...(await askBoth({ ...rotated, ...renewed }, LIST)),
      // A pair's passphrase only goes with its own secret.
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

test('keeps nothing during a series of changes, each of which is received', async () => {
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

/** The accounts to change: each test has its own, since the tests run concurrently. */
interface Accounts {
  readonly shop: MerchantWithKey;
  readonly partner: PartnerWithKey;
  /** A merchant of the partner. */
  readonly linked: MerchantWithKey;
}

interface Change {
  readonly who: Parameters<typeof send>[1];
  readonly request: SignedRequest;
  readonly refused: string;
  change(): Promise<unknown>;
  undo(): Promise<unknown>;
}

// A change waits until every replica has received it: concurrent tests wait together.
describe.concurrent('the very next request is decided from the change, on every replica', () => {
  const operator = () => operatorOf(first);

  const changes: [name: string, prepare: (accounts: Accounts) => Change][] = [
    [
      'merchant',
      ({ shop }) => ({
        who: shop,
        request: LIST,
        refused: 'E2008',
        change: () => setMerchant(operator(), shop.merchant.id, { status: 'inactive' }),
        undo: () => setMerchant(operator(), shop.merchant.id, { status: 'active' }),
      }),
    ],
    [
      'partner',
      ({ partner }) => ({
        who: partner,
        request: { path: '/external/partner/team' },
        refused: 'E2008',
        change: () => setPartner(operator(), partner.partner.id, { status: 'inactive' }),
        undo: () => setPartner(operator(), partner.partner.id, { status: 'active' }),
      }),
    ],
    [
      'self-service of the partner',
      ({ partner, linked }) => ({
        who: linked,
        request: LIST,
        refused: 'E2103',
        change: () => setPartner(operator(), partner.partner.id, { selfService: false }),
        undo: () => setPartner(operator(), partner.partner.id, { selfService: true }),
      }),
    ],
    [
      'link to a partner',
      ({ partner, linked }) => ({
        who: partner,
        request: { path: PROMPT_PATH, body: { amount: 5000, merchantId: linked.merchant.id } },
        refused: 'E3001',
        change: () => setMerchant(operator(), linked.merchant.id, { partnerId: null }),
        undo: () => setMerchant(operator(), linked.merchant.id, { partnerId: partner.partner.id }),
      }),
    ],
    [
      'merchant that a partner names in upper case',
      ({ partner, linked }) => ({
        who: partner,
        request: {
          path: PROMPT_PATH,
          body: { amount: 5000, merchantId: linked.merchant.id.toUpperCase() },
        },
        refused: 'E2008',
        change: () => setMerchant(operator(), linked.merchant.id, { status: 'inactive' }),
        undo: () => setMerchant(operator(), linked.merchant.id, { status: 'active' }),
      }),
    ],
    [
      'redirect domain of a merchant that a partner names in upper case',
      ({ partner, linked }) => ({
        who: partner,
        request: {
          path: PROMPT_PATH,
          body: {
            amount: 5000,
            merchantId: linked.merchant.id.toUpperCase(),
            redirectUrl: 'https://shop.example/',
          },
        },
        refused: 'E1010',
        change: () => removeDomain(operator(), linked.merchant.id, 'shop.example'),
        undo: () => addDomain(operator(), linked.merchant.id, 'shop.example'),
      }),
    ],
    [
      'deposit address',
      ({ shop }) => ({
        who: shop,
        request: { path: PROMPT_PATH, body: { amount: 5000, blockchainIds: ['btc'] } },
        refused: 'E1020',
        change: () => removeAddress(operator(), { merchantId: shop.merchant.id }, 'btc'),
        undo: () => setSharedAddress(operator(), shop.merchant.id, 'btc', ADDRESSES.btc),
      }),
    ],
    [
      'redirect domain',
      ({ shop }) => ({
        who: shop,
        request: {
          path: PROMPT_PATH,
          body: { amount: 5000, redirectUrl: 'https://shop.example/' },
        },
        refused: 'E1010',
        change: () => removeDomain(operator(), shop.merchant.id, 'shop.example'),
        undo: () => addDomain(operator(), shop.merchant.id, 'shop.example'),
      }),
    ],
  ];
  /**
   * Makes requests, so that the account is cached; changes it; makes requests; and the same with the change reverted.
   */
  test.each(changes)('%s', async (_name, prepare) => {
    const shop = await addShop({ domains: ['shop.example'] });
    const partner = await first.db.transaction().execute(db => addPartner({ ...first, db }));
    const linked = await addShop({ partnerId: partner.partner.id, domains: ['shop.example'] });
    const { who, request, refused, change, undo } = prepare({ shop, partner, linked });
    const [allowed] = await askBoth(who, request);
    expect([200, 201]).toContain(allowed);
    await change();
    expect(await askBoth(who, request)).toEqual([refused, refused]);
    await undo();
    expect(await askBoth(who, request)).toEqual([allowed, allowed]);
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
    const shop = await addShop();
    expect(await askBoth(shop, CREATE)).toEqual([201, 201]);
    await createBranch(operator(), { merchantId: shop.merchant.id, name: 'New', main: true });
    expect(await askBoth(shop, CREATE)).toEqual(['E1020', 'E1020']);
  });
});

// By itself: after this change the whole cache is empty.
test('the very next request is decided from the change of a network, on every replica', async () => {
  const shop = await addShop();
  const ids = async () => {
    const path = '/external/v1/blockchains/active';
    const responses = await Promise.all([first, second].map(app => send(app, shop, { path })));
    return responses.map(response =>
      response.json().some(({ id }: { id: string }) => id === 'btc'),
    );
  };
  expect(await ids()).toEqual([true, true]);
  await setNetwork(operatorOf(first), 'btc', { active: false });
  expect(await ids()).toEqual([false, false]);
  await setNetwork(operatorOf(first), 'btc', { active: true });
  expect(await ids()).toEqual([true, true]);
});

test('the very next request is decided from any change while notifications are not received', async () => {
  const other = await addShop();
  expect(await askBoth(other, LIST)).toEqual([200, 200]);
  await first.changes.close();
  await sql`
    update merchants set status = 'inactive' where id = ${other.merchant.id}`.execute(first.db);
  expect((await send(first, other, LIST)).json().error.errorCode).toBe('E2008');
});
