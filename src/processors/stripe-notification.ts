import type { IncomingHttpHeaders } from 'node:http';
import type Stripe from 'stripe';
import {
  NOTIFICATION_TOLERANCE_SECONDS,
  NotificationRefused,
  type ProcessorNotification,
} from './processor.ts';

/**
 * Verifies an event of Stripe and says what it means for a payment.
 *
 * Only sessions that carry our payment ID concern us: an account may sell other things as well. A
 * failed attempt is no event here, since the customer can try again until the session ends.
 *
 * @param now Milliseconds since the epoch.
 * @throws NotificationRefused
 */
export function readStripeNotification(
  webhooks: Stripe['webhooks'],
  secret: string,
  headers: IncomingHttpHeaders,
  body: Buffer,
  now: number,
): ProcessorNotification | null {
  const event = verify(webhooks, secret, headers, body, now);
  const kind = kindOf(event);
  if (kind === null) return null;
  const session = event.data.object as Stripe.Checkout.Session;
  if (session.metadata?.paymentId === undefined) return null;
  return {
    notificationId: event.id,
    externalId: session.id,
    kind,
    amountCents: session.amount_total,
    currency: session.currency,
    transactionReference: idOf(session.payment_intent),
    // Stripe's own fee is known later, and is not what we charge the merchant.
    commissionCents: null,
  };
}

function verify(
  webhooks: Stripe['webhooks'],
  secret: string,
  headers: IncomingHttpHeaders,
  body: Buffer,
  now: number,
): Stripe.Event {
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

function kindOf(event: Stripe.Event): ProcessorNotification['kind'] | null {
  switch (event.type) {
    case 'checkout.session.completed':
      // The customer is done; `unpaid` means the money is still on its way.
      return event.data.object.payment_status === 'unpaid' ? 'seen' : 'settled';
    case 'checkout.session.async_payment_succeeded':
      return 'settled';
    case 'checkout.session.async_payment_failed':
      return 'failed';
    case 'checkout.session.expired':
      return 'expired';
    default:
      return null;
  }
}

function idOf(reference: string | { readonly id: string } | null): string | null {
  return typeof reference === 'string' ? reference : (reference?.id ?? null);
}
