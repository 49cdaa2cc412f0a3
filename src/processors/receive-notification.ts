import type { IncomingHttpHeaders } from 'node:http';
import type { BaseLogger } from 'pino';
import type { Database } from '../database/connection.ts';
import { ApiError } from '../errors/api-error.ts';
import { dueCents } from '../payments/commission.ts';
import {
  NotificationRefused,
  type Processor,
  type ProcessorNotification,
} from '../payments/processor.ts';
import type { TraceContext } from '../telemetry/trace-context.ts';
import type { Clock } from '../time/clock.ts';
import { type Settlement, settleRegulated } from './settle-regulated.ts';

export interface NotificationDependencies {
  readonly db: Database;
  readonly clock: Clock;
}

/** A notification as it came, and the trace of the request that brought it. */
export interface ReceivedNotification {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly trace: TraceContext | null;
}

export type Log = Pick<BaseLogger, 'info' | 'warn' | 'error'>;

/** How each outcome is logged; what needs an operator is an error. */
const OUTCOMES: Readonly<Record<Settlement['outcome'], readonly [keyof Log, string]>> = {
  moved: ['info', 'processor notification moved the payment'],
  repeated: ['info', 'processor notification repeats what is known'],
  ignored: ['warn', 'processor notification comes too late to change anything'],
  unexpected: ['error', 'a processor took money for a payment that has ended: refund it there'],
  abandoned: ['warn', 'a processor session without a payment has ended'],
  unknown: ['error', 'processor notification for a payment that does not exist: refund it there'],
  mismatched: ['error', 'processor notification names another amount than the payment: check both'],
};

/**
 * Takes in a notification: verifies it, acts on it, and logs what came of it.
 *
 * What is signed and cannot be acted on is an operator's matter, not the processor's, which could
 * only send it again; it is told so for a wrong amount alone, which a release may mend.
 *
 * @throws ApiError E2007 when the signature does not hold, E1040 for a wrong amount.
 */
export async function receiveNotification(
  { db, clock }: NotificationDependencies,
  processor: Processor,
  { headers, body, trace }: ReceivedNotification,
  log: Log,
): Promise<void> {
  const now = clock();
  const notification = read(processor, headers, body, now, log);
  if (notification === null) return;
  const settlement = await settleRegulated(db, processor.name, notification, new Date(now), trace);
  logSettlement(log, processor.name, notification, settlement);
  if (settlement.outcome === 'mismatched') {
    throw new ApiError('E1040', 'The amount or currency is not that of the payment.');
  }
}

/** Tells the log what came of a notification, or of what the processor answered when asked. */
export function logSettlement(
  log: Log,
  processor: string,
  notification: ProcessorNotification,
  { outcome, payment }: Settlement,
): void {
  const [level, message] = OUTCOMES[outcome];
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
