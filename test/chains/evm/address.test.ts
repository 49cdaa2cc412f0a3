import { hex } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAddress } from '#chains/address.ts';
import { HEX, oneCharacterChanges, refusalOf, replaceAt } from '../address-refusal.ts';

const FAMILIES = ['ethereum', 'bnb', 'avalanche'] as const;
const ENVIRONMENTS = ['production', 'test'] as const;

// EIP-55, "Test Cases": all capitals, all small, mixed.
const ONE_CASE = [
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x27b1fdb04752bbc536007a920d24acb045561c26',
];
const MIXED_CASE = [
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
];
// Wallets known from the chains: vitalik.eth, Binance 14, an Avalanche bridge wallet.
const WALLETS = [
  '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045',
  '0x28C6c06298d514Db089934071355E5743bf21d60',
  '0x8EB8a3b98659Cce290402893d0123abb75E3ab28',
];

const upper = (address: string) => `0x${address.slice(2).toUpperCase()}`;

describe.each(FAMILIES)('%s', family => {
  it.each([...ONE_CASE, ...MIXED_CASE, ...WALLETS])('spells %s as in EIP-55', address => {
    for (const environment of ENVIRONMENTS) {
      expect(parseAddress(family, environment, address)).toBe(address);
      expect(parseAddress(family, environment, address.toLowerCase())).toBe(address);
      expect(parseAddress(family, environment, upper(address))).toBe(address);
    }
  });

  it('refuses an address without 0x, with 0X, or of another kind', () => {
    const digits = 'd8dA6BF26964aF9D7eEd9e03E53415D37aA96045';
    expect(refusalOf(family, 'production', digits)).toBe('the 0x at the front is missing');
    expect(refusalOf(family, 'production', `0X${digits}`)).toContain('small x');
    expect(refusalOf(family, 'production', 'vitalik.eth')).toContain('begins with 0x');
  });

  it('counts the characters', () => {
    const address = '0xd8da6bf26964af9d7eed9e03e53415d37aa96045';
    expect(refusalOf(family, 'production', '0x')).toContain('there are 0');
    expect(refusalOf(family, 'production', address.slice(0, -1))).toContain('there are 39');
    expect(refusalOf(family, 'production', `${address}5`)).toContain('there are 41');
  });

  it('names the character that does not belong', () => {
    const address = '0xd8da6bf26964af9d7eed9e03e53415d37aa96045';
    expect(refusalOf(family, 'production', replaceAt(address, 9, 'O'))).toContain(
      'character 10 is "O"',
    );
    expect(refusalOf(family, 'production', `0x${address}`)).toContain('character 4 is "x"');
  });

  it('refuses a transaction hash or a private key', () => {
    expect(refusalOf(family, 'production', `0x${'ab'.repeat(32)}`)).toContain('private key');
  });

  it.each([
    ['0x0000000000000000000000000000000000000000', 'zero address'],
    ['0x0000000000000000000000000000000000000001', 'reserved or burn'],
    ['0x0000000000000000000000000000000000000100', 'reserved or burn'],
    ['0x000000000000000000000000000000000000dEaD', 'reserved or burn'],
    ['0x000000000000000000000000000000000000dead', 'reserved or burn'],
    ['0x00000000000000000000000000000000000001fF', 'reserved or burn'],
    ['0x0000000000000000000000000000000000001004', 'reserved or burn'],
    ['0x0100000000000000000000000000000000000000', 'reserved or burn'],
    ['0x0200000000000000000000000000000000000005', 'reserved or burn'],
    ['0x1111111111111111111111111111111111111111', 'reserved or burn'],
    ['0xFFfFfFffFFfffFFfFFfFFFFFffFFFffffFfFFFfF', 'reserved or burn'],
    ['0xdeaddeaddeaddeaddeaddeaddeaddeaddeaddead', 'reserved or burn'],
    ['0xdEAD000000000000000042069420694206942069', 'burn address'],
    ['0x00000000219ab540356cBB839Cbe05303d7705Fa', 'deposit contract of Ethereum'],
    ['0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E', 'contract of USDC on Avalanche'],
    ['0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d', 'contract of USDC on BNB Smart Chain'],
    ['0x6B175474E89094C44Da98b954EedeAC495271d0F', 'contract of DAI'],
    ['0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE', 'placeholder'],
    ['0xdAC17F958D2ee523a2206206994597C13D831ec7', 'contract of USDT on Ethereum'],
    ['0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', 'contract of USDC on Ethereum'],
    ['0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7', 'contract of USDT on Avalanche'],
    ['0x55d398326f99059fF775485246999027B3197955', 'contract of USDT on BNB Smart Chain'],
    ['0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238', 'contract of USDC on Sepolia'],
    ['0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2', 'contract of wrapped ETH'],
    ['0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c', 'contract of wrapped BNB'],
    ['0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7', 'contract of wrapped AVAX'],
  ])('refuses %s in every spelling: %s', (address, reason) => {
    for (const environment of ENVIRONMENTS) {
      expect(refusalOf(family, environment, address)).toContain(reason);
      expect(refusalOf(family, environment, address.toLowerCase())).toContain(reason);
      expect(refusalOf(family, environment, upper(address))).toContain(reason);
    }
  });

  // Exhaustive over known addresses rather than random: EIP-55 has one check bit per letter, some 15, so a random
  // change occasionally passes.
  it('refuses all one-character changes of a mixed-case address', () => {
    for (const address of MIXED_CASE) {
      for (const changed of oneCharacterChanges(address, HEX, 2)) {
        expect(refusalOf(family, 'production', changed)).toContain('pattern of capital letters');
      }
    }
  });

  it('cannot catch what EIP-55 does not: this passes for 0x28C6c06298d514… with its 9 letters', () => {
    const changed = '0x28C6c06298C514Db089934071355E5743bf21d60';
    expect(parseAddress(family, 'production', changed)).toBe(changed);
  });

  it('gives one canonical form to every spelling of the same 20 bytes', () => {
    const account = fc
      .uint8Array({ minLength: 20, maxLength: 20 })
      .filter(bytes => new Set(bytes).size > 4);
    const property = fc.property(account, bytes => {
      const small = `0x${hex.encode(bytes)}`;
      const address = parseAddress(family, 'production', small);
      expect(address.toLowerCase()).toBe(small);
      expect(parseAddress(family, 'production', address)).toBe(address);
      expect(parseAddress(family, 'test', upper(small))).toBe(address);
    });
    fc.assert(property);
  });
});

