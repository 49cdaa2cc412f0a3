import type { Connection } from '../../database/connection.ts';
import type { Deposit } from '../../database/deposit-tables.ts';
import { toDollarText } from '../../payments/dollars.ts';
import { formatBaseUnits } from '../../payments/token-amount.ts';
import { type DepositContext, findDepositContexts } from '../../repositories/deposits/context.ts';
import { findMeantPayments } from '../../repositories/deposits/deviations.ts';

/** Deposits as commands print them, in the same order. Amounts are decimal strings. */
export async function depositObjects(db: Connection, deposits: readonly Deposit[]) {
  const [contexts, meant] = await Promise.all([
    findDepositContexts(db, deposits),
    findMeantPayments(
      db,
      deposits.map(({ id }) => id),
    ),
  ]);
  return deposits.flatMap(deposit => {
    const context = contexts.get(deposit.id);
    return context === undefined
      ? []
      : [depositObject(deposit, context, meant.get(deposit.id)?.id ?? null)];
  });
}

function depositObject(deposit: Deposit, context: DepositContext, meantFor: string | null) {
  const { assetSymbol, assetDecimals, merchantIds, fits } = context;
  const amountOf = (units: string) => formatBaseUnits(BigInt(units), assetDecimals);
  return {
    id: deposit.id,
    blockchainId: deposit.blockchain_id,
    transactionHash: deposit.transaction_hash,
    position: deposit.position,
    address: deposit.address,
    tokenAmount: amountOf(deposit.token_amount),
    assetSymbol,
    state: deposit.state,
    outcome: deposit.outcome,
    merchantIds,
    paymentId: deposit.payment_id,
    // The payment that had asked for exactly this amount, and had ended or was paid.
    meantFor,
    // In US dollars, by the price when it arrived.
    value: deposit.value_cents === null ? null : toDollarText(deposit.value_cents),
    fits: fits.map(({ paymentId, tokenAmount }) => ({
      paymentId,
      tokenAmount: amountOf(tokenAmount),
    })),
    dismissedAt: deposit.dismissed_at,
    remedy: remedyOf(deposit),
    observedAt: deposit.observed_at,
  };
}

/** What was done with the money of one that is dismissed. */
function remedyOf({ remedy, remedy_to: to, remedy_hash: hash, remedy_note: note }: Deposit) {
  return remedy === null ? null : { remedy, to, transactionHash: hash, note };
}

/** A row of a table, in which amounts have their asset and the payments that fit are texts. */
export function depositRow(deposit: Awaited<ReturnType<typeof depositObjects>>[number]) {
  const { tokenAmount, assetSymbol, merchantIds, fits, remedy, ...rest } = deposit;
  return {
    ...rest,
    amount: `${tokenAmount} ${assetSymbol}`,
    merchant: merchantIds,
    remedy: remedy?.remedy ?? null,
    fits: fits.map(fit => `${fit.paymentId} (${fit.tokenAmount})`),
  };
}
