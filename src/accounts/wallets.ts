import { HDKey } from '@scure/bip32';
import { InvalidAddress } from '#chains/address.ts';
import { findInWallet, firstAddresses, walletAddress } from '#chains/bitcoin/wallet-addresses.ts';
import { parseWalletKey, walletDigest } from '#chains/bitcoin/wallet-key.ts';
import type { Keyring } from '#crypto/keyring.ts';
import { newId } from '#crypto/new-id.ts';
import type { Wallet } from '#storage/database/account-tables.ts';
import type { Connection, Database } from '#storage/database/connection.ts';
import { transact } from '#storage/database/transaction.ts';
import {
  findWalletIndex,
  insertWalletAddresses,
  listAddressesFrom,
  listMissingIndices,
  listShortWallets,
} from '#storage/repositories/accounts/wallet-addresses.ts';
import {
  findWallet,
  findWalletHolder,
  holdWalletAddresses,
  insertWallet,
  lockWallet,
  lockWalletOf,
  markWalletLeft,
  releaseWallet,
  updateWallet,
} from '#storage/repositories/accounts/wallets.ts';
import { findNetwork } from '#storage/repositories/chains/networks.ts';
import { AddressTaken, isFree } from './address-holders.ts';
import { requireAddressFor } from './allowed-addresses.ts';
import { OperationRefused, type Operator } from './audit/audited-change.ts';

/**
 * How many addresses are derived ahead of the last funded one. Quotes go at most 18 beyond it, and a transfer to the
 * last of these moves it as far again.
 */
const STOCK = 40;
/** Below how many more are derived: some of the stock may belong to another merchant and be left out. */
const SHORT = 25;

/** A wallet as it was given, with the address that proves it. */
export interface GivenWallet {
  readonly blockchainId: string;
  /** The next unused receiving address, in its canonical spelling. */
  readonly address: string;
  readonly index: number;
  readonly kind: Wallet['kind'];
  readonly prefix: Wallet['prefix'];
  readonly fingerprint: string;
  readonly receiving: HDKey;
}

/** A given wallet, and what seals its key. */
export interface SealedWallet {
  readonly given: GivenWallet;
  readonly keyring: Keyring;
}

/** A wallet as people compare it with the program that holds the money. */
export interface WalletView extends Pick<Wallet, 'kind' | 'fingerprint'> {
  readonly index: number;
  /** Its addresses from the index on: the first three. */
  readonly addresses: readonly string[];
}

export function viewGiven({ receiving, ...given }: GivenWallet): WalletView {
  return { ...given, addresses: firstAddresses(receiving, given, given.index) };
}

/**
 * Shows a wallet without opening its key.
 * @param from An index, or the address to begin with.
 * @returns null for an unknown wallet, or if the address is none of it.
 */
export async function viewWallet(
  db: Connection,
  walletId: string,
  from: number | string,
): Promise<WalletView | null> {
  const wallet = await findWallet(db, walletId);
  const index = typeof from === 'number' ? from : await findWalletIndex(db, walletId, from);
  if (wallet === undefined || index === undefined) return null;
  const { kind, fingerprint } = wallet;
  return { kind, fingerprint, index, addresses: await listAddressesFrom(db, walletId, index, 3) };
}

/** A wallet as somebody shows it. */
export interface ShownWallet {
  /** Extended public key or output descriptor. */
  readonly key: string;
  /** The next unused receiving address. */
  readonly next: string;
}

/**
 * Reads the public key of a wallet that a merchant shows, and finds the next unused receiving address among its addresses.
 * It may take seconds, so call it outside of a transaction.
 * @throws OperationRefused with the reason.
 */
export async function readWallet(
  db: Connection,
  merchantId: string,
  blockchainId: string,
  { key: text, next }: ShownWallet,
): Promise<GivenWallet> {
  const address = await requireAddressFor(db, merchantId, blockchainId, next);
  const network = await findNetwork(db, blockchainId);
  if (network?.family !== 'bitcoin') {
    throw new OperationRefused('wallet-only-bitcoin', { blockchainId });
  }
  try {
    const key = parseWalletKey(network.environment, text);
    const { fingerprint, receiving } = key;
    const position = await findInWallet(key, address);
    return { blockchainId, address, ...position, fingerprint, receiving };
  } catch (error) {
    if (!(error instanceof InvalidAddress)) throw error;
    throw new OperationRefused('wallet-invalid', { problem: error.problem });
  }
}

/**
 * Locks the wallet of a given key, if there is one. Call it before the address is held, as `holdWallet` needs: whoever
 * derives addresses holds them with the wallet locked.
 */
