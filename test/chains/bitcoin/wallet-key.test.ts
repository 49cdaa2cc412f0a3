import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check } from '@scure/base';
import { HDKey } from '@scure/bip32';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { descriptorChecksum, hasDescriptorChecksum } from '#chains/bitcoin/descriptor-checksum.ts';
import {
  findInWallet,
  firstAddresses,
  WALLET_KINDS,
  walletAddress,
} from '#chains/bitcoin/wallet-addresses.ts';
import { parseWalletKey, walletDigest } from '#chains/bitcoin/wallet-key.ts';
import { InvalidAddress } from '#chains/invalid-address.ts';
import { looksPrivate } from '#chains/private-key.ts';
import { BITCOIND, BITCOIND_MISSING, startBitcoind } from '../../helpers/bitcoind.ts';

const base58check = createBase58check(sha256);

/** The seed of "abandon … about" without passphrase, of which BIP-84, 86 and wallets publish keys and addresses. */
const ROOT = HDKey.fromMasterSeed(
  Buffer.from(
    '5eb00bbddcf069084889a8ab9155568165f5c453ccb85e70811aaed6f6da5fc19a5ac40b389cd370d086206dec8aa6c43daea6690f20ad3d8d48b2d2ce9e38e4',
    'hex',
  ),
);
const ZPUB =
  'zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs';
const YPUB =
  'ypub6Ww3ibxVfGzLrAH1PNcjyAWenMTbbAosGNB6VvmSEgytSER9azLDWCxoJwW7Ke7icmizBMXrzBx9979FfaHxHcrArf3zbeJJJUZPf663zsP';
const XPUB_86 =
  'xpub6BgBgsespWvERF3LHQu6CnqdvfEvtMcQjYrcRzx53QJjSxarj2afYWcLteoGVky7D3UKDP9QyrLprQ3VCECoY49yfdDEHGCtMMj92pReUsQ';
const XPUB_44 =
  'xpub6BosfCnifzxcFwrSzQiqu2DBVTshkCXacvNsWGYJVVhhawA7d4R5WSWGFNbi8Aw6ZRc1brxMyWMzG3DSSSSoekkudhUd9yLb6qx39T9nMdj';

/** A key of the root's, serialized with other version bytes (SLIP-132). */
function keyAt(path: string, version = 0x0488b21e): string {
  const payload = Buffer.from(base58check.decode(ROOT.derive(path).publicExtendedKey));
  payload.writeUInt32BE(version);
  return base58check.encode(payload);
}

function refusal(environment: 'production' | 'test', text: string): string {
  try {
    parseWalletKey(environment, text);
  } catch (error) {
    if (error instanceof InvalidAddress) return error.problem.code;
    throw error;
  }
  return 'accepted';
}

const withChecksum = (descriptor: string) => `${descriptor}#${descriptorChecksum(descriptor)}`;

