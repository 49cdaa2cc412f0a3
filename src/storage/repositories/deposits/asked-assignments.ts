import type { Insertable } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { AskedAssignmentsTable } from '../../database/deposit-tables.ts';
import { deleteBy } from '../rows.ts';

/** An assignment that waits for the approval of a second person, with the name of the person who asks for it. */
interface AskedAssignment {
  readonly paymentId: string;
  readonly personId: string;
  readonly name: string;
  readonly askedAt: Date;
}

/** Saves a request for an assignment; it replaces the former one of the deposit. */
export async function saveAskedAssignment(
  db: Connection,
  row: Insertable<AskedAssignmentsTable>,
): Promise<void> {
  const { deposit_id: _, ...asked } = row;
  await db
    .insertInto('asked_assignments')
    .values(row)
    .onConflict(conflict => conflict.column('deposit_id').doUpdateSet(asked))
    .execute();
}

/** Undefined without one, and once its person is deactivated or no longer an admin of the merchant. */
export function findAskedAssignment(
  db: Connection,
  depositId: string,
): Promise<AskedAssignment | undefined> {
  return db
    .selectFrom('asked_assignments')
    .innerJoin('people', 'people.id', 'person_id')
    .innerJoin('payments', 'payments.id', 'payment_id')
    .innerJoin('merchant_users as own', join =>
      join
        .onRef('own.merchant_id', '=', 'payments.merchant_id')
        .onRef('own.person_id', '=', 'people.id'),
    )
    .select([
      ...(['payment_id as paymentId', 'people.id as personId', 'people.name'] as const),
      'asked_at as askedAt',
    ])
    .where('deposit_id', '=', depositId)
    .where('own.role', '=', 'admin')
    .where('own.status', '=', 'active')
    .executeTakeFirst();
}

/** Call it when the deposit is settled, one way or another. */
export const deleteAskedAssignment = deleteBy('asked_assignments', 'deposit_id');
