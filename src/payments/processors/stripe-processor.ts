import Stripe from 'stripe';
import { isProcessorLive } from '#config/config.ts';
import { traceHeaders } from '#telemetry/trace-context.ts';
import { within } from '#time/within.ts';
import {
  type Processor,
  ProcessorRefused,
  type ProcessorSession,
  ProcessorUnavailable,
  SESSION_TIMEOUT_MS,
  SessionUnknown,
} from '../processor.ts';
import {
  idOf,
  isInTransit,
  readStripeNotification,
  readStripeSession,
} from './stripe-notification.ts';

interface StripeSettings {
  readonly secretKey: string;
  /** Secret that Stripe signs events to our endpoint with (`whsec_…`). */
  readonly webhookSecret: string;
  /** Base URL of the API without a path; null for Stripe itself. */
  readonly apiUrl: string | null;
}

/** Stripe's name for stablecoin payments. */
const PAYMENT_METHOD = 'crypto';
/** Timeout of one attempt, in milliseconds: a retry has to fit into `SESSION_TIMEOUT_MS`. */
const ATTEMPT_TIMEOUT_MS = 5_000;
/** Maximum length of the product name, in characters; Stripe's page shortens longer ones anyway. */
const PRODUCT_NAME_MAXIMUM = 250;
/** Statuses below 500 that are worth a retry: a concurrent request, a rate limit. */
const TRANSIENT_STATUSES: readonly number[] = [409, 429];
/** Statuses by which Stripe refuses the account or its key, for any request. */
const ACCOUNT_STATUSES: readonly number[] = [401, 403];
/** Sentences for merchants, by Stripe's error codes. */
const REASONS: Readonly<Record<string, string>> = {
  amount_too_large: 'The amount is too large for the payment processor.',
  amount_too_small: 'The amount is too small for the payment processor.',
};

/**
 * Stripe's hosted Checkout, with stablecoins as the only payment method: Stripe lets the customer
 * choose network and wallet, and settles in dollars.
 * @param publicUrl Base URL of the neutral page that customers return to.
 */
export function createStripeProcessor(
  settings: StripeSettings,
  publicUrl: string,
): Processor & { readonly name: 'stripe' } {
  const stripe = new Stripe(settings.secretKey, {
    ...addressOf(settings.apiUrl),
    timeout: ATTEMPT_TIMEOUT_MS,
    maxNetworkRetries: 1,
    telemetry: false,
  });
  const live = isProcessorLive({ name: 'stripe', ...settings });

  return {
    name: 'stripe',
    async createSession(session) {
      const { id, url, payment_method_types } = await inTime(
        stripe.checkout.sessions.create(toParameters(session, publicUrl), {
          idempotencyKey: session.paymentId,
          headers: traceHeaders(session.trace),
        }),
      );
      // Stripe silently drops methods that the account, the currency or the amount does not allow.
      if (!payment_method_types.includes(PAYMENT_METHOD)) {
        throw new ProcessorRefused(
          `Stripe does not offer ${PAYMENT_METHOD} for session ${id}`,
          'The payment processor does not offer stablecoins for this account or amount.',
        );
      }
      if (!url) throw new ProcessorRefused(`Stripe gave session ${id} no page`);
      return { url, externalId: id };
    },
    readNotification: (headers, body, now) =>
      readStripeNotification(stripe.webhooks, { ...settings, live }, headers, body, now),
    async readSession(externalId) {
      const session = await inTime(stripe.checkout.sessions.retrieve(externalId));
      const intentId = isInTransit(session) ? idOf(session.payment_intent) : null;
      // The session does not show that its payment has failed.
      const intent =
        intentId === null ? null : await inTime(stripe.paymentIntents.retrieve(intentId));
      return readStripeSession(session, intent, session.lastResponse.requestId);
    },
    async endSession(externalId) {
      await inTime(stripe.checkout.sessions.expire(externalId));
    },
  };
}

function toParameters(
  session: ProcessorSession,
  publicUrl: string,
): Stripe.Checkout.SessionCreateParams {
  const { paymentId, note } = session;
  return {
    mode: 'payment',
    allowed_payment_method_types: [PAYMENT_METHOD],
    line_items: [
      {
        quantity: 1,
        price_data: {
          currency: 'usd',
          unit_amount: session.amountCents,
          product_data: {
            // By code point: half a surrogate pair cannot be sent.
            name: [...session.merchantName].slice(0, PRODUCT_NAME_MAXIMUM).join(''),
            // Stripe rejects an empty description.
            ...(note ? { description: note } : {}),
          },
        },
      },
    ],
    // Notifications are compared with our amount, so Stripe must not charge another currency.
    adaptive_pricing: { enabled: false },
    client_reference_id: paymentId,
    metadata: { paymentId },
    payment_intent_data: { metadata: { paymentId } },
    // Stripe takes Unix seconds, from 30 minutes to 24 hours ahead.
    expires_at: Math.floor(session.expiresAt.getTime() / 1000),
    // Stripe requires one. Customers of US accounts are not sent back to the merchant.
    success_url: `${publicUrl}/processor/done`,
  };
}

function addressOf(apiUrl: string | null): Stripe.StripeConfig {
  if (apiUrl === null) return {};
  const { protocol, hostname, port } = new URL(apiUrl);
  const plain = protocol === 'http:';
  return { protocol: plain ? 'http' : 'https', host: hostname, port: port || (plain ? 80 : 443) };
}

/**
 * The result of a call, if it comes in time: the package limits each attempt, and only until the first byte.
 * @throws ProcessorUnavailable, ProcessorRefused, SessionUnknown
 */
async function inTime<T>(call: Promise<T>): Promise<T> {
  const late = `Stripe did not answer within ${SESSION_TIMEOUT_MS} ms`;
  try {
    return await within(SESSION_TIMEOUT_MS, call, () => new ProcessorUnavailable(late));
  } catch (error) {
    throw error instanceof Stripe.errors.StripeError ? toProcessorError(error) : error;
  }
}

/** A new error without a cause: Stripe's errors contain whole responses, including headers. */
function toProcessorError(error: InstanceType<typeof Stripe.errors.StripeError>): Error {
  const { statusCode: status, type, code, requestId } = error;
  const reference = requestId === undefined ? '' : ` (request ${requestId})`;
  const details = [type, code].filter(Boolean).join(' ');
  if (status === undefined) return new ProcessorUnavailable(`${details}: ${error.message}`);
  const text = `Stripe answered ${status} ${details}${reference}: ${error.message}`;
  if (status === 404) return new SessionUnknown(text);
  return status >= 500 || TRANSIENT_STATUSES.includes(status)
    ? new ProcessorUnavailable(text)
    : new ProcessorRefused(text, reasonOf(status, code));
}

/** In our own words: Stripe's may name its account, its key or its own parameters. */
function reasonOf(status: number, code: string | undefined): string | undefined {
  if (code !== undefined && Object.hasOwn(REASONS, code)) return REASONS[code];
  return ACCOUNT_STATUSES.includes(status)
    ? 'The payment processor accepts no payments for this account.'
    : undefined;
}
