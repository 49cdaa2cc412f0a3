import type { BaseLogger } from 'pino';
import type { Keyring } from '#crypto/keyring.ts';
import { newId } from '#crypto/new-id.ts';
import { hashToken, newToken } from '#crypto/token.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import type { TraceContext } from '#telemetry/trace-context.ts';
import type { Clock } from '#time/clock.ts';
import { CHECKOUT_PREFIX } from './checkout-path.ts';
import { type CreatePaymentRequest, newPayment } from './new-payment.ts';
import { chooseNetworks, offeringFor } from './offered-networks.ts';
import { findPayee, type Payee, type PayeeDependencies } from './payee.ts';
import type { Processor } from './processor.ts';
import { checkRedirectUrl } from './redirect-url.ts';
import { openRegulatedFlow } from './regulated-flow.ts';

export interface CreatePaymentDependencies {
  readonly payees: PayeeDependencies;
  readonly clock: Clock;
  /** Seals stored responses. */
  readonly keyring: Keyring;
  /** Base of checkout URLs. */
  readonly publicUrl: string;
  /** Whether payments of all merchants are simulated. */
  readonly simulation: boolean;
  /** Whether redirects may lead to allowed loopback hosts over plain HTTP. */
  readonly allowLoopbackHttp: boolean;
  /** Collects payments on US accounts of live merchants; null refuses to create them. */
  readonly processor: Processor | null;
  /** Collects those of test merchants. */
  readonly sandbox: Processor;
  /** Gets what the processor refuses. */
  readonly logger: Pick<BaseLogger, 'warn'>;
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
   * @throws ProcessorUnavailable, ApiError E1040 when it refuses, E5002 when it is not even asked.
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
    const { checkoutUrl, ...flow } = cryptoFlow(deps, payee, request, now);
    const payment = newPayment(id, payee, request, { ...flow, createdAt: now });
    return { kind: 'drafted', payment, checkoutUrl, trace };
  }
  return {
    kind: 'regulated',
    async open() {
      const flow = await openRegulatedFlow(deps, payee.merchant, id, request, now);
      // Not the time before the processor's response, seconds ago: a client that pages by creation time
      // may have passed that already.
      const createdAt = new Date(deps.clock());
      const payment = newPayment(id, payee, request, { ...flow, createdAt });
      return { payment, checkoutUrl: flow.checkoutUrl, trace };
    },
  };
}

/** How a payment on a standard account is processed: on chain, by our own checkout. */
function cryptoFlow(
  { publicUrl, simulation }: CreatePaymentDependencies,
  { merchant, networks }: Payee,
  { body, terms }: CreatePaymentRequest,
  now: Date,
) {
  const token = newToken();
  const offered = chooseNetworks(
    body.blockchainIds,
    networks,
    offeringFor(simulation, merchant.environment),
  );
  const windowMinutes =
    terms?.windowMinutes ?? Math.max(...offered.map(network => network.windowMinutes));
  return {
    kind: 'crypto' as const,
    settlementModel: merchant.settlement_model,
    commissionAmount: merchant.settlement_model === 'direct' ? 0 : null,
    blockchainIds: offered.map(network => network.id),
    expiresAt: new Date(now.getTime() + windowMinutes * MINUTE_MS),
    inquireAt: null,
    checkoutUrl: `${publicUrl}${CHECKOUT_PREFIX}/${token}`,
    checkoutTokenHash: hashToken(token),
    processor: null,
    externalId: null,
  };
}
