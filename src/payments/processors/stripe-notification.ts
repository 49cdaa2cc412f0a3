import type { IncomingHttpHeaders } from 'node:http';
import type Stripe from 'stripe';
import {
  NOTIFICATION_TOLERANCE_SECONDS,
  NotificationRefused,
  type ProcessorNotification,
} from '../processor.ts';

/** Event types that the endpoint at Stripe must subscribe to; all others are ignored. */
export const STRIPE_EVENTS = [
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'checkout.session.expired',
] as const satisfies readonly Stripe.Event['type'][];

type SessionEvent = Extract<Stripe.Event, { type: (typeof STRIPE_EVENTS)[number] }>;

interface Endpoint {
  readonly webhookSecret: string;
  /** Whether the secret key belongs to live mode. */
  readonly live: boolean;
}

/**
 * Verifies a Stripe event and translates it.
 *
 * Sessions without our payment ID are ignored: the account may sell other things as well. So are
 * failed attempts, because the customer can try again until the session ends.
 *
 * @param now Milliseconds since the epoch.
 * @returns null for an event that is ignored.
 * @throws NotificationRefused
 */
export function readStripeNotification(
  webhooks: Stripe['webhooks'],
  { webhookSecret, live }: Endpoint,
  headers: IncomingHttpHeaders,
  body: Buffer,
  now: number,
): ProcessorNotification | null {
  const event = verify(webhooks, webhookSecret, headers, body, now);
  if (!isEvent(event)) throw new NotificationRefused('the body is not an event');
  if (event.livemode !== live) {
    throw new NotificationRefused(
      `the event is of ${event.livemode ? 'live' : 'test'} mode, which the secret key is not`,
    );
  }
  if (!isSessionEvent(event)) return null;
  const session = event.data.object;
  if (session.metadata?.paymentId === undefined) return null;
  return toNotification(session, kindOf(event), event.id);
}

/** Statuses of a payment intent whose money was in transit and did not arrive. */
const FAILED_INTENTS: readonly Stripe.PaymentIntent.Status[] = [
  'requires_payment_method',
  'canceled',
];

/**
 * The notification that corresponds to the session's state; null while the customer can still pay.
 * @param intent The session's payment intent, if the money was in transit (`isInTransit`): a session stays complete
 * and unpaid when its payment fails.
 * @param requestId Stripe's ID of the request that read the session.
 */
export function readStripeSession(
  session: Stripe.Checkout.Session,
  intent: Stripe.PaymentIntent | null,
  requestId: string,
): ProcessorNotification | null {
  switch (session.status) {
    case 'complete': {
      const failed = intent !== null && FAILED_INTENTS.includes(intent.status);
      return toNotification(session, failed ? 'failed' : kindOfCompleted(session), requestId);
    }
    case 'expired':
      return toNotification(session, 'expired', requestId);
    default:
      return null;
  }
}

/** Whether the customer is done and the money has not arrived. */
export function isInTransit(session: Stripe.Checkout.Session): boolean {
  return session.status === 'complete' && kindOfCompleted(session) === 'seen';
}

function toNotification(
  session: Stripe.Checkout.Session,
  kind: ProcessorNotification['kind'],
  notificationId: string,
): ProcessorNotification {
  return {
    notificationId,
    externalId: session.id,
    kind,
    amountCents: session.amount_total,
    currency: session.currency,
    transactionReference: idOf(session.payment_intent),
    // Stripe reports its own fee later, and that is not the commission we charge.
    commissionCents: null,
  };
}

function verify(
  webhooks: Stripe['webhooks'],
  secret: string,
  headers: IncomingHttpHeaders,
  body: Buffer,
  now: number,
): unknown {
  const signature = headers['stripe-signature'];
  if (typeof signature !== 'string') {
    throw new NotificationRefused('the Stripe-Signature header is missing');
  }
  try {
    const tolerance = NOTIFICATION_TOLERANCE_SECONDS;
    return webhooks.constructEvent(body, signature, secret, tolerance, undefined, now);
  } catch (cause) {
    throw new NotificationRefused('the Stripe-Signature header does not hold', { cause });
  }
}

/** A signature says who wrote the body, not what it is. */
function isEvent(value: unknown): value is Stripe.Event {
  const { type, livemode, data } = (value ?? {}) as Partial<Stripe.Event>;
  return (
    typeof type === 'string' &&
    typeof livemode === 'boolean' &&
    typeof data?.object === 'object' &&
    data.object !== null
  );
}

function isSessionEvent(event: Stripe.Event): event is SessionEvent {
  return STRIPE_EVENTS.some(type => type === event.type);
}

function kindOf(event: SessionEvent): ProcessorNotification['kind'] {
  switch (event.type) {
    case 'checkout.session.completed':
      return kindOfCompleted(event.data.object);
    case 'checkout.session.async_payment_succeeded':
      return 'settled';
    case 'checkout.session.async_payment_failed':
      return 'failed';
    case 'checkout.session.expired':
      return 'expired';
  }
}

/** A completed session is `unpaid` while the money is still in transit. */
function kindOfCompleted(session: Stripe.Checkout.Session): 'seen' | 'settled' {
  return session.payment_status === 'unpaid' ? 'seen' : 'settled';
}

/** The ID of an object that Stripe gives as its ID or in full. */
export function idOf(reference: string | { readonly id: string } | null): string | null {
  return typeof reference === 'string' ? reference : (reference?.id ?? null);
}
