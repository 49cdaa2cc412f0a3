import { toDollarText } from '#payments/dollars.ts';
import { formatBaseUnits } from '#payments/token-amount.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { BookedReturn, Deposit } from '#storage/database/deposit-tables.ts';
import {
  type DepositContext,
  findDepositContexts,
} from '#storage/repositories/deposits/context.ts';
import { findMeantPayments } from '#storage/repositories/deposits/deviations.ts';
import { findReturns } from '#storage/repositories/deposits/returns.ts';

/** Deposits as commands print them, in the same order. Amounts are decimal strings. */
export async function depositObjects(db: Connection, deposits: readonly Deposit[]) {
  const ids = deposits.map(({ id }) => id);
  const [contexts, meant, returns] = await Promise.all([
    findDepositContexts(db, deposits),
    findMeantPayments(db, ids),
    findReturns(db, ids),
  ]);
  return deposits.flatMap(deposit => {
    const context = contexts.get(deposit.id);
    return context === undefined
      ? []
      : [depositObject(deposit, context, meant.get(deposit.id)?.id, returns.get(deposit.id))];
  });
}

function depositObject(
  deposit: Deposit,
  context: DepositContext,
  meantFor: string | undefined,
  returned: BookedReturn | undefined,
) {
  const { assetSymbol, assetDecimals, derivationIndex, merchantIds, fits } = context;
  const amountOf = (units: string) => formatBaseUnits(BigInt(units), assetDecimals);
  return {
    id: deposit.id,
    blockchainId: deposit.blockchain_id,
    transactionHash: deposit.transaction_hash,
    position: deposit.position,
    address: deposit.address,
    // Of the address in a wallet; null for a static one.
    derivationIndex,
    tokenAmount: amountOf(deposit.token_amount),
    assetSymbol,
    state: deposit.state,
    outcome: deposit.outcome,
    merchantIds,
    // Whether several merchants had its address when it arrived.
    isShared: merchantIds.length > 1,
    paymentId: deposit.payment_id,
    // The payment that it was meant for, which had ended or was already paid.
    meantFor: meantFor ?? null,
    // In US dollars, at the price when it arrived.
    value: deposit.value_cents === null ? null : toDollarText(deposit.value_cents),
    fits: fits.map(({ paymentId, tokenAmount }) => ({
      paymentId,
      tokenAmount: amountOf(tokenAmount),
    })),
    dismissedAt: deposit.dismissed_at,
    remedy: remedyOf(deposit),
    returned: returned === undefined ? null : returnOf(returned),
    observedAt: deposit.observed_at,
  };
}

/** What was done with the money of a dismissed deposit. */
function remedyOf({ remedy, remedy_to: to, remedy_hash: hash, remedy_note: note }: Deposit) {
  return remedy === null ? null : { remedy, to, transactionHash: hash, note };
}

/** How a part of an ended payment was given back. */
function returnOf({ booked_at: at, returned_to: to, transaction_hash, note }: BookedReturn) {
  return { at, to, transactionHash: transaction_hash, note };
}

/** A row of a table: amounts include their asset, and the payments that fit are texts. */
export function depositRow(deposit: Awaited<ReturnType<typeof depositObjects>>[number]) {
  const {
    tokenAmount,
    assetSymbol,
    merchantIds,
    isShared,
    fits,
    remedy,
    returned: _,
    ...rest
  } = deposit;
  return {
    ...rest,
    amount: `${tokenAmount} ${assetSymbol}`,
    merchant: isShared ? [...merchantIds, '(shared address)'] : merchantIds,
    remedy: remedy?.remedy ?? null,
    fits: fits.map(fit => `${fit.paymentId} (${fit.tokenAmount})`),
  };
}
