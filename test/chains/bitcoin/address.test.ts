import { schnorr } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bech32, bech32m, createBase58check } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAddress } from '#chains/address.ts';
import { BASE58, BECH32, oneCharacterChanges, refusalOf, replaceAt } from '../address-refusal.ts';

const base58check = createBase58check(sha256);

// Bitcoin Core, src/test/data/key_io_valid.json, and addresses known from the chain.
const MAINNET = [
  '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', // genesis block
  '1FsSia9rv4NeEwvJ2GvXrX7LyxYspbN2mo',
  '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy',
  '36j4NfKv6Akva9amjWrLG6MuSQym1GuEmm',
  'bc1qvyq0cc6rahyvsazfdje0twl7ez82ndmuac2lhv',
  'bc1qyucykdlhp62tezs0hagqury402qwhk589q80tqs5myh3rxq34nwqhkdhv7',
  'bc1p83n3au0rjylefxq2nc2xh2y4jzz4pm6zxj4mw5pagdjjr2a9f36s6jjnnu',
  'bc1p5d7rjq7g6rdk2yhzks9smlaqtedr4dekq08ge8ztwac72sfr9rusxg3297', // BIP-86
];
const TESTNET = [
  'mzK2FFDEhxqHcmrJw1ysqFkVyhUULo45hZ',
  'n4YNbYuFdPwFrxSP8sjHFbAhUbLMUiY9jE',
  '2NC2hEhe28ULKAJkW5MjZ3jtTMJdvXmByvK',
  '2MxNm1VHyVU4RuP3u1c1v5aQLk2dQjwy1Qk',
  'tb1qcrh3yqn4nlleplcez2yndq2ry8h9ncg3qh7n54',
  'tb1quyl9ujpgwr2chdzdnnalen48sup245vdfnh2jxhsuq3yx80rrwlq5hqfe4',
  'tb1p35n52jy6xkm4wd905tdy8qtagrn73kqdz73xe4zxpvq9t3fp50aqk3s6gz',
];
const REGTEST = [
  'bcrt1qdavt4j2sd7dlhqsavtnfxvzppw6k7qy97tmnu9',
  'bcrt1p5d7rjq7g6rdk2yhzks9smlaqtedr4dekq08ge8ztwac72sfr9rusuedr2t', // BIP-86
];

describe('known addresses', () => {
  it.each(MAINNET)('accepts %s in production only', address => {
    expect(parseAddress('bitcoin', 'production', address)).toBe(address);
    expect(refusalOf('bitcoin', 'test', address)).toContain('this is a mainnet address');
  });

  it.each(TESTNET)('accepts %s in test only', address => {
    expect(parseAddress('bitcoin', 'test', address)).toBe(address);
    expect(refusalOf('bitcoin', 'production', address)).toContain('this is a testnet address');
  });

  it.each(REGTEST)('accepts %s in test only, and keeps its prefix', address => {
    expect(parseAddress('bitcoin', 'test', address)).toBe(address);
    expect(parseAddress('bitcoin', 'test', address.toUpperCase())).toBe(address);
    expect(refusalOf('bitcoin', 'production', address)).toContain('this is a regtest address');
  });
});

