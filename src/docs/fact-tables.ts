import { EVENT_TYPES } from '#schemas/event.ts';
import { ERRORS, type ErrorCode } from '../errors/catalogue.ts';
import { LEGACY_REFUSALS, type LegacyReason } from '../legacy/refusal.ts';
import { REASONS } from '../legacy/translate.ts';
import { ALERT_RULES } from '../telemetry/alert-rules.ts';
import { RETRY_DELAYS_SECONDS } from '../webhooks/retry-schedule.ts';
import { formatDuration } from './format-duration.ts';
import { meaningOf } from './openapi/webhooks.ts';
import { code, errorLink, table } from './write-markdown.ts';

const CODES = Object.keys(ERRORS) as ErrorCode[];

/** How long to wait before a retry, where exponential backoff is not the advice. */
const WAITS: Partial<Record<ErrorCode, string>> = {
  E2003: 'no wait: correct the clock',
  E4003: 'the seconds in `Retry-After`',
  E9001: 'the seconds in `Retry-After`',
};

/** The v1 errors for failures that only the older contract has. */
const OWN_REASONS: Partial<Record<LegacyReason, readonly ErrorCode[]>> = {
  bodyInvalid: ['E1000', 'E1001', 'E1002'],
  mainBranchMissing: ['E1030'],
  noPaymentAddresses: ['E1020'],
  paymentAddressesMissing: ['E1020'],
  authorizationMissing: ['E2001'],
  authorizationMalformed: ['E2001'],
  clientIdInvalid: ['E2004'],
  apiKeyInvalid: ['E2004', 'E2007'],
  userInactive: ['E2008'],
  userNotAdmin: ['E2008'],
  promptMissing: ['E3001', 'E1001'],
  internal: ['E5001'],
};

export function retriedErrorTable(): string {
  return table(
    ['error', 'HTTP', 'wait'],
    CODES.filter(errorCode => ERRORS[errorCode].retry).map(errorCode => [
      `${errorLink(errorCode)} ${code(ERRORS[errorCode].code)}`,
      ERRORS[errorCode].status,
      WAITS[errorCode] ?? 'one second, doubled after each attempt, with jitter',
    ]),
  );
}

export function eventTable(): string {
  return table(
    ['type', 'meaning'],
    EVENT_TYPES.map(type => [code(type), meaningOf(type)]),
  );
}

export function retryTable(): string {
  return table(
    ['attempt', 'delay after the previous one'],
    RETRY_DELAYS_SECONDS.map((seconds, index) => [
      index + 1,
      seconds === 0 ? 'at once' : formatDuration(seconds),
    ]),
  );
}

/** Every failure of the older contract, with the errors that v1 has for it. */
export function failureTable(): string {
  return table(
    ['HTTP', 'message', 'v1'],
    (Object.keys(LEGACY_REFUSALS) as LegacyReason[]).map(reason => {
      const { status, message } = LEGACY_REFUSALS[reason];
      const translated = CODES.filter(errorCode => REASONS[errorCode] === reason);
      const successors = OWN_REASONS[reason] ?? translated;
      return [status, code(message), successors.map(errorLink).join(', ')];
    }),
  );
}

export function alertTable(): string {
  return table(
    ['alert', 'severity', 'meaning'],
    ALERT_RULES.map(({ alert, labels, annotations }) => [
      code(alert),
      labels.severity,
      // Prometheus fills `{{ $labels.pool }}` in when the alert fires.
      annotations.summary.replace(/\{\{ \$labels\.(\w+) \}\}/g, (_label, name) => `*${name}*`),
    ]),
  );
}
