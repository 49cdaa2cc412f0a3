import { newId } from '../../crypto/new-id.ts';
import type { Connection } from '../../database/connection.ts';
import { addFinding } from '../../repositories/chains/findings.ts';
import type { Difference } from './reconcile-blocks.ts';

/** Writes differences down as findings; those that are open already are not repeated. */
export async function reportDifferences(
  db: Connection,
  network: { readonly id: string; readonly chain: string },
  differences: readonly Difference[],
  now: Date,
): Promise<void> {
  for (const { kind, ...difference } of differences) {
    await addFinding(
      db,
      {
        id: newId(),
        chain: network.chain,
        kind: 'ledger_difference',
        blockchainId: network.id,
        ...difference,
        detail: `${KINDS[kind]}: ${difference.detail}`,
      },
      now,
    );
  }
}

const KINDS: Readonly<Record<Difference['kind'], string>> = {
  missing: 'Not in the ledger',
  differs: 'Otherwise in the ledger',
  not_on_chain: 'Not on the chain',
};
