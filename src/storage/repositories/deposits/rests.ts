import type { Connection } from '../../database/connection.ts';

/** The live reservation of what is left to pay. */
export interface Rest {
  readonly tokenAmount: bigint;
  /** Amount of the underpayment. */
  readonly received: bigint;
  readonly transactionHash: string;
  /** Smallest amount that completes the payment if a wallet has cut off decimals; null if only the whole rest does. */
  readonly cutFrom: bigint | null;
}

/** What a payment still waits for after an underpayment. */
export async function findRest(db: Connection, paymentId: string): Promise<Rest | undefined> {
  const row = await db
    .selectFrom('reservations')
    .innerJoin('deposits', 'deposits.id', 'reservations.rest_of')
    .select(['reservations.token_amount', 'deposits.token_amount as received', 'transaction_hash'])
    .select('cut_from')
    .where('reservations.payment_id', '=', paymentId)
    .where('released_at', 'is', null)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return {
    tokenAmount: BigInt(row.token_amount),
    received: BigInt(row.received),
    transactionHash: row.transaction_hash,
    cutFrom: row.cut_from === null ? null : BigInt(row.cut_from),
  };
}
