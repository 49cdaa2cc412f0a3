import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADDRESSES, addMerchant } from '../helpers/accounts.ts';
import { ANVIL_MISSING, type Anvil, hasAnvil, startAnvil } from '../helpers/anvil.ts';
import { mpHere, type Operated, startOperated } from './mp.ts';

const CHAIN = 'eth-test';
const ETHER = 10n ** 18n;

let service: Operated;
beforeAll(async () => {
  service = await startOperated();
  await addMerchant(service, { addresses: { [CHAIN]: ADDRESSES[CHAIN] } });
});
afterAll(() => service.close());

const find = (hash: string, network: string = CHAIN) =>
  service.ask<object>('payment', 'find-transaction', network, hash);

test('a network without nodes is refused, and so is a value that is no hash', async () => {
  const args = ['payment', 'find-transaction'];
  expect(await service.refused(...args, 'btc', 'a'.repeat(64))).toContain('btc has no node');
  expect(await service.refused(...args, 'etc', 'a'.repeat(64))).toBe('There is no network etc.');
});

describe.skipIf(!hasAnvil)(`a transaction (${hasAnvil ? 'anvil' : ANVIL_MISSING})`, () => {
  let anvil: Anvil;
  let payer: string;

  beforeAll(async () => {
    anvil = await startAnvil();
    [, payer] = await anvil.rpc('eth_accounts');
    await service.ask('node', 'add', CHAIN, '--url', anvil.url);
  });
  afterAll(() => anvil.stop());

  async function pay(to: string): Promise<string> {
    const value = `0x${(ETHER / 4n).toString(16)}`;
    const hash = await anvil.rpc('eth_sendTransaction', [{ from: payer, to, value }]);
    await anvil.rpc('anvil_mine', ['0x1']);
    return hash;
  }

  test('to a known address that was not recorded is found, and its block scanned again', async () => {
    const hash = await pay(ADDRESSES[CHAIN]);
    const transfer = {
      position: 0,
      address: ADDRESSES[CHAIN],
      tokenAmount: '0.25',
      depositId: null,
      paymentId: null,
      outcome: null,
    };
    expect(await find(hash.toUpperCase().replace('0X', '0x'))).toEqual({
      network: CHAIN,
      transactionHash: hash,
      verdict: 'included',
      confirmations: 1,
      transfers: [transfer],
    });
    const rescans = await service.db.selectFrom('rescans').selectAll().execute();
    expect(rescans).toMatchObject([{ blockchain_id: CHAIN, asked_by: 'alice' }]);
    const [entry] = await service.ask<object[]>('audit', '--object', CHAIN, '--limit', '1');
    expect(entry).toMatchObject({
      action: 'network.find-transaction',
      detail: { transactionHash: hash, missing: 1 },
    });
    const { out } = await mpHere(['payment', 'find-transaction', CHAIN, hash], service.env);
    expect(out).toMatch(/transfers:\n +network +position.*\n +eth-test +0 +0xf39F/);
    expect(out).toContain('scanned again');
  });

  test('to a foreign address, and an unknown one, are reported as such', async () => {
    expect(await find(await pay(payer))).toMatchObject({ verdict: 'other_address', transfers: [] });
    expect(await find(`0x${'ab'.repeat(32)}`)).toMatchObject({ verdict: 'unknown' });
    expect(await service.refused('payment', 'find-transaction', CHAIN, '0x12')).toBe(
      '"0x12" is no transaction hash of eth-test.',
    );
  });

  test('is not looked up if no node responds', async () => {
    await anvil.stop();
    const args = ['payment', 'find-transaction', CHAIN, `0x${'ab'.repeat(32)}`];
    expect(await service.refused(...args)).toMatch(
      /^eth-test cannot be asked: no node of eth-test/,
    );
  });
});
