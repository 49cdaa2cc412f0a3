import { OperationRefused } from '#accounts/audit/audited-change.ts';
import type { Database } from '#storage/database/connection.ts';
import { findPartner } from '#storage/repositories/accounts/partners.ts';
import {
  type Discrepancy,
  findDiscrepancies,
} from '#storage/repositories/partners/verification.ts';

/**
 * Compares the rollups behind a partner's reports with its payments, in one snapshot.
 * @returns The differences; empty when every figure is exact.
 * @throws OperationRefused for an unknown partner.
 */
export function verifyPartner(db: Database, partnerId: string): Promise<Discrepancy[]> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async tx => {
      if ((await findPartner(tx, partnerId)) === undefined) {
        throw new OperationRefused('partner-unknown', { partnerId });
      }
      return findDiscrepancies(tx, partnerId);
    });
}
