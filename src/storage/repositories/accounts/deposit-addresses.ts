import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { Network } from '../../database/network-tables.ts';
import { type WalletUse, walletUses } from './wallet-addresses.ts';

export interface DepositAddress {
  blockchainId: string;
  /** Of a wallet, its first address to be used. */
  address: string;
  walletId: string | null;
}

/** An address, with the time when it was last set. */
export interface DatedAddress extends Omit<DepositAddress, 'walletId'> {
  setAt: Date;
  /** The wallet that it is the first address of; null for a static address. */
  wallet: WalletUse | null;
}

/** A branch's addresses, in the order of the networks (at most 20 on each of 24). */
export function listDepositAddresses(db: Connection, branchId: string): Promise<DepositAddress[]> {
  return db
    .selectFrom('deposit_addresses')
    .innerJoin('networks', 'networks.id', 'deposit_addresses.blockchain_id')
    .select(['blockchain_id as blockchainId', 'address', 'wallet_id as walletId'])
    .where('branch_id', '=', branchId)
    .orderBy('networks.position')
    .orderBy('deposit_addresses.updated_at')
    .orderBy('address')
    .execute();
}

/** A branch's addresses, with the time when each was last set (at most 20 on each of 24 networks). */
export function listDatedAddresses(
  db: Connection,
  branchId: string,
  lateSince: Date,
): Promise<DatedAddress[]> {
  return db
    .selectFrom('deposit_addresses')
    .select(['blockchain_id as blockchainId', 'address', 'updated_at as setAt'])
    .select(
      sql<WalletUse | null>`(
        select to_json(use) from (${walletUses(lateSince)} where own.id = deposit_addresses.wallet_id) as use
      )`.as('wallet'),
    )
    .where('branch_id', '=', branchId)
    .orderBy('updated_at')
    .orderBy('address')
    .execute();
}

/** A branch's addresses on a network (at most 20). */
export async function listAddressesOn(
  db: Connection,
  branchId: string,
  blockchainId: string,
): Promise<string[]> {
  const rows = await db
    .selectFrom('deposit_addresses')
    .select('address')
    .where('branch_id', '=', branchId)
    .where('blockchain_id', '=', blockchainId)
    .orderBy('updated_at')
    .orderBy('address')
    .execute();
  return rows.map(row => row.address);
}

/** The wallet of a branch on a network; null for static addresses, and for none. */
export async function findWalletOn(
  db: Connection,
  branchId: string,
  blockchainId: string,
): Promise<string | null> {
  const row = await db
    .selectFrom('deposit_addresses')
    .select('wallet_id')
    .where('branch_id', '=', branchId)
    .where('blockchain_id', '=', blockchainId)
    .where('wallet_id', 'is not', null)
    .executeTakeFirst();
  return row?.wallet_id ?? null;
}

/** The networks on which a branch has no address but another one has, in the order of the documentation (at most 24). */
export function listNetworksLacking(
  db: Connection,
  branchId: string,
  otherId: string,
): Promise<Network[]> {
  const configured = (id: string) =>
    db.selectFrom('deposit_addresses').select('blockchain_id').where('branch_id', '=', id);
  return db
    .selectFrom('networks')
    .selectAll()
    .where('id', 'in', configured(otherId))
    .where('id', 'not in', configured(branchId))
    .orderBy('position')
    .execute();
}

/** Adds an address to those of a branch on a network; an existing one only gets a new time, and the wallet. */
export async function addDepositAddress(
  db: Connection,
  row: DepositAddress & { branchId: string; now: Date },
): Promise<void> {
  await db
    .insertInto('deposit_addresses')
    .values({
      branch_id: row.branchId,
      blockchain_id: row.blockchainId,
      address: row.address,
      updated_at: row.now,
      wallet_id: row.walletId,
    })
    .onConflict(conflict =>
      conflict
        .columns(['branch_id', 'blockchain_id', 'address'])
        .doUpdateSet({ updated_at: row.now, wallet_id: row.walletId }),
    )
    .execute();
}

/** Removes these addresses from those of a branch on a network. */
export async function removeDepositAddresses(
  db: Connection,
  branchId: string,
  blockchainId: string,
  addresses: readonly string[],
): Promise<void> {
  if (addresses.length === 0) return;
  await db
    .deleteFrom('deposit_addresses')
    .where('branch_id', '=', branchId)
    .where('blockchain_id', '=', blockchainId)
    .where('address', 'in', addresses)
    .execute();
}
