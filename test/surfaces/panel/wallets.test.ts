import { HDKey } from '@scure/bip32';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { applyDueChanges } from '#accounts/apply-changes.ts';
import { setAddress, setWallet } from '#accounts/deposit-addresses.ts';
import { walletAddress } from '#chains/bitcoin/wallet-addresses.ts';
import { selectNetwork } from '#onchain/settlement/select-network.ts';
import { createFixedRates } from '#payments/rates/fixed-rates.ts';
import { findMainBranch } from '#storage/repositories/accounts/merchants.ts';
import { ADDRESSES, addMerchant, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import {
  addMerchantUser,
  addSession,
  codeAt,
  follow,
  open,
  submit,
  textOf,
  type Visitor,
  wrongCodeAt,
} from '../../helpers/panel.ts';
import { addPayment } from '../../helpers/payments.ts';

const HOUR_MS = 60 * 60_000;

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp({ env: { PANEL_ADDRESS_DELAY_HOURS: '24' } });
});
afterAll(() => service.close());

const now = () => new Date(service.clock.now);

let seed = 100;
/** A wallet of native segwit addresses that nobody has. */
function newWallet() {
  seed += 1;
  const account = HDKey.fromMasterSeed(Buffer.alloc(32, seed)).derive("m/84'/0'/0'");
  const at = (chain: number) => (index: number) =>
    walletAddress({ kind: 'wpkh', prefix: 'bc' }, account.deriveChild(chain), index);
  return {
    key: account.publicExtendedKey,
    privateKey: account.privateExtendedKey,
    fingerprint: account.fingerprint.toString(16).padStart(8, '0'),
    at: at(0),
    change: at(1),
  };
}

/** A shop that takes Bitcoin and has been paid, with an admin. */
async function openShop(address: string | null = null) {
  const { merchant } = await addMerchant(service, {
    addresses: address === null ? {} : { btc: address },
  });
  await addPayment(service.db, merchant, {
    created_at: now(),
    paid_at: now(),
    status: 'successful',
    session_status: 'completed',
  });
  const branch = await findMainBranch(service.db, merchant.id);
  const ada = await addMerchantUser(service, merchant.id, 'admin');
  service.clock.now += 24 * HOUR_MS;
  const path = `/panel/merchants/${merchant.id}/settings/addresses`;
  return { merchant, branch: branch?.id ?? '', ada, list: path, path: `${path}/btc` };
}

type Shop = Awaited<ReturnType<typeof openShop>>;

const sessionOf = async (visitor: Visitor, minutesAgo = 60) => ({
  cookie: await addSession(service, visitor, minutesAgo),
});

function nextCode({ secret }: Visitor): string {
  service.clock.now += 30_000;
  return codeAt(secret, service.clock.now);
}

const fieldsOf = ({ branch }: Shop, key: string, address: string) => ({
  branch,
  kind: 'address.set',
  key,
  address,
});

async function review(shop: Shop, key: string, address: string) {
  const session = await sessionOf(shop.ada);
  return submit(service, `${shop.path}/review`, fieldsOf(shop, key, address), session);
}

async function propose(shop: Shop, key: string, address: string, { seen = '', code = '' } = {}) {
  const session = await sessionOf(shop.ada);
  const fields = { ...fieldsOf(shop, key, address), ...(seen === '' ? {} : { seen }) };
  const given = code === '' ? nextCode(shop.ada) : code;
  const response = await submit(
    service,
    `${shop.path}/propose`,
    { ...fields, code: given },
    session,
  );
  return { session, response };
}

const fours = (address: string) => (address.match(/.{1,4}/g) ?? []).join(' ');
const plain = (response: Parameters<typeof textOf>[0]) => textOf(response).replaceAll(/\s+/g, ' ');

/** The address that a new payment is asked to pay to. */
async function quote({ merchant }: Shop) {
  const payment = await addPayment(service.db, merchant, {
    amount: 5_000,
    created_at: now(),
    offered_blockchain_ids: ['btc'],
  });
  const choice = { payment, blockchainId: 'btc', offering: 'simulated' } as const;
  return (await selectNetwork(service.db, createFixedRates(), choice, now())).address;
}

