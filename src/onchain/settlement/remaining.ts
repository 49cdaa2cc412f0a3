import type { Connection } from '#storage/database/connection.ts';
import type { Network } from '#storage/database/network-tables.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { findNetwork } from '#storage/repositories/chains/networks.ts';
import { findParts, type Parts } from '#storage/repositories/deposits/parts.ts';
import { findRest } from '#storage/repositories/deposits/rests.ts';
import { leastAmount } from './least-amount.ts';

/** What has arrived for a payment, and what exactly completes it; in the asset's smallest unit. */
export interface Remaining {
  readonly received: bigint;
  /** The amount reserved for the rest, or any amount from which on parts suffice. */
  readonly remaining: bigint;
}

/**
 * What is left to pay after a final underpayment, or after any transfer to the payment's own address; null when nothing
 * has arrived, when it is not final yet elsewhere, and when no amount could be reserved for the rest.
 */
export async function readRemaining(db: Connection, payment: Payment): Promise<Remaining | null> {
  const { id, status, session_status: session } = payment;
  if (status !== 'pending' || session !== 'pending') return null;
  const rest = await findRest(db, id);
  if (rest !== undefined) return { received: rest.received, remaining: rest.tokenAmount };
  const parts = await readParts(db, payment);
  const network = await findNetwork(db, payment.blockchain_id ?? '');
  if (parts === null || parts.arrived === 0n || network === undefined) return null;
  return remainingOf(parts, network, payment.address ?? '');
}

/** What is left of parts that do not suffice: no less than can be sent. */
export function remainingOf(
  { arrived: received, whole }: Parts,
  network: Network,
  address: string,
): Remaining {
  const least = leastAmount(network, address, true);
  const missing = whole - received;
  return { received, remaining: missing < least ? least : missing };
}

/** What has arrived at the payment's own address; null at any other address. */
export async function readParts(
  db: Connection,
  { id, blockchain_id: blockchainId, address }: Payment,
): Promise<Parts | null> {
  if (blockchainId === null || address === null) return null;
  return (await findParts(db, id, { blockchainId, address })) ?? null;
}
