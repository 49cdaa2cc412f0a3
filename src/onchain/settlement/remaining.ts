import type { Connection } from '#storage/database/connection.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { findRest } from '#storage/repositories/deposits/rests.ts';

/** What has arrived for a payment, and what exactly completes it; in the asset's smallest unit. */
export interface Remaining {
  readonly received: bigint;
  /** The amount reserved for the rest. */
  readonly remaining: bigint;
}

/**
 * What is left to pay after a final underpayment; null when nothing has arrived, when it is not final yet, and when
 * no amount could be reserved for the rest.
 */
export async function readRemaining(
  db: Connection,
  { id, status, session_status: session }: Payment,
): Promise<Remaining | null> {
  if (status !== 'pending' || session !== 'pending') return null;
  const rest = await findRest(db, id);
  return rest === undefined ? null : { received: rest.received, remaining: rest.tokenAmount };
}
