import { Address, NETWORK, OutScript, TEST_NETWORK } from '@scure/btc-signer';
import { InvalidAddress } from '../invalid-address.ts';

/** Networks by what their bech32 addresses begin with. Base58 addresses of test networks and of regtest are the same. */
export const BITCOIN_NETWORKS = {
  bc: NETWORK,
  tb: TEST_NETWORK,
  bcrt: { ...TEST_NETWORK, bech32: 'bcrt' },
} as const;

export type BitcoinPrefix = keyof typeof BITCOIN_NETWORKS;

/** The prefix of the network that an address is of. */
export function prefixOf(address: string): BitcoinPrefix {
  if (address.startsWith('bcrt1')) return 'bcrt';
  return /^(?:bc1|1|3)/.test(address) ? 'bc' : 'tb';
}

/**
 * The output script that an address stands for: P2PKH, P2SH, P2WPKH, P2WSH or P2TR, of the main network, a
 * test network or regtest. Several addresses may stand for one script (tb1… and bcrt1…).
 * @param address In its canonical spelling.
 * @returns Hex.
 * @throws InvalidAddress
 */
export function scriptOf(address: string): string {
  try {
    const decoded = Address(BITCOIN_NETWORKS[prefixOf(address)]).decode(address);
    return Buffer.from(OutScript.encode(decoded)).toString('hex');
  } catch {
    throw new InvalidAddress('checksum-wrong');
  }
}
