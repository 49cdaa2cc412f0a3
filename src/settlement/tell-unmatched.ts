import { UNMATCHED_OUTCOMES, type UnmatchedDeposit } from '#schemas/event.ts';
import { newId } from '../crypto/new-id.ts';
import type { Connection } from '../database/connection.ts';
import type { Deposit } from '../database/deposit-tables.ts';
import { formatBaseUnits } from '../payments/token-amount.ts';
import {
  type DepositContext,
  findDepositContexts,
  findInflowContext,
  type Inflow,
} from '../repositories/deposits/context.ts';
import { insertEvent } from '../repositories/payments/events.ts';

/**
 * Records an event for each merchant that has the deposit's address: funds have arrived for good that no
 * payment took. Call it in the transaction in which the deposit becomes final, which happens once.
 */
export async function tellUnmatched(db: Connection, deposit: Deposit, now: Date): Promise<void> {
  const context = (await findDepositContexts(db, [deposit])).get(deposit.id);
  if (context === undefined) return;
  for (const merchantId of context.merchantIds) await tell(db, deposit, context, merchantId, now);
}

/**
 * Records an event for each merchant that has the address: funds have arrived by a contract, and no node
 * can tell in which transaction, so that no payment can take them.
 */
export async function tellUntraceable(db: Connection, inflow: Inflow, now: Date): Promise<void> {
  const context = await findInflowContext(db, inflow);
  if (context === undefined) return;
  const arrived = {
    id: inflow.id,
    blockchain_id: inflow.blockchainId,
    transaction_hash: null,
    address: inflow.address,
    token_amount: String(inflow.tokenAmount),
    outcome: 'untraceable',
    observed_at: now,
  };
  for (const merchantId of context.merchantIds) await tell(db, arrived, context, merchantId, now);
}

async function tell(
  db: Connection,
  arrived: Arrived,
  context: DepositContext,
  merchantId: string,
  now: Date,
): Promise<void> {
  await insertEvent(db, {
    id: newId(),
    merchantId,
    paymentId: null,
    type: 'payment_prompt.deposit_unmatched',
    createdAt: now,
    data: JSON.stringify(unmatchedDeposit(arrived, context, merchantId)),
    traceparent: null,
    tracestate: null,
  });
}

/** What arrived, as it is told. */
type Arrived = Pick<
  Deposit,
  'id' | 'blockchain_id' | 'address' | 'token_amount' | 'observed_at'
> & {
  readonly transaction_hash: string | null;
  readonly outcome: string;
};

/** What a merchant is told of a deposit: of the payments at the address, only its own. */
function unmatchedDeposit(
  deposit: Arrived,
  { assetDecimals, fits }: DepositContext,
  merchantId: string,
): UnmatchedDeposit {
  const amountOf = (units: string) => formatBaseUnits(BigInt(units), assetDecimals);
  return {
    id: deposit.id,
    blockchainId: deposit.blockchain_id,
    transactionHash: deposit.transaction_hash,
    address: deposit.address,
    tokenAmount: amountOf(deposit.token_amount),
    outcome: UNMATCHED_OUTCOMES.find(outcome => outcome === deposit.outcome) ?? 'unknown',
    observedAt: deposit.observed_at.toISOString(),
    payments: fits
      .filter(fit => fit.merchantId === merchantId)
      .map(({ paymentId, tokenAmount }) => ({ id: paymentId, tokenAmount: amountOf(tokenAmount) })),
  };
}
