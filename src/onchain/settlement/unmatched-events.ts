import { newId } from '#crypto/new-id.ts';
import { formatBaseUnits } from '#payments/token-amount.ts';
import { UNMATCHED_OUTCOMES, type UnmatchedDeposit } from '#schemas/event.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import {
  type DepositContext,
  findDepositContexts,
  findInflowContext,
  type Inflow,
} from '#storage/repositories/deposits/context.ts';
import { insertEvent } from '#storage/repositories/payments/events.ts';

/**
 * Adds an event for each merchant that has the deposit's address: final funds have arrived that no payment took. Call
 * it in the transaction in which the deposit becomes final, which happens once.
 */
export async function addUnmatchedEvents(
  db: Connection,
  deposit: Deposit,
  now: Date,
): Promise<void> {
  const context = (await findDepositContexts(db, [deposit])).get(deposit.id);
  await addEvents(db, deposit, context, now);
}

/**
 * Adds an event for each merchant that has the address: funds have arrived by a contract, and no node shows in
 * which transaction, so that no payment can take them.
 */
export async function addUntraceableEvents(
  db: Connection,
  inflow: Inflow,
  now: Date,
): Promise<void> {
  const arrived = {
    id: inflow.id,
    blockchain_id: inflow.blockchainId,
    transaction_hash: null,
    address: inflow.address,
    token_amount: String(inflow.tokenAmount),
    outcome: 'untraceable',
    observed_at: now,
  };
  await addEvents(db, arrived, await findInflowContext(db, inflow, now), now);
}

async function addEvents(
  db: Connection,
  arrived: Arrived,
  context: DepositContext | undefined,
  now: Date,
): Promise<void> {
  if (context === undefined) return;
  for (const merchantId of context.merchantIds) {
    await insertEvent(db, {
      id: newId(),
      merchantId,
      paymentId: null,
      createdAt: now,
      type: 'payment_prompt.deposit_unmatched',
      data: JSON.stringify(unmatchedDeposit(arrived, context, merchantId)),
      traceparent: null,
      tracestate: null,
    });
  }
}

/** What has arrived, as far as events contain it. */
type Arrived = Pick<
  Deposit,
  'id' | 'blockchain_id' | 'address' | 'token_amount' | 'observed_at'
> & {
  readonly transaction_hash: string | null;
  readonly outcome: string;
};

/** The event's object. It lists only the merchant's own payments at the address. */
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
