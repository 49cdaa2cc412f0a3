import { afterAll, beforeAll, expect, test } from 'vitest';
import { setNetwork } from '#accounts/networks.ts';
import { BLOCKCHAIN_IDS } from '#schemas/blockchain.ts';
import { listNetworks } from '#storage/repositories/chains/networks.ts';
import {
  addKey,
  addMerchant,
  addPartner,
  type MerchantWithKey,
  operatorOf,
} from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { expectRefusal } from '../../helpers/prompts.ts';
import { send } from '../../helpers/signed-request.ts';

/** The specification's two tables, production networks first: blockchain ID, network, asset. */
const SPECIFIED = `
avax | Avalanche C-Chain | AVAX
avax-usdt | Avalanche C-Chain | USDT
bnb | BNB Smart Chain | BNB
bnb-usdt | BNB Smart Chain | USDT
btc | Bitcoin Mainnet | BTC
eth | Ethereum Mainnet | ETH
eth-usdc | Ethereum Mainnet | USDC
eth-usdt | Ethereum Mainnet | USDT
sol | Solana Mainnet | SOL
sol-usdc | Solana Mainnet | USDC
tron | Tron Mainnet | TRX
tron-usdc | Tron Mainnet | USDC
tron-usdt | Tron Mainnet | USDT
avax-test | Avalanche Fuji | AVAX
bnb-test | BNB Smart Chain Testnet | BNB
btc-test | Bitcoin Testnet | tBTC
eth-test | Ethereum Sepolia | ETH
eth-usdc-test | Ethereum Sepolia | USDC
eth-usdt-test | Ethereum Sepolia | USDT
sol-dev | Solana Devnet | SOL
sol-usdc-dev | Solana Devnet | USDC
tron-test | Tron Shasta | TRX
tron-usdc-test | Tron Shasta | USDC
tron-usdt-test | Tron Shasta | USDT`
  .trim()
  .split('\n')
  .map(line => line.split(' | '));

const PATH = '/external/v1/blockchains/active';

let service: TestApp;
let shop: MerchantWithKey;

beforeAll(async () => {
  service = await startTestApp();
  shop = await addMerchant(service, { addresses: {} });
});
afterAll(() => service.close());

const get = (path = PATH, key = shop) => send(service, key, { path });
const activeIds = async () =>
  (await get()).json().map((blockchain: { id: string }) => blockchain.id) as string[];

test('the migration knows the 24 networks of the specification, in its order', async () => {
  const networks = await listNetworks(service.db);
  expect(networks.map(({ id, name, asset_symbol }) => [id, name, asset_symbol])).toEqual(SPECIFIED);
  expect(networks.map(({ id }) => id)).toEqual(BLOCKCHAIN_IDS);
  const testNetworks = networks.filter(({ environment }) => environment === 'test');
  expect(testNetworks.map(({ id }) => id)).toEqual(SPECIFIED.slice(13).map(([id]) => id));
});

test('lists the active ones, independent of the merchant’s addresses', async () => {
  const response = await get();
  expect(response.statusCode).toBe(200);
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(response.json()).toEqual(
    SPECIFIED.filter(([id]) => id !== 'tron-usdc').map(([id, name, assetSymbol]) => ({
      object: 'blockchain',
      id,
      name,
      isActive: true,
      assetSymbol,
      assetName: expect.stringMatching(/./),
    })),
  );
  expect(response.json()[4]).toEqual({
    object: 'blockchain',
    id: 'btc',
    name: 'Bitcoin Mainnet',
    isActive: true,
    assetSymbol: 'BTC',
    assetName: 'Bitcoin',
  });
});

test('switching a network takes effect on the very next request', async () => {
  const operator = operatorOf(service);
  expect(await activeIds()).not.toContain('tron-usdc');
  await setNetwork(operator, 'tron-usdc', { active: true });
  expect(await activeIds()).toEqual(BLOCKCHAIN_IDS);
  for (const id of BLOCKCHAIN_IDS) await setNetwork(operator, id, { active: id === 'sol' });
  expect(await activeIds()).toEqual(['sol']);
  await setNetwork(operator, 'sol', { active: false });
  expect((await get()).body).toBe('[]');
});

test('takes no parameters', async () => {
  expectRefusal(await get(`${PATH}?test=true`), 'E1002', 'test');
});

test('needs a merchant key with the scope', async () => {
  const owner = { merchantId: shop.merchant.id };
  const key = await addKey(service, owner, { scopes: ['payment_prompts:read'] });
  expectRefusal(await send(service, key, { path: PATH }), 'E2101');
  expectRefusal(await send(service, await addPartner(service), { path: PATH }), 'E2008');
});
