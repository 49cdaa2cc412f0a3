import type { Connection } from '#storage/database/connection.ts';
import {
  type AddressHolder,
  deleteAddressHolder,
  findHeldAddress,
  type HeldAddress,
  insertAddressHolder,
  isAddressHolder,
  listAddressHolders,
  lockAddressHolders,
  markAddressLeft,
} from '#storage/repositories/accounts/address-holders.ts';
import { LATE_FOR_MS } from '#time/late-window.ts';
import { audited, OperationRefused, type Operator } from './audit/audited-change.ts';

/**
 * How long a merchant keeps a removed address that a payer was shown, in milliseconds: as long as a deposit
 * may still be for a payment, and 30 days more, since customers pay to addresses that they have saved.
 */
export const HELD_FOR_MS = LATE_FOR_MS + 30 * 24 * 60 * 60_000;

/** An address on a network, and the merchant that it is for. */
export interface AddressOf {
  readonly merchantId: string;
  readonly blockchainId: string;
  /** In its canonical spelling. */
  readonly address: string;
}

/** Another merchant has the address, or the wallet that it is of. The message goes to the refused merchant, so it does not name the other one. */
export class AddressTaken extends OperationRefused {
  readonly wanted: AddressOf;
  readonly holders: readonly AddressHolder[];
  /** Whether it is the wallet; `wanted` is then one of its addresses. */
  readonly isWallet: boolean;

  constructor(
    wanted: AddressOf,
    holders: readonly AddressHolder[],
    code: 'address-taken' | 'wallet-taken' = 'address-taken',
  ) {
    super(code);
    this.isWallet = code === 'wallet-taken';
    this.wanted = wanted;
    this.holders = holders;
  }
}

/** The address on all chains of the network's family. */
async function requireHeldAddress(
  db: Connection,
  { blockchainId, address }: Pick<AddressOf, 'blockchainId' | 'address'>,
): Promise<HeldAddress> {
  const held = await findHeldAddress(db, blockchainId, address);
  if (held === undefined) throw new OperationRefused('network-unknown', { blockchainId });
  return held;
}

/**
 * Until when a merchant holds an address; null while it is in force, or an open payment shows it. An address
 * that no payer was shown is held only while it is in force.
 */
export function heldUntil(holder: AddressHolder, now: Date): Date | null {
  const { isInForce, isShown, isQuoted, leftAt, quotedUntil } = holder;
  if (isInForce) return null;
  if (!isShown) return leftAt ?? now;
  if (isQuoted) return null;
  const last = Math.max((leftAt ?? now).getTime(), quotedUntil?.getTime() ?? 0);
  return new Date(last + HELD_FOR_MS);
}

export function isFree(holder: AddressHolder, now: Date): boolean {
  const until = heldUntil(holder, now);
  return until !== null && until <= now;
}

/**
 * Checks without a lock; `holdAddress` may still refuse.
 * @throws AddressTaken if another merchant has the address.
 */
export async function requireUntaken(db: Connection, wanted: AddressOf, now: Date): Promise<void> {
  const holders = await listAddressHolders(db, await requireHeldAddress(db, wanted));
  const isOwn = holders.some(({ merchantId }) => merchantId === wanted.merchantId);
  const others = holders.filter(holder => !isFree(holder, now));
  if (!isOwn && others.length > 0) throw new AddressTaken(wanted, others);
}

/** Whether a merchant holds an address. */
export async function holdsAddress(db: Connection, wanted: AddressOf): Promise<boolean> {
  return isAddressHolder(db, await requireHeldAddress(db, wanted), wanted.merchantId);
}

/**
 * Makes a merchant a holder of an address, before the address comes into force or waits to. The database admits only
 * one merchant, however many ask at once. Call it in the transaction of the change, with the merchant locked.
 * @param sharedWith Another merchant that has the address, with which an operator lets this one share it.
 * @throws AddressTaken; OperationRefused if `sharedWith` does not have it.
 */
export async function holdAddress(
  operator: Operator,
  wanted: AddressOf,
  sharedWith?: string,
): Promise<void> {
  const { db: tx, clock } = operator;
  const { merchantId } = wanted;
  const now = new Date(clock());
  const held = await requireHeldAddress(tx, wanted);
  const holders = await settleHolders(tx, held, now);
  const others = holders.filter(holder => holder.merchantId !== merchantId);
  if (sharedWith !== undefined && !others.some(other => other.merchantId === sharedWith)) {
    throw new OperationRefused('address-not-shared', { merchantId: sharedWith });
  }
  if (others.length < holders.length) return markAddressLeft(tx, held, merchantId, null);
  const [first] = others;
  if (first !== undefined && sharedWith === undefined) throw new AddressTaken(wanted, others);
  const isHeld = await insertAddressHolder(tx, held, merchantId, first?.merchantId ?? null, now);
  if (!isHeld) throw new AddressTaken(wanted, await listAddressHolders(tx, held));
  if (sharedWith !== undefined) await tellOfSharing(operator, wanted, sharedWith);
}

/** Writes an audit entry for each of the two accounts. Neither tells the merchant's people who the other one is. */
async function tellOfSharing(
  operator: Operator,
  { merchantId, blockchainId, address }: AddressOf,
  sharedWith: string,
): Promise<void> {
  const entries = [
    { objectId: merchantId, merchantIds: [sharedWith] },
    { objectId: sharedWith, merchantIds: [merchantId] },
  ];
  for (const { objectId, merchantIds } of entries) {
    await audited({ ...operator, accountId: objectId }, 'address.share', async () => ({
      result: undefined,
      objectId,
      detail: { blockchainId, address, merchantIds },
    }));
  }
}

/**
 * Records that addresses of a merchant are no longer in force. One that is still in force elsewhere, or waits
 * to be, stays as it is; one that no payer was shown is freed.
 */
export async function leaveAddresses(
  { db: tx, clock }: Operator,
  { merchantId, blockchainId }: Omit<AddressOf, 'address'>,
  addresses: readonly string[],
): Promise<void> {
  for (const address of addresses.toSorted()) {
    await settleHolders(
      tx,
      await requireHeldAddress(tx, { blockchainId, address }),
      new Date(clock()),
      merchantId,
    );
  }
}

/**
 * Removes those who no longer hold an address, and records since when it is not in force for the others.
 * @param leaving The merchant that has just left it.
 * @returns The remaining holders, locked until the transaction ends.
 */
async function settleHolders(
  tx: Connection,
  held: HeldAddress,
  now: Date,
  leaving?: string,
): Promise<AddressHolder[]> {
  await lockAddressHolders(tx, held);
  const holders = (await listAddressHolders(tx, held)).map(holder =>
    holder.merchantId === leaving ? { ...holder, leftAt: now } : holder,
  );
  const staying = holders.filter(holder => !isFree(holder, now));
  const heir = staying[0]?.merchantId ?? null;
  for (const holder of holders) {
    if (!staying.includes(holder)) {
      await deleteAddressHolder(tx, held, holder.merchantId, heir, now);
    } else if (!holder.isInForce && (holder.leftAt === null || holder.merchantId === leaving)) {
      await markAddressLeft(tx, held, holder.merchantId, now);
    }
  }
  return staying;
}
