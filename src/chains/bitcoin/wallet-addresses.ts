import { setImmediate as nextTurn } from 'node:timers/promises';
import type { HDKey } from '@scure/bip32';
import { type NETWORK, p2pkh, p2sh, p2tr, p2wpkh } from '@scure/btc-signer';
import type { WalletKind } from '#storage/database/account-tables.ts';
import { InvalidAddress } from '../invalid-address.ts';
import { BITCOIN_NETWORKS, type BitcoinPrefix, prefixOf, scriptOf } from './script.ts';
import type { WalletKey } from './wallet-key.ts';

/** How many receiving addresses are searched for the one that a wallet shows. */
export const SEARCHED = 10_000;
/** How many addresses are searched first, and how many for change, to name the mistake soon. */
const FIRST_SEARCHED = 200;
/** Addresses between two turns of the event loop: some milliseconds of work. */
const IN_ONE_TURN = 10;
/** Addresses of each kind that are shown if the one of the wallet is not found. */
const SHOWN = 3;

export const WALLET_KINDS: readonly WalletKind[] = ['wpkh', 'tr', 'sh-wpkh', 'pkh'];

/** How the addresses of a wallet are written. */
interface WalletStyle {
  readonly kind: WalletKind;
  /** What bech32 addresses begin with; it also names the network of base58. */
  readonly prefix: BitcoinPrefix;
}

/**
 * An address below a parent key, of a kind: P2PKH (BIP-44), P2SH-P2WPKH (BIP-49), P2WPKH (BIP-84) or P2TR without
 * scripts (BIP-86).
 */
export function walletAddress({ kind, prefix }: WalletStyle, parent: HDKey, index: number): string {
  const { publicKey } = parent.deriveChild(index);
  if (publicKey === null) throw new Error('a public key has public children');
  const { address } = paymentTo(kind, publicKey, BITCOIN_NETWORKS[prefix]);
  if (address === undefined) throw new Error(`a script of ${kind} has an address`);
  return address;
}

function paymentTo(
  kind: WalletKind,
  publicKey: Uint8Array,
  network: typeof NETWORK,
): { readonly address?: string } {
  switch (kind) {
    case 'pkh':
      return p2pkh(publicKey, network);
    case 'sh-wpkh':
      return p2sh(p2wpkh(publicKey, network), network);
    case 'wpkh':
      return p2wpkh(publicKey, network);
    case 'tr':
      return p2tr(publicKey.subarray(1), undefined, network);
  }
}

/** The style of a wallet's addresses, and the index of the one that was given. */
interface WalletPosition extends WalletStyle {
  readonly index: number;
}

/**
 * Finds a receiving address of a wallet among its first 10,000, which proves key, kind and position. Lets other work
 * go on meanwhile: the last of them is found after some seconds.
 * @param address In its canonical spelling, of the key's network.
 * @throws InvalidAddress that names a change address, and shows the first addresses of the key for any other one.
 */
export async function findInWallet(
  key: WalletKey,
  address: string,
  searched = SEARCHED,
): Promise<WalletPosition> {
  const kind = kindOf(address);
  const prefix = prefixOf(address);
  if (kind === undefined) throw new InvalidAddress('wallet-address-kind');
  const style = { kind, prefix };
  if (key.kind === null || key.kind === kind) {
    const search = (parent: HDKey, from: number, to: number) =>
      indexBelow(parent, style, address, from, to);
    const first = await search(key.receiving, 0, FIRST_SEARCHED);
    if (first !== undefined) return { ...style, index: first };
    const change = key.change && (await search(key.change, 0, FIRST_SEARCHED));
    if (change !== undefined) throw new InvalidAddress('wallet-address-of-change');
    const index = await search(key.receiving, FIRST_SEARCHED, searched);
    if (index !== undefined) return { ...style, index };
  }
  const shown = (key.kind === null ? WALLET_KINDS : [key.kind]).flatMap(each =>
    firstAddresses(key.receiving, { kind: each, prefix }),
  );
  throw new InvalidAddress('wallet-address-not-found', { searched, addresses: shown.join(', ') });
}

/** The first three addresses of a kind, or those from an index on. */
export function firstAddresses(parent: HDKey, style: WalletStyle, from = 0): string[] {
  return Array.from({ length: SHOWN }, (_, index) => walletAddress(style, parent, from + index));
}

async function indexBelow(
  parent: HDKey,
  style: WalletStyle,
  address: string,
  from: number,
  to: number,
): Promise<number | undefined> {
  for (let index = from; index < to; index += 1) {
    if (walletAddress(style, parent, index) === address) return index;
    if (index % IN_ONE_TURN === IN_ONE_TURN - 1) await nextTurn();
  }
  return undefined;
}

/** P2SH counts as P2SH-P2WPKH: what else it may be, no single key has. */
function kindOf(address: string): WalletKind | undefined {
  const script = scriptOf(address);
  if (script.startsWith('76a914')) return 'pkh';
  if (script.startsWith('a914')) return 'sh-wpkh';
  if (script.startsWith('0014')) return 'wpkh';
  return script.startsWith('5120') ? 'tr' : undefined;
}