// BIP-173 and BIP-350, "Test vectors for v0-v16 native segregated witness addresses".
describe('valid segwit vectors', () => {
  it.each([
    ['production', 'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4'],
    ['test', 'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7'],
    ['test', 'tb1qqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesrxh6hy'],
    ['test', 'tb1pqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesf3hn0c'],
    ['production', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0'],
  ] as const)('%s accepts %s, in lower case', (environment, text) => {
    expect(parseAddress('bitcoin', environment, text)).toBe(text.toLowerCase());
    expect(parseAddress('bitcoin', environment, text.toUpperCase())).toBe(text.toLowerCase());
  });

  it.each(['BC1SW50QGDZ25J', 'bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs'])(
    'refuses %s: valid, but of a version nobody can hold',
    text => {
      expect(refusalOf('bitcoin', 'production', text)).toContain('not in use yet');
    },
  );

  it('refuses version 1 with 40 bytes', () => {
    const text = 'bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y';
    expect(refusalOf('bitcoin', 'production', text)).toContain('version 1 with 40 bytes');
  });

  it.each([
    'bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7k7grplx',
    'BC1SW50QA3JX3S',
    'bc1zw508d6qejxtdg4y5r3zarvaryvg6kdaj',
  ])('refuses %s: valid in BIP-173, no longer in BIP-350', text => {
    expect(refusalOf('bitcoin', 'production', text)).toContain('needs bech32m');
  });
});

describe('invalid segwit vectors', () => {
  it.each([
    // BIP-350
    ['production', 'tc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq5zuyut', /begins with/],
    ['production', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd', /is bech32 /],
    ['test', 'tb1z0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqglt7rf', /is bech32 /],
    ['production', 'BC1S0XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ54WELL', /is bech32 /],
    ['production', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh', /is bech32m /],
    ['test', 'tb1q0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq24jc47', /is bech32m /],
    ['production', 'bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4', /60 is "o"/],
    [
      'production',
      'BC130XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ7ZWS8R',
      /version 17 does/,
    ],
    ['production', 'bc1pw5dgrnzv', /with 1 bytes/],
    [
      'production',
      'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v8n0nx0muaewav253zgeav',
      /with 41 bytes/,
    ],
    ['production', 'BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P', /with 16 bytes/],
    ['test', 'tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq47Zagq', /are mixed/],
    [
      'production',
      'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v07qwwzcrf',
      /stray bits/,
    ],
    ['test', 'tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vpggkg4j', /stray bits/],
    ['production', 'bc1gmk9yu', /no content/],
    // BIP-173
    ['production', 'tc1qw508d6qejxtdg4y5r3zarvary0c5xw7kg3g4ty', /begins with/],
    ['production', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5', /checksum does not match/],
    ['production', 'BC13W508D6QEJXTDG4Y5R3ZARVARY0C5XW7KN40WF2', /version 17 does/],
    ['production', 'bc1rw5uspcuh', /is bech32 /],
    [
      'production',
      'bc10w508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kw5rljs90',
      /is bech32 /,
    ],
    ['test', 'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sL5k7', /are mixed/],
    ['production', 'bc1zw508d6qejxtdg4y5r3zarvaryvqyzf3du', /is bech32 /],
    ['test', 'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3pjxtptv', /stray bits/],
  ] as const)('%s refuses %s', (environment, text, reason) => {
    expect(refusalOf('bitcoin', environment, text)).toMatch(reason);
  });

  // Bitcoin Core, src/test/data/key_io_invalid.json.
  it.each([
    'x',
    '1GAdfviErV2Ew95FPtZyikz2qGP3gyCB6Hyu94sedAkPpA523m3fQwps9YKUZkKgQckGPKhRsFR',
    '37G2kMDLpmWVhimxRdzwNfE8JFvWXnJYnVcXeeGrek2qumdJuK7XArcVVpRtLLjRra3t64BEPF2',
    '2UVPFpGYnLHJezFzjUo42our6PMEoozzRdM',
    '2MygHQjE1U33q3LSC53p69YqFjP8PihumJAF',
    '2jDPrDfAKihCGPbPD9ztY8TswAia4V8Bc6vx',
    '39TKsUQ5QpEL1wowc6GMUqak94ijirPuP69ooV3xsFmiKQX2dau',
    'AZEah8d1EK362okRBS66e8SvdtYkrE8tsX',
    'bc1qdsuzmn04k2z8vryw8l4dj8m5ygqgnne5n',
    'bc1qpu6d26mrulzetu4jqhd7rsunv9aqru26f5c4j8',
    'bc1p702xksx4z3uqf0u2phllxkfe5cgu0adxptqs0uelx0tqt8e885sqryes2l',
    'sp1qq22l5s6l9460ww6t4tkzsy2a7zejurcmzz35pt0ffrzk5erlaykdcqugecjjnjqf7ggq39vl6wexjlm00n66z94v675n7wcux6d2krr68gcwu9kg',
    'TB1Q3F9WGNXE9ZMTTMDN5VKVKHYZ8Y0LCV72YV7V5LSXTJXEYHNHEHASLYL0TZ',
    'tb1zkm58zyhxz3ffkfgsyprflg543slsl4c4',
  ])('refuses %s', text => {
    expect(refusalOf('bitcoin', 'production', text)).not.toBe('');
    expect(refusalOf('bitcoin', 'test', text)).not.toBe('');
  });
});

describe('what nobody can spend', () => {
  it('refuses a taproot key that is not on the curve', () => {
    // Bitcoin Core, key_io_valid.json: well formed, from a random number.
    const text = 'bc1pve739yap4uxjvfk0jrey69078u0gasm2nwvv483ec6zkzulgw9xqu4w9fd';
    const regtest = 'bcrt1pfwxjqvtt4tcxrtdluukfmy2dv7xd2qzdfy6kajv5nwn4yam3wxkq3553uh';
    expect(refusalOf('bitcoin', 'production', text)).toContain('taproot key is not valid');
    expect(refusalOf('bitcoin', 'test', regtest)).toContain('taproot key is not valid');
  });

  it('refuses an all-zero hash', () => {
    const zeros = new Uint8Array(20);
    const segwit = bech32.encode('bc', [0, ...bech32.toWords(zeros)]);
    for (const text of [
      '1111111111111111111114oLvT2',
      '1BitcoinEaterAddressDontSendf59kuE',
      '1CounterpartyXXXXXXXXXXXXXXXUWLpVr',
    ]) {
      expect(refusalOf('bitcoin', 'production', text)).toContain('burn');
    }
    expect(refusalOf('bitcoin', 'production', segwit)).toContain('burn');
  });

  it('refuses pay-to-anchor', () => {
    expect(refusalOf('bitcoin', 'production', 'bc1pfeessrawgf')).toContain('with 2 bytes');
  });
});

describe('base58', () => {
  it('names the character that does not belong', () => {
    const text = replaceAt('1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', 4, '0');
    expect(refusalOf('bitcoin', 'production', text)).toContain('character 5 is "0"');
  });

  it('refuses a missing character and a doubled one', () => {
    const text = '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy';
    expect(refusalOf('bitcoin', 'production', text.slice(0, -1))).not.toBe('');
    expect(refusalOf('bitcoin', 'production', `${text}y`)).not.toBe('');
    expect(refusalOf('bitcoin', 'production', '1A1zP1eP5')).toContain('length is wrong');
  });

  it('refuses every version but the four, of all coins', () => {
    const hash = new Uint8Array(20).fill(7);
    for (let version = 0; version < 256; version += 1) {
      const text = base58check.encode(Uint8Array.of(version, ...hash));
      if ([0x00, 0x05].includes(version)) {
        expect(parseAddress('bitcoin', 'production', text)).toBe(text);
      } else if ([0x6f, 0xc4].includes(version)) {
        expect(parseAddress('bitcoin', 'test', text)).toBe(text);
      } else {
        expect(refusalOf('bitcoin', 'production', text)).toMatch(/another coin|^a Bitcoin/);
        expect(refusalOf('bitcoin', 'test', text)).toMatch(/another coin|^a Bitcoin/);
      }
    }
  });
});

describe('properties', () => {
  const hash = (length: number) =>
    fc
      .uint8Array({ minLength: length, maxLength: length })
      .filter(bytes => bytes.some(byte => byte !== 0));
  const taprootKey = fc
    .uint8Array({ minLength: 31, maxLength: 31 })
    .map(secret => schnorr.getPublicKey(Uint8Array.of(1, ...secret)));

  const base58Address = fc
    .record({ version: fc.constantFrom(0x00, 0x05), bytes: hash(20) })
    .map(({ version, bytes }) => base58check.encode(Uint8Array.of(version, ...bytes)));
  const version0Address = fc
    .oneof(hash(20), hash(32))
    .map(program => bech32.encode('bc', [0, ...bech32.toWords(program)]) as string);
  const version1Address = taprootKey.map(
    key => bech32m.encode('bc', [1, ...bech32m.toWords(key)]) as string,
  );
  const segwitAddress = fc.oneof(version0Address, version1Address);
  const anyAddress = fc.oneof(base58Address, version0Address, version1Address);

  it('accepts every valid payload, and its canonical form is itself', () => {
    const property = fc.property(anyAddress, text => {
      expect(parseAddress('bitcoin', 'production', text)).toBe(text);
    });
    fc.assert(property);
  });

  it('lower-cases all capitals and refuses a mixture', () => {
    const property = fc.property(segwitAddress, text => {
      expect(parseAddress('bitcoin', 'production', text.toUpperCase())).toBe(text);
      const mixed = `bc1${text.slice(3).toUpperCase()}`;
      expect(refusalOf('bitcoin', 'production', mixed)).toContain('are mixed');
    });
    fc.assert(property);
  });

  it('refuses what the other checksum variant writes', () => {
    const property = fc.property(hash(32), program => {
      const version0 = bech32m.encode('bc', [0, ...bech32m.toWords(program)]);
      const version1 = bech32.encode('bc', [1, ...bech32.toWords(program)]);
      expect(refusalOf('bitcoin', 'production', version0)).toContain('needs bech32:');
      expect(refusalOf('bitcoin', 'production', version1)).toContain('needs bech32m:');
    });
    fc.assert(property);
  });

  it('refuses every other witness version, name and length', () => {
    const program = fc.uint8Array({ minLength: 2, maxLength: 40 });
    const property = fc.property(program, fc.integer({ min: 0, max: 31 }), (bytes, version) => {
      fc.pre(version > 1 || (bytes.length !== 20 && bytes.length !== 32));
      const coder = version === 0 ? bech32 : bech32m;
      const text = coder.encode('bc', [version, ...coder.toWords(bytes)]);
      expect(refusalOf('bitcoin', 'production', text)).toMatch(/not in use|not exist|length/);
    });
    fc.assert(property);
  });

  it('refuses a changed character', () => {
    const segwitChange = fc
      .record({ text: segwitAddress, at: fc.nat(), to: fc.constantFrom(...BECH32) })
      .map(({ text, at, to }) => ({
        text,
        changed: replaceAt(text, 3 + (at % (text.length - 3)), to),
      }));
    const base58Change = fc
      .record({ text: base58Address, at: fc.nat(), to: fc.constantFrom(...BASE58) })
      .map(({ text, at, to }) => ({ text, changed: replaceAt(text, at % text.length, to) }));
    const property = fc.property(fc.oneof(segwitChange, base58Change), ({ text, changed }) => {
      fc.pre(text !== changed);
      expect(refusalOf('bitcoin', 'production', changed)).not.toBe('');
    });
    fc.assert(property, { numRuns: 300 });
  });

  it('refuses all one-character changes of known addresses', () => {
    for (const address of [...MAINNET.slice(0, 1), ...MAINNET.slice(3, 4)]) {
      for (const changed of oneCharacterChanges(address, BASE58)) {
        expect(refusalOf('bitcoin', 'production', changed)).not.toBe('');
      }
    }
    for (const address of MAINNET.slice(5)) {
      for (const changed of oneCharacterChanges(address, BECH32, 3)) {
        expect(refusalOf('bitcoin', 'production', changed)).toContain('checksum');
      }
    }
  });
});
