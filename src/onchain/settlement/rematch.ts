import type { Connection } from '#storage/database/connection.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import { deleteAskedAssignment } from '#storage/repositories/deposits/asked-assignments.ts';
import {
  listUnmatchedOf,
  lockAddresses,
  updateDeposit,
} from '#storage/repositories/deposits/deposits.ts';
import { listPlacesElsewhere } from '#storage/repositories/deposits/former-quotes.ts';
import { findParts } from '#storage/repositories/deposits/parts.ts';
import { applyDeposit } from './apply-deposit.ts';
import { type DepositMatch, matchPayment } from './match-payment.ts';
import { AMOUNTS_PER_MILLE } from './match-transfer.ts';
import { timeOf } from './observed-transfer.ts';

/** Shares of what a payment asks for that may be for it at its own address, in per mille: all. */
const ANY_AMOUNT = { least: 0n, most: 10n ** 18n };

/**
 * Matches a known deposit again. A duplicate stays one when no payment takes it.
 * @param references Default: those of the deposit.
 */
export async function rematch(
  db: Connection,
  deposit: Deposit,
  references: readonly string[] = deposit.reference_accounts ?? [],
): Promise<DepositMatch> {
  const slot = {
    blockchainId: deposit.blockchain_id,
    address: deposit.address,
    tokenAmount: BigInt(deposit.token_amount),
  };
  const matched = await matchPayment(db, slot, timeOf(deposit), references);
  const stays = deposit.outcome === 'duplicate' && matched.payment_id === null;
  return stays ? { outcome: 'duplicate', payment_id: null } : matched;
}

/**
 * Matches the unmatched deposits that may be for a payment whose funds were reversed, in the order in which they
 * came, until one of them pays it. While the reversed funds held the payment, no others could: the replacement of a
 * slow transaction was a duplicate, and a transfer of a little more had no open payment. Call it with the address
 * locked. It also locks the other addresses that the payment had. If another transaction has locked one of them
 * first, PostgreSQL may abort one of the two because of a deadlock, and that one is retried.
 * @param reversed The deposit that held the payment.
 */
export async function rematchForReopened(
  db: Connection,
  reversed: Deposit,
  paymentId: string,
  { now, actor }: { readonly now: Date; readonly actor: string },
): Promise<void> {
  const here = { blockchainId: reversed.blockchain_id, address: reversed.address };
  // The payment may have asked for an amount elsewhere, which arrived while the reversed funds held it.
  const elsewhere = await listPlacesElsewhere(db, paymentId, here);
  if (elsewhere.length > 0) await lockAddresses(db, elsewhere);
  for (const place of [here, ...elsewhere]) {
    const isOwn = (await findParts(db, paymentId, place)) !== undefined;
    const amounts = isOwn ? ANY_AMOUNT : AMOUNTS_PER_MILLE;
    for (const unmatched of await listUnmatchedOf(db, paymentId, place, amounts)) {
      const matched = await rematch(db, unmatched);
      // For other payments nothing has changed, and an operator may be about to assign the deposit to one of them.
      if (matched.payment_id !== paymentId) continue;
      await deleteAskedAssignment(db, unmatched.id);
      const deposit = await updateDeposit(db, unmatched.id, { ...matched, updated_at: now });
      await applyDeposit(db, deposit, now, actor);
      if (matched.outcome !== 'under') return;
    }
  }
}