export async function lockGiven(
  tx: Connection,
  { given: { blockchainId, receiving } }: SealedWallet,
): Promise<void> {
  await lockWalletOf(tx, blockchainId, walletDigest(receiving));
}

/**
 * Makes a wallet a merchant's, before it comes into force or waits to, and derives its first addresses. The database
 * admits one merchant for a key, however it is written. Call it in the transaction of the change, with the merchant
 * locked.
 * @throws AddressTaken for a wallet that another merchant has; OperationRefused for one that the merchant has with
 * addresses of another kind.
 */
export async function holdWallet(
  { db: tx, clock }: Operator,
  merchantId: string,
  { given, keyring }: SealedWallet,
): Promise<Wallet> {
  const now = new Date(clock());
  const digest = walletDigest(given.receiving);
  const known = await lockWalletOf(tx, given.blockchainId, digest);
  const isKept = known !== undefined && (await keepsWallet(tx, known, merchantId, given, now));
  const wallet = isKept ? known : await insertNew(tx, merchantId, { given, keyring, digest }, now);
  if (wallet.left_at !== null) await holdWalletAddresses(tx, wallet.id, now);
  await markWalletLeft(tx, wallet.id, null);
  // What it had in stock may be behind this index, or far before it.
  const first = Array.from({ length: STOCK }, (_, ahead) => given.index + ahead);
  await derive(tx, wallet, given.receiving, first);
  return wallet;
}

/** Whether a key stays with its wallet's row; else the row is released, and the key is free. */
async function keepsWallet(
  tx: Connection,
  wallet: Wallet,
  merchantId: string,
  { blockchainId, address, kind }: GivenWallet,
  now: Date,
): Promise<boolean> {
  const isOwn = wallet.merchant_id === merchantId;
  if (isOwn && wallet.kind === kind) return true;
  const holder = await findWalletHolder(tx, wallet.id);
  if (holder !== undefined && !(isOwn ? !holder.isInForce : isFree(holder, now))) {
    if (isOwn) throw new OperationRefused('wallet-of-other-kind');
    // An address by which the operator can release the wallet.
    const [first = address] = await listAddressesFrom(tx, wallet.id, 0, 1);
    const wanted = { merchantId, blockchainId, address: first };
    throw new AddressTaken(wanted, [holder], 'wallet-taken');
  }
  if (isOwn) await updateWallet(tx, wallet.id, { released_at: now });
  else await releaseWallet(tx, wallet.id, now);
  return false;
}

function insertNew(
  tx: Connection,
  merchantId: string,
  { given, keyring, digest }: SealedWallet & { readonly digest: string },
  now: Date,
): Promise<Wallet> {
  const { blockchainId, index, kind, prefix, fingerprint, receiving } = given;
  const id = newId();
  return insertWallet(tx, {
    id,
    merchant_id: merchantId,
    blockchain_id: blockchainId,
    kind,
    prefix,
    fingerprint,
    digest,
    key: keyring.seal(receiving.publicExtendedKey, id),
    master_key_version: keyring.currentVersion,
    first_index: index,
    created_at: now,
  });
}

/** Begins the quotes of a wallet, whose change comes into force, at the address that was its next unused one. */
export async function beginWallet(tx: Connection, walletId: string, address: string) {
  const index = await findWalletIndex(tx, walletId, address);
  if (index !== undefined) await updateWallet(tx, walletId, { first_index: index });
}

/** Records that a wallet is no longer in force, unless another branch has it or it waits. */
export function leaveWallet({ db: tx, clock }: Operator, walletId: string): Promise<void> {
  return markWalletLeft(tx, walletId, new Date(clock()));
}

/**
 * Derives addresses for wallets that have few in stock, each in its own transaction.
 * @param limit Maximum number of wallets.
 * @returns How many wallets there were.
 */
export async function stockWallets(db: Database, keyring: Keyring, limit: number): Promise<number> {
  const ids = await listShortWallets(db, SHORT, limit);
  for (const id of ids) {
    await transact(db, async tx => {
      const wallet = await lockWallet(tx, id);
      if (wallet === undefined) return;
      const key = keyring.open(wallet.key, id, wallet.master_key_version);
      await derive(tx, wallet, HDKey.fromExtendedKey(key));
    });
  }
  return ids.length;
}

/** @param more Indices that are derived too, wherever they are. */
async function derive(
  tx: Connection,
  wallet: Wallet,
  receiving: HDKey,
  more: readonly number[] = [],
): Promise<void> {
  const missing = await listMissingIndices(tx, wallet.id, STOCK);
  const indices = [...new Set([...more, ...missing])];
  await insertWalletAddresses(
    tx,
    wallet,
    indices.map(index => ({ index, address: walletAddress(wallet, receiving, index) })),
  );
}
