import { ed25519 } from '@noble/curves/ed25519.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { base58 } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAddress } from '#chains/address.ts';
import {
  BASE58,
  isAccepted,
  oneCharacterChanges,
  refusalOf,
  replaceAt,
} from './address-refusal.ts';

const ENVIRONMENTS = ['production', 'test'] as const;

// Wallets known from the chain: toly.sol, Binance (three), Coinbase, a vanity address.
const WALLETS = [
  '86xCnPeV69n6t3DnyGvkKobf9FdN2H9oiVDdaMpo2MMY',
  '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM',
  '5tzFkiKscXHK5ZXCGbXZxdw7gTjjD1mBwuoFbhUvuAi9',
  '2ojv9BAiHUrvsm9gxDe7fJSzbNZSJcxZvf8dqmWGHG8S',
  'H8sMJSCQxfKiFTCfDR3DUMLPwcRbM61LGFJ8N4dK3WjS',
  'vines1vzrYbzLMRdu58ou5XTby4qAqVRLmqo36NKPTg',
];

/** A program-derived address, as find_program_address of the Solana SDK makes it. */
function deriveAddress(seeds: Uint8Array[], program: string): Uint8Array {
  for (let bump = 255; bump >= 0; bump -= 1) {
    const derived = sha256(
      concatBytes(
        ...seeds,
        Uint8Array.of(bump),
        base58.decode(program),
        utf8ToBytes('ProgramDerivedAddress'),
      ),
    );
    if (!isOnCurve(derived)) return derived;
  }
  throw new Error('no bump leads off the curve');
}

function isOnCurve(bytes: Uint8Array): boolean {
  try {
    ed25519.Point.fromBytes(bytes);
    return true;
  } catch {
    return false;
  }
}

describe('wallets', () => {
  it.each(WALLETS)('accepts %s', address => {
    for (const environment of ENVIRONMENTS) {
      expect(parseAddress('solana', environment, address)).toBe(address);
    }
  });

  it('accepts the public key of every secret, and its canonical form is itself', () => {
    const secret = fc.uint8Array({ minLength: 32, maxLength: 32 });
    const property = fc.property(secret, bytes => {
      const address = base58.encode(ed25519.getPublicKey(bytes));
      expect(parseAddress('solana', 'production', address)).toBe(address);
    });
    fc.assert(property);
  });
});

describe('addresses that lose money', () => {
  it.each([
    ['11111111111111111111111111111111', 'System program'],
    ['TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', 'Token program'],
    ['TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb', 'Token-2022 program'],
    ['ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL', 'Associated Token program'],
    ['MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr', 'Memo program'],
    ['Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo', 'Memo program'],
    ['metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s', 'Token Metadata program'],
    ['SQDS4ep65T869zMMBKyuUq6aD6EgTu8psMjkvj52pCf', 'Squads program'],
    ['Stake11111111111111111111111111111111111111', 'Stake program'],
    ['Vote111111111111111111111111111111111111111', 'Vote program'],
    ['Config1111111111111111111111111111111111111', 'Config program'],
    ['ComputeBudget111111111111111111111111111111', 'Compute Budget program'],
    ['AddressLookupTab1e1111111111111111111111111', 'Address Lookup Table program'],
    ['BPFLoaderUpgradeab1e11111111111111111111111', 'program loader'],
    ['SysvarRent111111111111111111111111111111111', 'system variable'],
    ['SysvarC1ock11111111111111111111111111111111', 'system variable'],
    ['1nc1nerator11111111111111111111111111111111', 'incinerator'],
    ['So11111111111111111111111111111111111111112', 'mint of wrapped SOL'],
    ['EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', 'mint of USDC'],
    ['4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU', 'mint of USDC on devnet'],
    ['Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB', 'mint of USDT'],
  ])('refuses %s: %s', (address, reason) => {
    for (const environment of ENVIRONMENTS) {
      expect(refusalOf('solana', environment, address)).toContain(reason);
    }
  });

  it('refuses the associated token account of a wallet', () => {
    const token = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
    const mint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
    for (const wallet of WALLETS) {
      const seeds = [wallet, token, mint].map(text => base58.decode(text));
      const account = deriveAddress(seeds, 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');
      expect(refusalOf('solana', 'production', base58.encode(account))).toContain('token account');
    }
  });

  it('refuses a multisig vault', () => {
    const squads = 'SQDS4ep65T869zMMBKyuUq6aD6EgTu8psMjkvj52pCf';
    const [prefix, vault] = [utf8ToBytes('multisig'), utf8ToBytes('vault')];
    const creator = base58.decode('86xCnPeV69n6t3DnyGvkKobf9FdN2H9oiVDdaMpo2MMY');
    const multisig = deriveAddress([prefix, prefix, creator], squads);
    const address = deriveAddress([prefix, multisig, vault, Uint8Array.of(0)], squads);
    expect(refusalOf('solana', 'production', base58.encode(address))).toContain('multisig vault');
  });

  it('refuses the small points, for which anybody can sign', () => {
    const point = ed25519.Point.ZERO.toBytes();
    expect(refusalOf('solana', 'production', base58.encode(point))).toContain('no wallet can have');
  });

  it('refuses a point outside the prime-order subgroup', () => {
    const torsion = ed25519.Point.fromBytes(new Uint8Array(32));
    const point = ed25519.Point.BASE.multiply(5n).add(torsion).toBytes();
    expect(isOnCurve(point)).toBe(true);
    expect(refusalOf('solana', 'production', base58.encode(point))).toContain('no wallet can have');
  });
});

describe('malformed text', () => {
  it('names the character that does not belong', () => {
    const text = replaceAt('86xCnPeV69n6t3DnyGvkKobf9FdN2H9oiVDdaMpo2MMY', 2, 'l');
    expect(refusalOf('solana', 'production', text)).toContain('character 3 is "l"');
  });

  it('refuses a private key or a signature', () => {
    const text = base58.encode(new Uint8Array(64).fill(200));
    expect(refusalOf('solana', 'production', text)).toContain('private key');
  });

  it('refuses every other length', () => {
    for (const length of [1, 20, 25, 31, 33, 40, 63, 65]) {
      const text = base58.encode(new Uint8Array(length).fill(200));
      expect(refusalOf('solana', 'production', text)).toContain('length is wrong');
    }
  });

  // There is no checksum: one change in sixteen stays in the subgroup. Fixed addresses give a fixed count.
  it('catches most one-character changes all the same', () => {
    const changes = [
      ...oneCharacterChanges('86xCnPeV69n6t3DnyGvkKobf9FdN2H9oiVDdaMpo2MMY', BASE58),
    ].filter((_, index) => index % 4 === 0);
    const accepted = changes.filter(text => isAccepted('solana', 'production', text));
    expect(accepted.length / changes.length).toBeLessThan(0.08);
  });
});
