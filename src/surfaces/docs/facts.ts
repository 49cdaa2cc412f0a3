import { readFileSync } from 'node:fs';
import { TOLERANCE_SECONDS } from '#client/verify-webhook.ts';
import type { Config } from '#config/config.ts';
import { RETRY_AFTER_MAXIMUM_MS } from '#outbound/retry-after.ts';
import {
  IDEMPOTENCY_KEY_MAXIMUM,
  IN_PROGRESS_RETRY_SECONDS,
  RESPONSE_LIFETIME_MS,
} from '#payments/idempotency.ts';
import { REQUEUED_MAXIMUM } from '#payments/webhooks/change-endpoint.ts';
import { ENDPOINTS_MAXIMUM, SECRET_GRACE_MS } from '#payments/webhooks/manage-endpoints.ts';
import { REDELIVERIES_MAXIMUM } from '#payments/webhooks/redeliver.ts';
import { JITTER, RETRY_DELAYS_SECONDS } from '#payments/webhooks/retry-schedule.ts';
import { ATTEMPT_TIMEOUT_MS } from '#payments/webhooks/send.ts';
import { RECENT_PAYMENTS } from '#reports/partners/merchant-reports.ts';
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAXIMUM } from '#schemas/list-payments.ts';
import {
  PARTNER_PAGE_DEFAULT,
  PARTNER_PAGE_MAXIMUM,
  PARTNER_TEXT_MAXIMUM,
} from '#schemas/partner-reports.ts';
import { TIMESTAMP_WINDOW_SECONDS } from '#signing/canonical.ts';
import { NONCE_MAXIMUM } from '#signing/check-headers.ts';
import { NONCE_LIFETIME_SECONDS } from '#signing/nonce-store.ts';
import { TEST_ID_PREFIX } from '#signing/vectors/test-payment.ts';
import { TREND_DAYS } from '#time/days.ts';
import { CLOSED_AFTER_MS } from '#time/months.ts';
import { MERCHANT_ID } from '../api/partner/examples.ts';
import { CREATED, PAYMENT_ID, SUCCESSFUL_PAYMENT } from '../api/v1/examples.ts';
import { LEGACY_WINDOW_MINUTES } from '../legacy/prompts.ts';
import { type ClientPackage, readVersion } from './client-package/package-file.ts';
import { eventTable, failureTable, retriedErrorTable, retryTable } from './fact-tables.ts';
import { ACCOUNT_FACTS } from './facts/accounts.ts';
import { CHAIN_FACTS } from './facts/chains.ts';
import type { Facts } from './facts/facts.ts';
import { OPERATING_FACTS } from './facts/operating.ts';
import { PAYMENT_FACTS } from './facts/payments.ts';
import { formatDuration } from './format-duration.ts';
import { DEPOSIT_EVENT_EXAMPLE, EVENT_EXAMPLE } from './openapi/webhooks.ts';
import {
  EXAMPLE_KEY_ID,
  EXAMPLE_SECRET,
  EXAMPLE_WEBHOOK_SECRET,
  SIGNED_CREATE,
  SIGNED_LIST,
  SIGNED_WEBHOOK,
} from './worked-examples.ts';

/** What the documentation takes from the configuration, and the client that is served beside it. */
export interface DocsSettings
  extends Pick<
    Config,
    | 'publicUrl'
    | 'panelUrl'
    | 'simulation'
    | 'rateLimitMax'
    | 'rateLimitWindowSeconds'
    | 'legacyDeprecation'
    | 'legacySunset'
    | 'retentionDays'
  > {
  /** undefined where it has not been built. */
  readonly client: ClientPackage | undefined;
}

const day = (date: Date) => date.toISOString().slice(0, 10);
const json = (value: unknown) => JSON.stringify(value, null, 2);

