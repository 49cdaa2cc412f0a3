import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { leastTransfer } from '#chains/least-transfer.ts';
import { BITCOIND, BITCOIND_MISSING, type Bitcoind, startBitcoind } from '../helpers/bitcoind.ts';

const BITCOIN = { family: 'bitcoin', id: 'btc-test', chain: 'btc-test' } as const;

describe('the least that can be sent', () => {
  test.each([
    ['P2PKH', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', 1_092n],
    ['P2SH', '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy', 1_080n],
    ['P2WPKH', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 588n],
    ['P2WSH', 'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3', 660n],
    ['P2TR', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0', 660n],
  ])('to %s is twice its dust limit', (_, address, least) => {
    expect(leastTransfer(BITCOIN, address, false)).toBe(least);
    expect(leastTransfer(BITCOIN, address, true)).toBe(least);
  });

  test('of SOL is the rent of a new account, and of tokens any amount', () => {
    const of = (id: string, isFunded: boolean) =>
      leastTransfer({ family: 'solana', id, chain: 'sol' }, 'any', isFunded);
    expect([of('sol', false), of('sol', true), of('sol-usdc', false)]).toEqual([890_880n, 1n, 1n]);
  });
});

const missing = BITCOIND === undefined;

describe.skipIf(missing)(missing ? BITCOIND_MISSING : 'a real node', () => {
  let bitcoind: Bitcoind;
  beforeAll(async () => {
    bitcoind = await startBitcoind([], 2);
  });
  afterAll(() => bitcoind?.stop());

  async function isRelayed(address: string, satoshi: bigint): Promise<boolean> {
    const [coin] = await bitcoind.rpc('listunspent');
    const change = await bitcoind.rpc('getrawchangeaddress');
    const fee = 0.0001;
    const sent = Number(satoshi) / 1e8;
    const raw = await bitcoind.rpc(
      'createrawtransaction',
      [{ txid: coin.txid, vout: coin.vout }],
      [{ [address]: sent.toFixed(8) }, { [change]: (coin.amount - sent - fee).toFixed(8) }],
    );
    const { hex } = await bitcoind.rpc('signrawtransactionwithwallet', raw);
    const [{ allowed, ...told }] = await bitcoind.rpc('testmempoolaccept', [hex]);
    if (!allowed) expect(told['reject-reason']).toMatch(/^dust/);
    return allowed;
  }

  test('the node relays that much to each type of output, and refuses less than half of it', async () => {
    const addresses: string[] = await Promise.all(
      ['legacy', 'p2sh-segwit', 'bech32', 'bech32m'].map(type =>
        bitcoind.rpc('getnewaddress', '', type),
      ),
    );
    // P2WSH, which wallets do not create, from BIP-173.
    addresses.push('bcrt1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qzf4jry');
    for (const address of addresses) {
      const least = leastTransfer(BITCOIN, address, false);
      expect(await isRelayed(address, least)).toBe(true);
      expect(await isRelayed(address, least / 2n)).toBe(true);
      expect(await isRelayed(address, least / 2n - 1n)).toBe(false);
    }
  });
});
