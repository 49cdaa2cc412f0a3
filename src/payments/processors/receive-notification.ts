import type { IncomingHttpHeaders } from 'node:http';
import type { BaseLogger } from 'pino';
import { ApiError } from '#errors/api-error.ts';
import type { Database } from '#storage/database/connection.ts';
import type { TraceContext } from '#telemetry/trace-context.ts';
import type { Clock } from '#time/clock.ts';
import { dueCents } from '../commission.ts';
import { NotificationRefused, type Processor, type ProcessorNotification } from '../processor.ts';
import { type Settlement, settleRegulated } from './settle-regulated.ts';

export interface NotificationDependencies {
  readonly db: Database;
  readonly clock: Clock;
}

export interface ReceivedNotification {
  readonly headers: IncomingHttpHeaders;
  /** The raw bytes, which the signature covers. */
  readonly body: Buffer;
  /** Trace of the request. */
  readonly trace: TraceContext | null;
  /** Actor in the payment's history, in place of the processor. */
  readonly actor?: string | undefined;
}

export type Log = Pick<BaseLogger, 'info' | 'warn' | 'error'>;

/** Log level and message of each outcome; those that need an operator are errors. */
const LOG_LINES: Readonly<Record<Settlement['outcome'], readonly [keyof Log, string]>> = {
  moved: ['info', 'processor notification moved the payment'],
  repeated: ['info', 'processor notification repeats a known state'],
  ignored: ['warn', 'processor notification came too late and was ignored'],
  unexpected: ['error', 'processor took money for a payment that has ended: refund it there'],
  abandoned: ['warn', 'processor session without a payment has ended'],
  unknown: ['error', 'processor took money for a payment that does not exist: refund it there'],
  mismatched: [
    'error',
    'processor notification differs from the payment in amount or currency: check both',
  ],
};

/**
 * Verifies a notification, applies it to its payment and logs the outcome.
 *
 * A signed notification that cannot be applied is accepted and logged for an operator, because the
 * processor could only send it again. Only a wrong amount is refused: a later release may fix it,
 * so that a retry succeeds.
 *
 * @throws ApiError E2007 if the signature is invalid, E1040 if amount or currency differ.
 */
export async function receiveNotification(
  { db, clock }: NotificationDependencies,
  processor: Processor,
  { headers, body, ...origin }: ReceivedNotification,
  log: Log,
): Promise<void> {
  const now = clock();
  const notification = read(processor, headers, body, now, log);
  if (notification === null) return;
  const settlement = await settleRegulated(db, processor.name, notification, new Date(now), origin);
  logSettlement(log, processor.name, notification, settlement);
  if (settlement.outcome === 'mismatched') {
    throw new ApiError('E1040', 'The amount or currency is not that of the payment.');
  }
}

/** @param notification Received, or built from the processor's response about a session. */
export function logSettlement(
  log: Log,
  processor: string,
  notification: ProcessorNotification,
  { outcome, payment }: Settlement,
): void {
  const [level, message] = LOG_LINES[outcome];
  const state =
    payment === null
      ? {}
      : { paymentId: payment.id, status: payment.status, amount: dueCents(payment) };
  log[level]({ processor, notification, ...state }, message);
}

function read(
  processor: Processor,
  headers: IncomingHttpHeaders,
  body: Buffer,
  now: number,
  log: Log,
) {
  try {
    return processor.readNotification(headers, body, now);
  } catch (error) {
    if (!(error instanceof NotificationRefused)) throw error;
    log.warn(
      { processor: processor.name, reason: error.message },
      'processor notification refused',
    );
    throw new ApiError('E2007', `The notification was refused: ${error.message}.`, {
      cause: error,
    });
  }
}