test('a wallet is compared with the present address, waits, and then gives each payment an address', async () => {
  const shop = await openShop(ADDRESSES.btc);
  const wallet = newWallet();
  const page = plain(await open(service, shop.path, await sessionOf(shop.ada)));
  expect(page).toContain('A wallet with an address for each payment');

  const compared = await review(shop, ` ${wallet.key} `, wallet.at(7));
  expect(compared.statusCode).toBe(200);
  const sides = plain(compared);
  expect(sides).toContain(`Now ${fours(ADDRESSES.btc)}`);
  expect(sides).toContain(`From then on Wallet ${wallet.fingerprint} , native segwit`);
  expect(sides).toContain('from index 7 on');
  for (const index of [7, 8, 9]) expect(sides).toContain(fours(wallet.at(index)));
  expect(sides).not.toContain(fours(wallet.at(10)));
  expect(sides).toContain('It waits for 24 hours');
  // The form alone carries the key; the page does not show it.
  expect(compared.body.split(wallet.key)).toHaveLength(2);
  expect(compared.headers['cache-control']).toBe('no-store');

  const wrong = await propose(shop, wallet.key, wallet.at(7), {
    seen: ADDRESSES.btc,
    code: wrongCodeAt(shop.ada.secret, service.clock.now),
  });
  expect(wrong.response.statusCode).toBe(422);
  // Nothing typed is lost.
  expect(wrong.response.body).toContain(`name="key" value="${wallet.key}"`);
  const { response, session } = await propose(shop, wallet.key, wallet.at(7), {
    seen: ADDRESSES.btc,
  });
  expect(response.statusCode).toBe(303);
  const change = await follow(service, response, session);
  expect(plain(change)).toContain('Set a wallet with an address for each payment');
  expect(plain(change)).toContain(`From then on Wallet ${wallet.fingerprint} , native segwit`);
  expect(plain(change)).toContain(
    `from index 7 on, the next unused one first: ${fours(wallet.at(7))}`,
  );
  const waiting = plain(await open(service, shop.path, session));
  expect(waiting).toContain('Waiting changes Set a wallet with an address for each payment');
  expect(waiting).toContain('A wallet with an address for each payment of BTC on Bitcoin');
  expect(await quote(shop)).toBe(ADDRESSES.btc);

  service.clock.now += 25 * HOUR_MS;
  await applyDueChanges(service.db, service.clock, 10);
  expect([await quote(shop), await quote(shop)]).toEqual([wallet.at(7), wallet.at(8)]);
  const { ada } = shop;
  const later = await sessionOf(ada);
  const inForce = plain(await open(service, shop.path, later));
  expect(inForce).toContain(`Wallet ${wallet.fingerprint} , native segwit`);
  expect(inForce).toContain(
    'Next index 9; out to open payments: 2; paid: 0. Unpaid in a row: 2 of at most 18.',
  );
  expect(plain(await open(service, shop.list, later))).toContain('Next index 9');
  // A wallet in place of this one stands beside it.
  const other = newWallet();
  const again = plain(await review(shop, other.key, other.at(0)));
  expect(again).toContain(`Now Wallet ${wallet.fingerprint} , native segwit`);
  expect(again).toContain(`from index 9 on, the next unused one first: ${fours(wallet.at(9))}`);
  // The key is nowhere but in its sealed column.
  const pages = [
    change,
    await open(service, shop.path, later),
    await open(service, shop.list, later),
  ];
  for (const { body } of pages) expect(body).not.toMatch(/[xyz]pub\w{20}/);
  expect(JSON.stringify(service.logs)).not.toMatch(/[xyz]pub\w{20}/);
  const stored = await service.db.selectFrom('address_changes').selectAll().execute();
  expect(JSON.stringify(stored)).not.toContain('xpub');
});

