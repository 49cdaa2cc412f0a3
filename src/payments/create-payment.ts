import { Counter } from 'prom-client';
import type { CreatePaymentResponse } from '#schemas/create-payment.ts';
import { newId } from '../crypto/new-id.ts';
import type { Database } from '../database/connection.ts';
import type { Payment } from '../database/tables.ts';
import { afterCommit, inOneStatement, inTransaction } from '../database/transaction.ts';
import { insertCreation } from '../repositories/payment-creation.ts';
import type { TraceContext } from '../telemetry/trace-context.ts';
import type { Clock } from '../time/clock.ts';
import { hashCheckoutToken, issueCheckoutToken } from './checkout-token.ts';
import { type CreatePaymentRequest, newPayment } from './new-payment.ts';
import { chooseNetworks } from './offered-networks.ts';
import { findPayee, type Payee, type PayeeDependencies } from './payee.ts';
import { toPaymentObject } from './payment-object.ts';
import type { Processor } from './processor.ts';
import { newEvent } from './record-event.ts';
import { checkRedirectUrl } from './redirect-url.ts';
import { openRegulatedFlow } from './regulated-flow.ts';

export const paymentsCreated = new Counter({
  name: 'eps_payments_created_total',
  help: 'Payments created by this process, by flow',
  labelNames: ['flow'],
});

export interface CreatePaymentDependencies {
  readonly payees: PayeeDependencies;
  readonly clock: Clock;
  /** Base of checkout URLs. */
  readonly publicUrl: string;
  /** Whether redirects may lead to allowed loopback hosts over plain HTTP. */
  readonly allowLoopbackHttp: boolean;
  /** Collects payments on US accounts; null refuses to create them. */
  readonly processor: Processor | null;
}

/** A payment that is decided and not written yet. */
export interface Draft {
  readonly payment: Payment;
  readonly checkoutUrl: string;
  /** The trace of the request. */
  readonly trace: TraceContext | null;
}

/** What a request creates. */
export type Decision =
  /** All is decided. */
  | ({ readonly kind: 'drafted' } & Draft)
  /**
   * The processor has to be asked first.
   * @throws ProcessorUnavailable, ProcessorRefused, ApiError E5002 when it is not even asked.
   */
  | { readonly kind: 'regulated'; readonly open: () => Promise<Draft> };

const MINUTE_MS = 60_000;

/**
 * Decides what a request creates, without writing anything.
 * @throws ApiError for every business rule that refuses it.
 */
export async function decideCreation(
  deps: CreatePaymentDependencies,
  request: CreatePaymentRequest,
): Promise<Decision> {
  const { body, trace = null } = request;
  const payee = await findPayee(deps.payees, request.principal, body.merchantId);
  if (body.redirectUrl !== undefined) {
    checkRedirectUrl(body.redirectUrl, payee.redirectDomains, deps.allowLoopbackHttp);
  }
  const id = newId();
  const now = new Date(deps.clock());
  if (payee.merchant.account_kind === 'standard') {
    const { checkoutUrl, ...flow } = cryptoFlow(payee, request, now, deps.publicUrl);
    const payment = newPayment(id, payee, request, { ...flow, createdAt: now });
    return { kind: 'drafted', payment, checkoutUrl, trace };
  }
  return {
    kind: 'regulated',
    async open() {
      const flow = await openRegulatedFlow(deps.processor, payee.merchant, id, request, now);
      // A processor takes seconds to answer; whoever pages by creation time must not have passed it.
      const createdAt = new Date(deps.clock());
      const payment = newPayment(id, payee, request, { ...flow, createdAt });
      return { payment, checkoutUrl: flow.checkoutUrl, trace };
    },
  };
}

/**
 * Creates a payment with its first event.
 * @throws ApiError for every business rule that refuses it.
 * @throws ProcessorUnavailable, ProcessorRefused on US accounts.
 * @throws UncertainCommit
 */
export async function createPayment(
  db: Database,
  deps: CreatePaymentDependencies,
  request: CreatePaymentRequest,
): Promise<CreatePaymentResponse> {
  const decision = await decideCreation(deps, request);
  if (decision.kind === 'drafted') {
    await inOneStatement(db, connection => insertCreation(connection, toCreation(decision)));
    paymentsCreated.inc({ flow: decision.payment.flow });
    return toResponse(decision);
  }
  return inTransaction(db, async tx => {
    const draft = await decision.open();
    await insertCreation(tx, toCreation(draft));
    afterCommit(tx, () => paymentsCreated.inc({ flow: draft.payment.flow }));
    return toResponse(draft);
  });
}

/** What is written for a draft: the payment and its first event. */
export function toCreation({ payment, trace }: Draft) {
  return { payment, event: newEvent('payment_prompt.created', payment, payment.created_at, trace) };
}

export function toResponse({ payment, checkoutUrl }: Draft): CreatePaymentResponse {
  return { prompt: toPaymentObject(payment), checkoutUrl };
}

/** How a payment on a standard account is processed: on chain, by our own checkout. */
function cryptoFlow(
  { merchant, networks }: Payee,
  { body, terms }: CreatePaymentRequest,
  now: Date,
  publicUrl: string,
) {
  const token = issueCheckoutToken();
  const offered = chooseNetworks(body.blockchainIds, networks);
  const windowMinutes =
    terms?.windowMinutes ?? Math.max(...offered.map(network => network.windowMinutes));
  return {
    kind: 'crypto' as const,
    settlementModel: merchant.settlement_model,
    commissionAmount: merchant.settlement_model === 'direct' ? 0 : null,
    blockchainIds: offered.map(network => network.id),
    expiresAt: new Date(now.getTime() + windowMinutes * MINUTE_MS),
    checkoutUrl: `${publicUrl}/checkout/${token}`,
    checkoutTokenHash: hashCheckoutToken(token),
    processor: null,
    externalId: null,
  };
}
