import type { IncomingHttpHeaders } from 'node:http';
import type { TraceContext } from '#telemetry/trace-context.ts';

/** What a processor has to collect. */
export interface ProcessorSession {
  readonly paymentId: string;
  /** US dollars, in cents. */
  readonly amountCents: number;
  readonly merchantName: string;
  readonly note: string | null;
  /** When the customer can no longer start paying. */
  readonly expiresAt: Date;
  /** The trace that is passed on to the processor. */
  readonly trace: TraceContext | null;
}

/** A verified notification of the processor about one of its sessions. */
export interface ProcessorNotification {
  /** The processor's own name for this message, for logs and the payment's history. */
  readonly notificationId: string;
  /** The session, as `createSession` returned it. */
  readonly externalId: string;
  /** `seen`: the customer has paid, but the money may still fail to arrive. */
  readonly kind: 'seen' | 'settled' | 'failed' | 'cancelled' | 'expired';
  /** What the session collects; it has to be what the payment asks for. */
  readonly amountCents: number | null;
  /** ISO 4217 in lower case. */
  readonly currency: string | null;
  /** The payment's transactionHash once it is settled. */
  readonly transactionReference: string | null;
  /** What the processor reports as our commission, in cents; null if it reports none. */
  readonly commissionCents: number | null;
}

/** A regulated payment processor: the payments of US accounts go through one. */
export interface Processor {
  /** Shown as paymentSystem in partner reports, and part of its notifications' path. */
  readonly name: string;
  /**
   * Opens a page where the customer pays; calling it again for the same payment opens no second one. Takes at most
   * `SESSION_TIMEOUT_MS`.
   * @throws ProcessorUnavailable when it cannot be reached in time, ProcessorRefused otherwise, and ApiError E5002
   * when the call is not made at all.
   */
  createSession(session: ProcessorSession): Promise<{ url: string; externalId: string }>;
  /**
   * Verifies a notification over its raw bytes and translates it.
   * @param now Milliseconds since the epoch.
   * @returns null for a notification that does not concern the service.
   * @throws NotificationRefused
   */
  readNotification(
    headers: IncomingHttpHeaders,
    body: Buffer,
    now: number,
  ): ProcessorNotification | null;
  /**
   * Reads the current state of a session.
   * @returns What a notification would say now; null while the customer can still pay.
   * @throws ProcessorUnavailable, ProcessorRefused, and SessionUnknown when it never had the session.
   */
  readSession(externalId: string): Promise<ProcessorNotification | null>;
  /** Ends a session before its time; fails when it has ended already. */
  endSession?(externalId: string): Promise<void>;
}

/**
 * Longest a session may take to create, in milliseconds. The creation's transaction is open and idle
 * for that long, so this stays well below the 15 s after which PostgreSQL ends it.
 */
export const SESSION_TIMEOUT_MS = 8_000;

/** How far a notification's signature may lie in the past, in seconds: Stripe's own default. */
export const NOTIFICATION_TOLERANCE_SECONDS = 300;

/** The processor could not be reached, did not respond in time, or reports a failure of its own. */
export class ProcessorUnavailable extends Error {
  override readonly name = 'ProcessorUnavailable';
}

/** The processor declined; asking for the same again does not help. */
export class ProcessorRefused extends Error {
  override readonly name = 'ProcessorRefused';
  /** A sentence for the merchant, without the processor's own details. */
  readonly reason: string;

  /** @param message The processor's own words, for operators. */
  constructor(message: string, reason = 'The payment processor refuses this payment.') {
    super(message);
    this.reason = reason;
  }
}

/** The processor has no such session: it belongs to another account of ours, or is gone. */
export class SessionUnknown extends Error {
  override readonly name = 'SessionUnknown';
}

/** A notification that is not signed by the processor, too old, of the wrong mode, or no event. */
export class NotificationRefused extends Error {
  override readonly name = 'NotificationRefused';
}
