import type { Keyring } from '#crypto/keyring.ts';
import { type PaymentFact, readHistory } from '#payments/history.ts';
import { toPaymentSnapshot } from '#payments/payment-object.ts';
import { formatBaseUnits } from '#payments/token-amount.ts';
import type { PaymentSnapshot } from '#schemas/payment.ts';
import type { MerchantEnvironment } from '#storage/database/account-tables.ts';
import type { Connection, Database } from '#storage/database/connection.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { findMerchant } from '#storage/repositories/accounts/merchants.ts';
import { findChainHeights } from '#storage/repositories/chains/chains.ts';
import { listResponses } from '#storage/repositories/deposits/evidence.ts';
import type { Clock } from '#time/clock.ts';
import { type Signed, signEvidence } from './sign.ts';

/** Version of the document's format; it rises when a member changes its meaning. */
const VERSION = 1;

/** A payment's data and their sources. Times are ISO 8601, amounts as in the API. */
export interface Evidence {
  readonly version: typeof VERSION;
  readonly madeAt: string;
  /** Base URL of the service; its public keys are below `/.well-known/jwks.json`. */
  readonly service: string;
  readonly merchantId: string;
  /** `test` for a test merchant, whose payments are worth nothing. */
  readonly environment: MerchantEnvironment;
  readonly payment: PaymentSnapshot;
  /** Where the customer was asked to pay to; null before a network was chosen. */
  readonly address: string | null;
  readonly transitions: readonly object[];
  readonly deposits: readonly object[];
  readonly events: readonly object[];
}

export type SignedEvidence = Signed<Evidence>;

interface Dependencies {
  readonly db: Database;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly publicUrl: string;
}

/**
 * Collects the evidence about a payment, and signs it. Secrets, the checkout's link and the paths of
 * webhook URLs are left out.
 */
export async function makeEvidence(
  { db, keyring, clock, publicUrl }: Dependencies,
  payment: Payment,
): Promise<SignedEvidence> {
  const [facts, merchant] = await Promise.all([
    readHistory(db, payment),
    findMerchant(db, payment.merchant_id),
  ]);
  const evidence: Evidence = {
    version: VERSION,
    madeAt: new Date(clock()).toISOString(),
    service: publicUrl,
    merchantId: payment.merchant_id,
    environment: merchant?.environment ?? 'live',
    payment: toPaymentSnapshot(payment),
    address: payment.address,
    transitions: facts.flatMap(fact => (fact.kind === 'transition' ? [toTransition(fact)] : [])),
    deposits: await toDeposits(db, facts),
    events: toEvents(facts),
  };
  return signEvidence({ db, keyring, clock }, evidence);
}

type FactOf<K extends PaymentFact['kind']> = Extract<PaymentFact, { kind: K }>;

function toTransition({ transition }: FactOf<'transition'>): object {
  const { at, actor, reason } = transition;
  return {
    at: at.toISOString(),
    from: { status: transition.from_status, sessionStatus: transition.from_session_status },
    to: { status: transition.to_status, sessionStatus: transition.to_session_status },
    actor,
    reason,
  };
}

async function toDeposits(db: Connection, facts: readonly PaymentFact[]): Promise<object[]> {
  const deposits = facts.flatMap(fact => (fact.kind === 'deposit' ? [fact.deposit] : []));
  const kept = await listResponses(db, deposits);
  const heights = await findChainHeights(db);
  return deposits.map(deposit => {
    const { id, block_height: height, asset_decimals: assetDecimals, source } = deposit;
    const newest = heights.get(deposit.blockchain_id) ?? null;
    const responses = kept.find(
      row =>
        row.blockchain_id === deposit.blockchain_id &&
        row.transaction_hash === deposit.transaction_hash,
    );
    return {
      id,
      blockchainId: deposit.blockchain_id,
      transactionHash: deposit.transaction_hash,
      position: deposit.position,
      address: deposit.address,
      // Of the address in the merchant's wallet; null for a static one.
      derivationIndex: deposit.derivation_index,
      source,
      tokenAmount: formatBaseUnits(BigInt(deposit.token_amount), assetDecimals),
      state: deposit.state,
      outcome: deposit.outcome,
      blockHeight: height,
      blockHash: deposit.block_hash,
      confirmations:
        source !== 'chain' || height === null || newest === null
          ? null
          : Math.max(1, newest - height + 1),
      observedAt: deposit.observed_at.toISOString(),
      settledBy:
        responses === undefined
          ? null
          : {
              node: responses.node,
              at: responses.recorded_at.toISOString(),
              // As text, so that no number in it is spelled differently.
              answers: responses.answers,
            },
    };
  });
}

function toEvents(facts: readonly PaymentFact[]): object[] {
  const deliveries = facts.filter(fact => fact.kind === 'delivery');
  const attempts = facts.filter(fact => fact.kind === 'attempt');
  return facts.flatMap(fact => {
    if (fact.kind !== 'event') return [];
    const own = deliveries.filter(({ delivery }) => delivery.event_id === fact.id);
    return [
      {
        id: fact.id,
        type: fact.event.type,
        createdAt: fact.at.toISOString(),
        deliveries: own.map(({ delivery }) => ({
          id: delivery.id,
          to: new URL(delivery.endpoint_url).origin,
          status: delivery.status,
          attempts: attempts
            .filter(({ attempt }) => attempt.delivery_id === delivery.id)
            .map(({ attempt }) => ({
              number: attempt.number,
              at: attempt.at.toISOString(),
              statusCode: attempt.status_code,
              error: attempt.error,
              durationMs: attempt.duration_ms,
            })),
        })),
      },
    ];
  });
}