describe('addresses of neighbouring chains', () => {
  it.each([
    'X-avax1wst8jt3z3fm9ce0z6akj3266zmgccdp03hjlaj',
    'P-avax1wst8jt3z3fm9ce0z6akj3266zmgccdp03hjlaj',
    'C-avax1wst8jt3z3fm9ce0z6akj3266zmgccdp03hjlaj',
    'avax1wst8jt3z3fm9ce0z6akj3266zmgccdp03hjlaj',
    'X-fuji1wst8jt3z3fm9ce0z6akj3266zmgccdp0fdzj3y',
    'P-FUJI1WST8JT3Z3FM9CE0Z6AKJ3266ZMGCCDP0FDZJ3Y',
  ])('asks for a C-Chain address instead of %s', text => {
    expect(refusalOf('avalanche', 'production', text)).toContain(
      'a C-Chain address beginning with 0x is needed',
    );
    expect(refusalOf('ethereum', 'production', text)).toContain('Ethereum begins with 0x');
  });

  it.each([
    'bnb1grpf0955h0ykzq3ar5nmum7y6gdfl6lxfn46h2',
    'tbnb1grpf0955h0ykzq3ar5nmum7y6gdfl6lx8xu7hm',
  ])('asks for a BNB Smart Chain address instead of %s', text => {
    expect(refusalOf('bnb', 'production', text)).toContain('a BNB Smart Chain address');
  });
});
