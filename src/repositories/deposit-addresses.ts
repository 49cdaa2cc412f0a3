import type { Connection } from '../database/connection.ts';

export interface DepositAddress {
  blockchainId: string;
  address: string;
}

/** A network that a branch has an address on. */
export interface ConfiguredNetwork {
  id: string;
  windowMinutes: number;
  /** Whether the platform offers the network now. */
  isActive: boolean;
}

/** A branch's addresses, in the order of the networks (at most 24). */
export function listDepositAddresses(db: Connection, branchId: string): Promise<DepositAddress[]> {
  return db
    .selectFrom('deposit_addresses')
    .innerJoin('networks', 'networks.id', 'deposit_addresses.blockchain_id')
    .select(['blockchain_id as blockchainId', 'address'])
    .where('branch_id', '=', branchId)
    .orderBy('networks.position')
    .execute();
}

/** The networks a branch has an address on, in the order of the documentation (at most 24). */
export function listConfiguredNetworks(
  db: Connection,
  branchId: string,
): Promise<ConfiguredNetwork[]> {
  return db
    .selectFrom('deposit_addresses')
    .innerJoin('networks', 'networks.id', 'deposit_addresses.blockchain_id')
    .select([
      'networks.id',
      'networks.window_minutes as windowMinutes',
      'networks.is_active as isActive',
    ])
    .where('branch_id', '=', branchId)
    .orderBy('networks.position')
    .execute();
}

export async function setDepositAddress(
  db: Connection,
  row: { branchId: string; blockchainId: string; address: string; now: Date },
): Promise<void> {
  await db
    .insertInto('deposit_addresses')
    .values({
      branch_id: row.branchId,
      blockchain_id: row.blockchainId,
      address: row.address,
      updated_at: row.now,
    })
    .onConflict(conflict =>
      conflict
        .columns(['branch_id', 'blockchain_id'])
        .doUpdateSet({ address: row.address, updated_at: row.now }),
    )
    .execute();
}

/** @returns Whether the address existed. */
export async function removeDepositAddress(
  db: Connection,
  branchId: string,
  blockchainId: string,
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('deposit_addresses')
    .where('branch_id', '=', branchId)
    .where('blockchain_id', '=', blockchainId)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}