describe('published keys', () => {
  test.each([
    // BIP-84 and BIP-86, test vectors; the others from the wallets that write such keys.
    [ZPUB, 'wpkh', 0, 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu'],
    [ZPUB, 'wpkh', 1, 'bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g'],
    [XPUB_86, 'tr', 0, 'bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr'],
    [XPUB_86, 'tr', 1, 'bc1p4qhjn9zdvkux4e44uhx8tc55attvtyu358kutcqkudyccelu0was9fqzwh'],
    [YPUB, 'sh-wpkh', 0, '37VucYSaXLCAsxYyAPfbSi9eh4iEcbShgf'],
    [XPUB_44, 'pkh', 0, '1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabA'],
  ] as const)('%s as %s: address %i is %s', async (text, kind, index, address) => {
    const key = parseWalletKey('production', text);
    expect(walletAddress({ kind, prefix: 'bc' }, key.receiving, index)).toBe(address);
    expect(await findInWallet(key, address)).toEqual({ kind, prefix: 'bc', index });
  });

  // BIP-49, test vectors.
  test('an upub has the address of BIP-49', () => {
    const root = HDKey.fromExtendedKey(
      'tprv8ZgxMBicQKsPe5YMU9gHen4Ez3ApihUfykaqUorj9t6FDqy3nP6eoXiAo2ssvpAjoLroQxHqr3R5nE3a5dU3DHTjTgJDd7zrbniJr6nrCzd',
      { private: 0x04358394, public: 0x043587cf },
    );
    const payload = Buffer.from(base58check.decode(root.derive("m/49'/1'/0'").publicExtendedKey));
    payload.writeUInt32BE(0x044a5262);
    const { receiving } = parseWalletKey('test', base58check.encode(payload));
    expect(walletAddress({ kind: 'sh-wpkh', prefix: 'tb' }, receiving, 0)).toBe(
      '2Mww8dCYPUpKHofjgcXcBCEGmniw9CoaiD2',
    );
  });
});

describe('every spelling of a key is the same wallet', () => {
  const digest = walletDigest(parseWalletKey('production', ZPUB).receiving);
  const xpub = keyAt("m/84'/0'/0'");
  const child = keyAt("m/84'/0'/0'/0");

  test.each([
    xpub,
    ` ${ZPUB}\n`,
    `wpkh(${xpub})`,
    `wpkh(${xpub}/0/*)`,
    `wpkh(${xpub}/<0;1>/*)`,
    withChecksum(`wpkh([73c5da0a/84'/0h/0H]${xpub}/<0;1>/*)`),
    `wpkh(${child}/*)`,
    // Another kind of address of the same key is the same wallet too: its coins are under one key.
    `tr(${xpub}/0/*)`,
  ])('%s', text => {
    const key = parseWalletKey('production', text);
    expect(walletDigest(key.receiving)).toBe(digest);
    expect(key.receiving.privateKey).toBeNull();
  });

  test('keys of Electrum, at the root or its first child, are accounts', () => {
    for (const path of ["m/0'", 'm']) {
      expect(refusal('production', keyAt(path, 0x04b24746))).toBe('accepted');
    }
  });
});

describe('what is refused', () => {
  const xpub = keyAt("m/84'/0'/0'");
  const tpub = keyAt("m/84'/1'/0'", 0x043587cf);

  test.each([
    ['', 'wallet-empty'],
    ['bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu', 'wallet-key-unknown'],
    [`${xpub.slice(0, -1)}x`, 'checksum-mistyped'],
    [xpub.slice(0, -1), 'length-wrong'],
    [`${xpub.slice(0, 20)}0${xpub.slice(21)}`, 'foreign-character'],
    [tpub, 'wallet-on-testnet'],
    [keyAt("m/48'/0'/0'/2'", 0x02aa7ed3), 'wallet-multisig'],
    [keyAt("m/49'/0'/0'", 0x0295b43f), 'wallet-multisig'],
    [keyAt("m/84'"), 'accepted'],
    [keyAt("m/84'/0'"), 'wallet-depth'],
    [keyAt("m/84'/0'/0'/0"), 'wallet-depth'],
    [keyAt("m/84'/0'/0'/0/7"), 'wallet-depth'],
    [`wsh(sortedmulti(2,${xpub}/0/*,${xpub}/1/*))`, 'wallet-multisig'],
    [`sh(wsh(${xpub}/0/*))`, 'wallet-multisig'],
    [`tr(${xpub}/0/*,pk(${xpub}/1/*))`, 'wallet-descriptor-unknown'],
    [`combo(${xpub}/0/*)`, 'wallet-descriptor-unknown'],
    [`wpkh(${xpub}/0h/*)`, 'wallet-hardened'],
    [`wpkh(${xpub}/0/*')`, 'wallet-hardened'],
    [`wpkh(${xpub}/0/5)`, 'wallet-path-fixed'],
    [`wpkh(${xpub}/1/*)`, 'wallet-change-path'],
    [`wpkh(${xpub}/<1;0>/*)`, 'wallet-change-path'],
    [`wpkh(${xpub}/4294967296/*)`, 'wallet-descriptor-unknown'],
    [`${withChecksum(`wpkh(${xpub}/0/*)`).slice(0, -1)}1`, 'wallet-descriptor-checksum'],
    [`wpkh([zz]${xpub}/0/*)`, 'wallet-descriptor-unknown'],
    ['('.repeat(400), 'wallet-descriptor-unknown'],
    ['x'.repeat(401), 'text-too-long'],
    [ROOT.privateExtendedKey, 'private-key'],
    [`wpkh(${ROOT.privateExtendedKey}/84h/0h/0h/0/*)`, 'private-key'],
    ['KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn', 'private-key'],
    ['abandon '.repeat(11).concat('about'), 'seed-words'],
  ])('%s: %s', (text, code) => {
    expect(refusal('production', text)).toBe(code);
  });

  test('a key of the main network on a test network', () => {
    expect(refusal('test', xpub)).toBe('wallet-on-mainnet');
  });

  test('any text is refused with a reason that does not repeat it, or is a key', () => {
    const near = fc.tuple(fc.nat(xpub.length - 1), fc.string({ minLength: 1, maxLength: 3 }));
    fc.assert(
      fc.property(near, fc.constantFrom(xpub, `wpkh(${xpub}/0/*)`), ([at, text], from) => {
        const changed = from.slice(0, at) + text + from.slice(at + text.length);
        if (changed.trim() === from) return;
        try {
          parseWalletKey('production', changed);
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidAddress);
          expect(String(error)).not.toContain(from.slice(-12));
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('the address that the wallet shows', () => {
  const key = parseWalletKey('production', ZPUB);
  const problemOf = (address: string) =>
    findInWallet(key, address, 210).then(
      () => 'found',
      (error: InvalidAddress) => error.problem.code,
    );

  test('is found behind the first ones', async () => {
    const address = walletAddress({ kind: 'tr', prefix: 'bc' }, key.receiving, 205);
    expect(await findInWallet(key, address)).toEqual({ kind: 'tr', prefix: 'bc', index: 205 });
  });

  test('of change is named as such', async () => {
    const change = ROOT.derive("m/84'/0'/0'/1");
    const address = walletAddress({ kind: 'wpkh', prefix: 'bc' }, change, 3);
    expect(await problemOf(address)).toBe('wallet-address-of-change');
  });

  test('of another account is not found', async () => {
    const other = ROOT.derive("m/84'/0'/1'/0");
    const address = walletAddress({ kind: 'wpkh', prefix: 'bc' }, other, 0);
    expect(await problemOf(address)).toBe('wallet-address-not-found');
  });

  test('of a kind that no single key has', async () => {
    const script = 'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3';
    expect(await problemOf(script)).toBe('wallet-address-kind');
  });

  test('of another kind than the descriptor has: the first ones of the key are shown', async () => {
    const descriptor = parseWalletKey('production', `tr(${keyAt("m/84'/0'/0'")})`);
    const address = walletAddress({ kind: 'wpkh', prefix: 'bc' }, key.receiving, 0);
    const error = await findInWallet(descriptor, address).catch((refused: unknown) => refused);
    expect(error).toBeInstanceOf(InvalidAddress);
    for (const shown of firstAddresses(descriptor.receiving, { kind: 'tr', prefix: 'bc' })) {
      expect(String(error)).toContain(shown);
    }
  });
});

describe('private keys and seed words', () => {
  test.each([
    ROOT.privateExtendedKey,
    `key: ${ROOT.privateExtendedKey}`,
    '5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ',
    'cTpB4YiyKiBcPxnefsDpbnDxFDffjqJob8wGCEDXxgQ7zQoMXJdH',
    '6PRVWUbkzzsbcVac2qwfssoUJAN1Xhrg6bNk8J7Nzm5H7kxEbn2Nh2ZoGg',
    `[${Array.from({ length: 64 }, (_, index) => index).join(', ')}]`,
    'legal winner thank year wave sausage worth useful legal winner thank yellow',
    'Legal  winner,thank year wave sausage worth useful legal winner thank yellow ',
    'abandon '.repeat(23).concat('art'),
    '的一是在不了有和人这中大'.split('').join(' '),
    // In Spanish, French and Japanese, as lists of words have them.
    'ábaco '.repeat(11).concat('abierto'),
    'abaisser '.repeat(11).concat('abeille'),
    'あいこくしん　'.repeat(11).concat('あおぞら'),
  ])('%s', text => {
    expect(looksPrivate(text)).toBe(true);
  });

  test.each([
    ZPUB,
    XPUB_44,
    '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
    'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263',
    `0x${'ab'.repeat(32)}`,
    'Returned to the customer by bank transfer on Monday',
    'Paid twice for the same order and given back after calling the customer this morning',
    'el cliente pagó dos veces por el mismo pedido y le devolvimos el dinero ayer',
    'Customer paid twice and asked that the shop keeps it for the next order',
    'El cliente pagó dos veces y quiere que la tienda lo guarde para otro pedido',
    'Kunde hat zweimal bezahlt und moechte das Guthaben fuer seine naechste Bestellung behalten',
    '',
  ])('not %s', text => {
    expect(looksPrivate(text)).toBe(false);
  });
});

// BIP-380, test vectors.
describe('checksums of descriptors', () => {
  test('of BIP-380', () => {
    expect(hasDescriptorChecksum('raw(deadbeef)#89f8spxm')).toBe(true);
    expect(hasDescriptorChecksum('raw(deadbeef)')).toBe(false);
    expect(hasDescriptorChecksum('raw(deadbeef)#')).toBe(false);
    expect(hasDescriptorChecksum('raw(deadbeef)#89f8spxmx')).toBe(false);
    expect(hasDescriptorChecksum('raw(deadbeef)#89f8spx')).toBe(false);
    expect(hasDescriptorChecksum('raw(dedbeef)#89f8spxm')).toBe(false);
    expect(hasDescriptorChecksum('raw(deadbeef)##9f8spxm')).toBe(false);
    expect(hasDescriptorChecksum('raw(Ü)#00000000')).toBe(false);
  });
});

describe('as Bitcoin Core derives', { timeout: 60_000 }, () => {
  const name = BITCOIND === undefined ? BITCOIND_MISSING : '30 addresses of each kind';
  test.skipIf(BITCOIND === undefined)(name, async () => {
    const node = await startBitcoind([], 0);
    try {
      const key = keyAt("m/84'/1'/0'", 0x043587cf);
      const { receiving } = parseWalletKey('test', key);
      const names = { pkh: 'pkh(', 'sh-wpkh': 'sh(wpkh(', wpkh: 'wpkh(', tr: 'tr(' };
      for (const kind of WALLET_KINDS) {
        const open = names[kind];
        const descriptor = `${open}${key}/0/*${')'.repeat(open.split('(').length - 1)}`;
        const { checksum } = await node.rpc('getdescriptorinfo', descriptor);
        expect(descriptorChecksum(descriptor)).toBe(checksum);
        const count = 30;
        const theirs = await node.rpc('deriveaddresses', `${descriptor}#${checksum}`, count - 1);
        const ours = Array.from({ length: count }, (_, index) =>
          walletAddress({ kind, prefix: 'bcrt' }, receiving, index),
        );
        expect(ours).toEqual(theirs);
      }
    } finally {
      await node.stop();
    }
  });
});