/** Every number, table and example that guides take from the code. */
export function factsOf(settings: DocsSettings): Facts {
  const { publicUrl, rateLimitMax, rateLimitWindowSeconds } = settings;
  const { legacyDeprecation, legacySunset } = settings;
  return {
    'public-url': publicUrl,
    'client.version': settings.client?.version ?? readVersion(),
    'client.integrity': settings.client?.integrity ?? 'not built',
    'rate.max': rateLimitMax,
    'rate.window': formatDuration(rateLimitWindowSeconds),
    'example.payment-id': PAYMENT_ID,
    'example.merchant-id': MERCHANT_ID,
    'example.created': json({
      prompt: {
        object: CREATED.prompt.object,
        id: CREATED.prompt.id,
        amount: CREATED.prompt.amount,
        status: CREATED.prompt.status,
        '…': '…',
      },
      checkoutUrl: CREATED.checkoutUrl,
    }),
    'example.paid': json({
      object: SUCCESSFUL_PAYMENT.object,
      id: SUCCESSFUL_PAYMENT.id,
      status: SUCCESSFUL_PAYMENT.status,
      paidAt: SUCCESSFUL_PAYMENT.paidAt,
      '…': '…',
    }),
    'program.sh': readProgram('payment.sh'),
    'program.mjs': readProgram('payment.mjs'),
    'program.py': readProgram('payment.py'),
    'program.php': readProgram('payment.php'),
    'receiver.mjs': readProgram('hooks.mjs'),
    'receiver.py': readProgram('hooks.py'),
    'receiver.php': readProgram('hooks.php'),
    'receiver.go': readProgram('hooks.go'),
    'send-hook.sh': readProgram('send-hook.sh'),
    'timestamp.window': TIMESTAMP_WINDOW_SECONDS,
    'nonce.max': NONCE_MAXIMUM,
    'nonce.lifetime': formatDuration(NONCE_LIFETIME_SECONDS),
    ...prefixed('signed.', {
      'key-id': EXAMPLE_KEY_ID,
      secret: EXAMPLE_SECRET,
      ...SIGNED_CREATE,
      ...SIGNED_WEBHOOK.headers,
    }),
    'signed-list.path': SIGNED_LIST.path,
    'signed-list.canonical': SIGNED_LIST.canonical,
    'signed-list.signature': SIGNED_LIST.signature,
    'idempotency.key-max': IDEMPOTENCY_KEY_MAXIMUM,
    'idempotency.lifetime': formatDuration(RESPONSE_LIFETIME_MS / 1000),
    'idempotency.retry-after': IN_PROGRESS_RETRY_SECONDS,
    'errors.retried': retriedErrorTable(),
    'page.max': PAGE_SIZE_MAXIMUM,
    'page.default': PAGE_SIZE_DEFAULT,
    'partner.page-max': PARTNER_PAGE_MAXIMUM,
    'partner.page-default': PARTNER_PAGE_DEFAULT,
    'partner.text-max': PARTNER_TEXT_MAXIMUM,
    'partner.trend-days': TREND_DAYS,
    'partner.month-closes': formatDuration(CLOSED_AFTER_MS / 1000),
    'partner.recent-payments': RECENT_PAYMENTS,
    'webhook.events': eventTable(),
    'webhook.example': json(EVENT_EXAMPLE),
    'webhook.deposit-example': json(DEPOSIT_EVENT_EXAMPLE),
    'webhook.endpoints-max': ENDPOINTS_MAXIMUM,
    'webhook.redeliveries-max': REDELIVERIES_MAXIMUM.toLocaleString('en-US'),
    'webhook.requeued-max': REQUEUED_MAXIMUM.toLocaleString('en-US'),
    'webhook.test-id-prefix': TEST_ID_PREFIX,
    'webhook.secret-grace': formatDuration(SECRET_GRACE_MS / 1000),
    'webhook.tolerance': formatDuration(TOLERANCE_SECONDS),
    'webhook.timeout': formatDuration(ATTEMPT_TIMEOUT_MS / 1000),
    'webhook.attempts': RETRY_DELAYS_SECONDS.length,
    'webhook.retries': retryTable(),
    'webhook.retention-days': settings.retentionDays,
    'webhook.jitter': 100 * JITTER,
    'webhook.retry-after-max': formatDuration(RETRY_AFTER_MAXIMUM_MS / 1000),
    'signed-webhook.secret': EXAMPLE_WEBHOOK_SECRET,
    'signed-webhook.body': SIGNED_WEBHOOK.body,
    'legacy.since':
      legacyDeprecation === null
        ? 'is deprecated'
        : `has been deprecated since **${day(legacyDeprecation)}**`,
    'legacy.end':
      legacySunset === null
        ? 'no date for its end has been set'
        : `it ends on **${day(legacySunset)}**`,
    'legacy.window': formatDuration(LEGACY_WINDOW_MINUTES * 60),
    'legacy.failures': failureTable(),
    ...PAYMENT_FACTS,
    ...ACCOUNT_FACTS,
    ...CHAIN_FACTS,
    ...OPERATING_FACTS,
  };
}

function prefixed(prefix: string, facts: Facts): Facts {
  return Object.fromEntries(Object.entries(facts).map(([name, fact]) => [prefix + name, fact]));
}

/** A program of the guides; tests run it as the page shows it. */
function readProgram(file: string): string {
  return readFileSync(new URL(`./snippets/${file}`, import.meta.url), 'utf8').trimEnd();
}