test('a wallet is removed like an address', async () => {
  const shop = await openShop();
  const wallet = newWallet();
  const operator = { ...operatorOf(service), keyring: service.keyring };
  const shown = { key: wallet.key, next: wallet.at(0) };
  await setWallet(operator, { merchantId: shop.merchant.id }, 'btc', shown);
  const session = await sessionOf(shop.ada, 1);
  const fields = { branch: shop.branch, address: wallet.at(0) };
  const asked = await submit(service, `${shop.path}/remove`, fields, session);
  expect(plain(asked)).toContain(`Wallet ${wallet.fingerprint} , native segwit`);
  const sure = { ...fields, 'confirmation-sure': 'yes' };
  expect((await submit(service, `${shop.path}/remove`, sure, session)).statusCode).toBe(303);
  expect(plain(await open(service, shop.path, session))).toContain('No address: payments');
});

test('what is wrong with a wallet is said at its field, and nothing typed is lost', async () => {
  const shop = await openShop();
  const wallet = newWallet();
  const rival = await openShop();
  const operator = { ...operatorOf(service), keyring: service.keyring };
  const theirs = newWallet();
  const shown = { key: theirs.key, next: theirs.at(0) };
  await setWallet(operator, { merchantId: rival.merchant.id }, 'btc', shown);
  const cases: [string, string, string, string][] = [
    ['xpub no', wallet.at(0), 'key', 'The wallet is refused'],
    [wallet.key, wallet.change(3), 'key', 'change'],
    [wallet.key, 'no address', 'next', 'The address is refused'],
    // Of another kind than the descriptor has, which is known without deriving all of them.
    [`tr(${wallet.key})`, wallet.at(0), 'key', 'is not among the first 10000'],
    [theirs.key, theirs.at(0), 'next', 'Another account of this service has'],
    // None of those that are held already.
    [theirs.key, theirs.at(60), 'key', 'Another account of this service has this wallet'],
  ];
  for (const [key, address, field, reason] of cases) {
    const [reviewed, { response: proposed }] = [
      address === theirs.at(60) ? null : await review(shop, key, address),
      await propose(shop, key, address),
    ];
    for (const response of reviewed === null ? [proposed] : [reviewed, proposed]) {
      expect(response.statusCode, reason).toBe(422);
      expect(plain(response)).toContain(reason);
      expect(response.body, reason).toContain(`href="#${field}"`);
      expect(response.body).toContain(`name="key" type="text" value="${key}"`);
      expect(response.body).toContain(`name="address" type="text" value="${address}"`);
      expect(response.body).not.toContain(rival.merchant.id);
    }
    service.clock.now += 61_000;
  }
  const changes = await service.db
    .selectFrom('address_changes')
    .select('id')
    .where('merchant_id', '=', shop.merchant.id)
    .where('person_id', 'is not', null)
    .execute();
  expect(changes).toEqual([]);
});

test('more wallets in a minute than are read leave what was typed in the form', async () => {
  const shop = await openShop();
  const [key, address] = ['xpub no', 'bc1 no'];
  for (let count = 0; count < 6; count += 1) await review(shop, key, address);
  for (const response of [
    await review(shop, key, address),
    (await propose(shop, key, address)).response,
  ]) {
    expect(response.statusCode).toBe(422);
    expect(plain(response)).toContain('Wait a minute, then send this again');
    expect(response.body).toContain(`name="key" type="text" value="${key}"`);
    expect(response.body).toContain(`name="address" type="text" value="${address}"`);
  }
  const { privateKey } = newWallet();
  const refused = await review(shop, privateKey, address);
  expect(refused.statusCode).toBe(400);
  expect(refused.body).not.toContain(privateKey);
});

test('other networks have no such form, and refuse it', async () => {
  const shop = await openShop();
  const path = `${shop.list}/eth`;
  expect(textOf(await open(service, path, await sessionOf(shop.ada)))).not.toContain(
    'A wallet with an address',
  );
  await setAddress(operatorOf(service), { merchantId: shop.merchant.id }, 'eth', ADDRESSES.eth);
  const wallet = newWallet();
  const fields = fieldsOf(shop, wallet.key, '0x70997970C51812dc3A010C7d01b50e0d17dc79C8');
  const refused = await submit(service, `${path}/review`, fields, await sessionOf(shop.ada));
  expect(refused.statusCode).toBe(422);
  expect(textOf(refused)).toContain('Only Bitcoin has wallets');
});
