import type { Connection } from '../database/connection.ts';
import type { Deposit } from '../database/deposit-tables.ts';
import { formatBaseUnits } from '../payments/token-amount.ts';
import { type DepositContext, findDepositContexts } from '../repositories/deposit-context.ts';

/** Deposits as commands print them, in the same order. Amounts are decimal strings. */
export async function depositObjects(db: Connection, deposits: readonly Deposit[]) {
  const contexts = await findDepositContexts(db, deposits);
  return deposits.flatMap(deposit => {
    const context = contexts.get(deposit.id);
    return context === undefined ? [] : [depositObject(deposit, context)];
  });
}

function depositObject(deposit: Deposit, context: DepositContext) {
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
    fits: fits.map(({ paymentId, tokenAmount }) => ({
      paymentId,
      tokenAmount: amountOf(tokenAmount),
    })),
    dismissedAt: deposit.dismissed_at,
    observedAt: deposit.observed_at,
  };
}

/** A row of a table, in which amounts have their asset and the payments that fit are texts. */
export function depositRow(deposit: Awaited<ReturnType<typeof depositObjects>>[number]) {
  const { tokenAmount, assetSymbol, merchantIds, fits, ...rest } = deposit;
  return {
    ...rest,
    amount: `${tokenAmount} ${assetSymbol}`,
    merchant: merchantIds,
    fits: fits.map(fit => `${fit.paymentId} (${fit.tokenAmount})`),
  };
}
