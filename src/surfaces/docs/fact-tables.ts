import { CHAIN_IDS, chainOf } from '#chains/chain-list.ts';
import { parseFinality } from '#chains/finality.ts';
import { REDIS_FORMS } from '#config/redis-url.ts';
import { ERROR_CODES, ERRORS, type ErrorCode } from '#errors/catalogue.ts';
import { RETRY_DELAYS_SECONDS } from '#payments/webhooks/retry-schedule.ts';
import { BLOCKCHAIN_IDS } from '#schemas/blockchain.ts';
import { EVENT_TYPES } from '#schemas/event.ts';
import { ALERT_RULES } from '#telemetry/alert-rules.ts';
import { LEGACY_REFUSALS, type LegacyReason } from '../legacy/refusal.ts';
import { REASONS } from '../legacy/translate.ts';
import { formatDollars } from '../pages/format-dollars.ts';
import { formatDuration } from './format-duration.ts';
import { meaningOf } from './openapi/webhooks.ts';
import { code, codes, errorLink, table } from './write-markdown.ts';

export const isTestNetwork = (id: string) => /-(test|dev)$/.test(id);

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
    ERROR_CODES.filter(errorCode => ERRORS[errorCode].retry).map(errorCode => [
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

/** When transfers on each chain are final, unless an operator has set another rule. */
export function finalityTable(): string {
  const chains = CHAIN_IDS.filter(id => !isTestNetwork(id)).map(id => chainOf(id));
  return table(
    ['networks', 'final after', 'usually'],
    chains.map(({ id, finality, usualFinalityMs }) => [
      codes(BLOCKCHAIN_IDS.filter(own => own.split('-')[0] === id && !isTestNetwork(own))),
      describeFinality(finality),
      formatDuration(usualFinalityMs / 1000),
    ]),
  );
}

/** A rule of finality in words. */
export function describeFinality(rule: string): string {
  return parseFinality(rule)
    .steps.map(({ blocks, belowCents }, index) => {
      const needed = blocks === 'final' ? 'the network’s own finality' : countBlocks(blocks);
      if (belowCents !== null) return `${needed} below ${formatDollars(belowCents)}`;
      return index === 0 ? needed : `else ${needed}`;
    })
    .join(', ');
}

function countBlocks(blocks: number): string {
  return blocks === 1 ? '1 block' : `${blocks} blocks`;
}

/** The forms of REDIS_URL. */
export function redisTable(): string {
  return table(
    ['servers', code('REDIS_URL')],
    REDIS_FORMS.map(([servers, url]) => [servers, code(url)]),
  );
}

/** Up to which delay of their transfers networks are still offered. */
export function lagTable(): string {
  const chains = CHAIN_IDS.filter(id => !isTestNetwork(id)).map(id => chainOf(id));
  const byLag = Map.groupBy(chains, chain => chain.offeredLagMs);
  return table(
    ['chains', 'offered up to a delay of'],
    [...byLag].map(([lag, group]) => [
      codes(group.map(({ id }) => id)),
      formatDuration(lag / 1000),
    ]),
  );
}

/** Every failure of the older contract, with the errors that v1 has for it. */
export function failureTable(): string {
  return table(
    ['HTTP', 'message', 'v1'],
    (Object.keys(LEGACY_REFUSALS) as LegacyReason[]).map(reason => {
      const { status, message } = LEGACY_REFUSALS[reason];
      const translated = ERROR_CODES.filter(errorCode => REASONS[errorCode] === reason);
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
