import { readFileSync } from 'node:fs';
import { HELD_FOR_MS } from '#accounts/address-holders.ts';
import { RECOVERY_HOLD_MS } from '#accounts/change-rights.ts';
import { FORMER_TOLD_MS } from '#accounts/change-steps.ts';
import { ADDRESSES_MAXIMUM } from '#accounts/deposit-addresses.ts';
import {
  ACTIVE_KEYS_MAXIMUM,
  KEY_ID_BYTES,
  PASSPHRASE_BYTES,
  ROTATION_GRACE_MS,
  SECRET_BYTES,
} from '#accounts/keys/manage-keys.ts';
import {
  MERCHANT_SCOPES,
  PARTNER_DEVELOPER_SCOPES,
  PARTNER_OWNER_SCOPES,
} from '#accounts/keys/scopes.ts';
import { LOGO_BYTES_MAXIMUM, LOGO_PIXELS_MAXIMUM } from '#accounts/logo.ts';
import { RETRY_PAUSES_MS } from '#accounts/mail/outbox.ts';
import { TOLERANCE_BPS_MAXIMUM } from '#accounts/merchants.ts';
import { COMMON_PASSWORDS } from '#accounts/people/common-passwords.ts';
import { ASKED_LIMITS } from '#accounts/people/forgotten-password.ts';
import { IDLE_MS, LIFETIME_MS, SESSIONS_MAXIMUM } from '#accounts/people/panel-sessions.ts';
import { PASSWORD_MAXIMUM, PASSWORD_MINIMUM } from '#accounts/people/password-rules.ts';
import { SESSION_WRONG_MAXIMUM } from '#accounts/people/proofs.ts';
import { ATTEMPT_LIMITS } from '#accounts/people/throttle.ts';
import { LOOPBACK_HOSTS, REDIRECT_DOMAINS_MAXIMUM } from '#accounts/redirect-domains.ts';
import { KEY_PAUSE_MS } from '#accounts/requests/explain-later.ts';
import {
  REQUEST_RETENTION_DAYS,
  REQUESTS_PER_ACCOUNT_MAXIMUM,
} from '#accounts/requests/stored-fields.ts';
import { chainOf } from '#chains/chain-list.ts';
import { LOOKS } from '#chains/misses.ts';
import { SPARED_SHARE, SPENT_PAUSE_MS } from '#chains/nodes/daily-quota.ts';
import { HEAD_AGE_MS } from '#chains/nodes/open-node-set.ts';
import { RESPONSE_MAXIMUM_BYTES } from '#chains/nodes/response-limits.ts';
import {
  LAG_PAUSE_MAXIMUM_MS,
  STRIKE_PAUSE_MAXIMUM_MS,
  STRIKE_PAUSE_MS,
} from '#chains/nodes/strikes.ts';
import { OVERSIZED_PAUSE_MS } from '#chains/nodes/unusable-response.ts';
import { EXPLAINED_MAXIMUM } from '#chains/solana/holdings.ts';
import { SPAN_MAXIMUM } from '#chains/tron/holdings.ts';
import { TOLERANCE_SECONDS } from '#client/verify-webhook.ts';
import { type Config, readConfig } from '#config/config.ts';
import { HOLD_MS, OVERLOAD_RETRY_SECONDS } from '#http/admission.ts';
import { PATIENCE } from '#http/connections.ts';
import { DRAIN_MS } from '#http/graceful-close.ts';
import { SERVER_LIMITS } from '#http/server-options.ts';
import { UNREAD_BYTES_MAX } from '#http/unread-responses.ts';
import { OVERPAYMENT_PER_MILLE } from '#onchain/settlement/match-transfer.ts';
import {
  BUDGET_CENTS,
  BUDGET_PER_MILLE,
  CUT_PER_MILLE,
} from '#onchain/settlement/quote-amounts.ts';
import { SIMULATION_CASES } from '#onchain/settlement/simulate.ts';
import {
  DUST_BELOW_CENTS,
  DUST_PER_MILLE,
  NEAR_DIVISOR,
} from '#onchain/settlement/weigh-transfers.ts';
import { QUIET_HOUR } from '#onchain/watching/audit/reconciliation.ts';
import { LEASE_MS } from '#onchain/watching/lease.ts';
import { LOOK_UP_CALLS_PER_SECOND } from '#onchain/watching/look-up/look-ups.ts';
import { FORGOTTEN_AFTER_MS } from '#onchain/watching/loop/check-unconfirmed.ts';
import { IDLE_POLL_MS } from '#onchain/watching/loop/idle-watch.ts';
import { TRACED_MAXIMUM } from '#onchain/watching/loop/rescan.ts';
import { CONFIGURABLE_CONTRACTS } from '#onchain/watching/operate/configure-network.ts';
import { REQUESTS_PER_SECOND } from '#onchain/watching/operate/manage-nodes.ts';
import { RESCAN_MAXIMUM } from '#onchain/watching/operate/operate-chain.ts';
import { RETRY_AFTER_MAXIMUM_MS } from '#outbound/retry-after.ts';
import {
  IDEMPOTENCY_KEY_MAXIMUM,
  IN_PROGRESS_RETRY_SECONDS,
  RESPONSE_LIFETIME_MS,
} from '#payments/idempotency.ts';
import { PAUSES } from '#payments/processors/follow-up.ts';
import { sessionsAtOnce } from '#payments/processors/guard-processor.ts';
import { FIRST_INQUIRY_MS, REGULATED_WINDOW_MINUTES } from '#payments/regulated-flow.ts';
import { PART_MINIMUM } from '#payments/search-payments.ts';
import { ENDPOINTS_MAXIMUM, SECRET_GRACE_MS } from '#payments/webhooks/manage-endpoints.ts';
import { REDELIVERIES_MAXIMUM } from '#payments/webhooks/redeliver.ts';
import { JITTER, RETRY_DELAYS_SECONDS } from '#payments/webhooks/retry-schedule.ts';
import { ATTEMPT_TIMEOUT_MS } from '#payments/webhooks/send.ts';
import { TEST_ID_PREFIX } from '#payments/webhooks/test-event.ts';
import { RECENT_PAYMENTS } from '#reports/partners/merchant-reports.ts';
import { BLOCKCHAIN_IDS } from '#schemas/blockchain.ts';
import {
  AMOUNT_MAXIMUM_CENTS,
  AMOUNT_MINIMUM_CENTS,
  CUSTOMER_REFERENCE_MAXIMUM,
  REDIRECT_URL_MAXIMUM,
} from '#schemas/create-payment.ts';
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAXIMUM } from '#schemas/list-payments.ts';
import {
  PARTNER_PAGE_DEFAULT,
  PARTNER_PAGE_MAXIMUM,
  PARTNER_TEXT_MAXIMUM,
} from '#schemas/partner-reports.ts';
import { PAYMENT_STATUSES } from '#schemas/payment.ts';
import { TIMESTAMP_WINDOW_SECONDS } from '#signing/canonical.ts';
import { NONCE_MAXIMUM } from '#signing/check-headers.ts';
import { NONCE_BUCKETS } from '#signing/nonce-buckets.ts';
import { NONCE_LIFETIME_SECONDS } from '#signing/nonce-store.ts';
import { REPLICA_LAG_SECONDS } from '#signing/redis-info.ts';
import { SILENCE_MS } from '#storage/database/durability.ts';
import { MONTHS_AHEAD } from '#storage/database/partition-tables.ts';
import { SHARED_READ_CONNECTIONS } from '#storage/database/pipeline.ts';
import { POOLED_SETTINGS } from '#storage/database/session.ts';
import {
  CONNECT_TIMEOUT_MS,
  MARK_WAIT_MS,
  REPORT_STATEMENT_TIMEOUT_MS,
  RESPONSE_MARGIN_MS,
  STATEMENT_TIMEOUT_MS,
} from '#storage/database/time-limits.ts';
import { SEARCH_WINDOW } from '#storage/repositories/payments/search.ts';
import { ASKED_ANEW_MINUTES } from '#storage/repositories/webhooks/withheld.ts';
import { CLOCK_MAXIMUM_SECONDS, CLOCK_REPORTED_SECONDS } from '#time/database-clock.ts';
import { TREND_DAYS } from '#time/days.ts';
import { LATE_FOR_MS } from '#time/late-window.ts';
import { CLOSED_AFTER_MS } from '#time/months.ts';
import { MERCHANT_ID } from '../api/partner/examples.ts';
import { CREATED, PAYMENT_ID, SUCCESSFUL_PAYMENT } from '../api/v1/examples.ts';
import { RETURNED } from '../checkout/checkout.ts';
import { LANGUAGE_TAGS } from '../checkout/page/texts/languages.ts';
import { LEGACY_WINDOW_MINUTES } from '../legacy/prompts.ts';
import { formatDollars } from '../pages/format-dollars.ts';
import { EXPORT_DAYS_MAXIMUM } from '../panel/export-days.ts';
import { chainTable, costTable, proofTable, ruleTable } from './chain-tables.ts';
import { type ClientPackage, readVersion } from './client-package/package-file.ts';
import { LIBRARIES } from './downloads/libraries.ts';
import { readBeginning } from './downloads/library-readme.ts';
import {
  alertTable,
  eventTable,
  failureTable,
  finalityTable,
  isTestNetwork,
  lagTable,
  redisTable,
  retriedErrorTable,
  retryTable,
} from './fact-tables.ts';
import { formatDuration } from './format-duration.ts';
import { leastOnSolana, listLeastOnBitcoin } from './least-amounts.ts';
import { DEPOSIT_EVENT_EXAMPLE, EVENT_EXAMPLE } from './openapi/webhooks.ts';
import {
  EXAMPLE_KEY_ID,
  EXAMPLE_SECRET,
  EXAMPLE_WEBHOOK_SECRET,
  SIGNED_CREATE,
  SIGNED_LIST,
  SIGNED_WEBHOOK,
} from './worked-examples.ts';
import { codes } from './write-markdown.ts';

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

/** Text for the placeholders of the guides, by name. */
export type Facts = Readonly<Record<string, string | number>>;

const day = (date: Date) => date.toISOString().slice(0, 10);
const json = (value: unknown) => JSON.stringify(value, null, 2);

/** Pool sizes with the default settings. */
const { databasePoolSize, reportsPoolSize } = readConfig({});
/** Connections of a replica that bypass a pooler (DATABASE_DIRECT_URL); the last one listens for changes. */
const DIRECT_CONNECTIONS = reportsPoolSize + SHARED_READ_CONNECTIONS + 1;

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

    'amount.min': AMOUNT_MINIMUM_CENTS,
    'amount.max': AMOUNT_MAXIMUM_CENTS,
    'amount.min-dollars': formatDollars(AMOUNT_MINIMUM_CENTS),
    'amount.max-dollars': formatDollars(AMOUNT_MAXIMUM_CENTS),
    'reference.max': CUSTOMER_REFERENCE_MAXIMUM,
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
    'reconcile.mjs': readProgram('reconcile.mjs'),
    'receiver.mjs': readProgram('hooks.mjs'),
    'receiver.py': readProgram('hooks.py'),
    'receiver.php': readProgram('hooks.php'),

    ...Object.assign({}, ...LIBRARIES.map(({ folder }) => libraryFacts(folder, publicUrl))),

    'key.active-max': ACTIVE_KEYS_MAXIMUM,
    'key.id-digits': 2 * KEY_ID_BYTES,
    'key.secret-digits': 2 * SECRET_BYTES,
    'key.passphrase-bytes': PASSPHRASE_BYTES,
    'key.rotation-grace': formatDuration(ROTATION_GRACE_MS / 1000),
    'scopes.merchant': codes(MERCHANT_SCOPES),
    'scopes.owner': codes(PARTNER_OWNER_SCOPES),
    'scopes.developer': codes(PARTNER_DEVELOPER_SCOPES),
    'sign-in.session-wrong': SESSION_WRONG_MAXIMUM,
    'password.min': PASSWORD_MINIMUM,
    'password.max': PASSWORD_MAXIMUM,
    'password.common': COMMON_PASSWORDS.toLocaleString('en-US'),
    'panel.export-days': EXPORT_DAYS_MAXIMUM,
    'panel.idle': formatDuration(IDLE_MS / 1000),
    'panel.lifetime': formatDuration(LIFETIME_MS / 1000),
    'panel.sessions': SESSIONS_MAXIMUM,
    'panel.former-told': formatDuration(FORMER_TOLD_MS / 1000),
    'panel.recovery-hold': formatDuration(RECOVERY_HOLD_MS / 1000),
    'mail.pauses': RETRY_PAUSES_MS.map(pause => formatDuration(pause / 1000)).join(', '),
    'mail.asked': ASKED_LIMITS.failures,
    'mail.asked-window': formatDuration(ASKED_LIMITS.windowMs / 1000),
    'sign-in.failures': ATTEMPT_LIMITS.failures,
    'sign-in.window': formatDuration(ATTEMPT_LIMITS.windowMs / 1000),
    'sign-in.in-row': ATTEMPT_LIMITS.inRow,
    'timestamp.window': TIMESTAMP_WINDOW_SECONDS,
    'nonce.max': NONCE_MAXIMUM,
    'nonce.lifetime': formatDuration(NONCE_LIFETIME_SECONDS),
    'redis.forms': redisTable(),
    'redis.buckets': NONCE_BUCKETS.length,
    'redis.lag': REPLICA_LAG_SECONDS,
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
    'webhook.test-id-prefix': TEST_ID_PREFIX,
    'webhook.secret-grace': formatDuration(SECRET_GRACE_MS / 1000),
    'webhook.tolerance': formatDuration(TOLERANCE_SECONDS),
    'webhook.timeout': formatDuration(ATTEMPT_TIMEOUT_MS / 1000),
    'webhook.attempts': RETRY_DELAYS_SECONDS.length,
    'webhook.retries': retryTable(),
    'webhook.retention-days': settings.retentionDays,
    'partitions.ahead': `${MONTHS_AHEAD} months`,
    'webhook.jitter': 100 * JITTER,
    'webhook.retry-after-max': formatDuration(RETRY_AFTER_MAXIMUM_MS / 1000),
    'signed-webhook.secret': EXAMPLE_WEBHOOK_SECRET,
    'signed-webhook.body': SIGNED_WEBHOOK.body,

    'checkout.languages': listLanguages(),
    'logo.kib-max': LOGO_BYTES_MAXIMUM / 1024,
    'logo.pixels-max': LOGO_PIXELS_MAXIMUM,
    'payment.statuses': codes(PAYMENT_STATUSES),
    'payment.overpayment-percent': Number(OVERPAYMENT_PER_MILLE) / 10,
    'payment.tolerance-percent': TOLERANCE_BPS_MAXIMUM / 100,
    'simulation.cases': codes(Object.keys(SIMULATION_CASES)),
    'quote.budget-cents': Number(BUDGET_CENTS),
    'quote.budget-percent': Number(BUDGET_PER_MILLE) / 10,
    'quote.cut-percent': Number(CUT_PER_MILLE) / 10,
    'least.bitcoin': listLeastOnBitcoin(),
    'least.solana': leastOnSolana(),
    'address.max': ADDRESSES_MAXIMUM,
    'address.held-for': formatDuration(HELD_FOR_MS / 1000),
    'dust.share': `${Number(DUST_PER_MILLE) / 10} %`,
    'dust.below': formatDollars(DUST_BELOW_CENTS),
    'dust.near': `${100 / Number(NEAR_DIVISOR)} %`,
    'bitcoin.forgotten-after': formatDuration(FORGOTTEN_AFTER_MS / 1000),
    'deposit.late-for': formatDuration(LATE_FOR_MS / 1000),
    'inquiry.first': formatDuration(FIRST_INQUIRY_MS / 1000),
    'inquiry.longest': formatDuration(PAUSES.longest / 1000),
    'payment.regulated-window': formatDuration(REGULATED_WINDOW_MINUTES * 60),
    'redirect.parameters': RETURNED.map(name => `\`${name}\``).join(' and '),
    'redirect.example': `${RETURNED[0]}=${PAYMENT_ID}&${RETURNED[1]}=successful`,
    'redirect.domains-max': REDIRECT_DOMAINS_MAXIMUM,
    'redirect.url-max': REDIRECT_URL_MAXIMUM,
    'redirect.loopback-hosts': codes(LOOPBACK_HOSTS),
    'networks.count': BLOCKCHAIN_IDS.length,
    'networks.production': codes(BLOCKCHAIN_IDS.filter(id => !isTestNetwork(id))),
    'networks.finality': finalityTable(),
    'networks.lags': lagTable(),
    'networks.test': codes(BLOCKCHAIN_IDS.filter(isTestNetwork)),

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

    'overload.retry-after': OVERLOAD_RETRY_SECONDS,
    'overload.hold': `${HOLD_MS} milliseconds`,
    'slow.stall': formatDuration(PATIENCE.stallMs / 1000),
    'slow.headers': formatDuration(SERVER_LIMITS.headersMs / 1000),
    'slow.request': formatDuration(SERVER_LIMITS.requestMs / 1000),
    'slow.keep-alive': formatDuration(SERVER_LIMITS.keepAliveMs / 1000),
    'slow.connections': SERVER_LIMITS.connections,
    'slow.unread': UNREAD_BYTES_MAX / 2 ** 20,
    'pooler.query': Object.entries(POOLED_SETTINGS)
      .map(([name, value]) => `set ${name} = ${value}`)
      .join('; '),
    'pooler.wait': Math.floor(CONNECT_TIMEOUT_MS / 1000),
    'processor.sessions': sessionsAtOnce(databasePoolSize),
    'connections.worker': databasePoolSize,
    'connections.replica': databasePoolSize + DIRECT_CONNECTIONS,
    'connections.direct': DIRECT_CONNECTIONS,
    'durability.wait': formatDuration((STATEMENT_TIMEOUT_MS + RESPONSE_MARGIN_MS) / 1000),
    'durability.silence': formatDuration(SILENCE_MS / 1000),
    'restore.unreadable': formatDuration(MARK_WAIT_MS / 1000),
    'restore.asked-anew': formatDuration(ASKED_ANEW_MINUTES * 60),
    'shutdown.drain': formatDuration(DRAIN_MS / 1000),
    'report.statement-max': formatDuration(REPORT_STATEMENT_TIMEOUT_MS / 1000),
    'chains.table': chainTable(),
    'chains.rules': ruleTable(),
    'chains.costs': costTable(),
    'chains.proofs': proofTable(),
    'chains.contracts': codes(CONFIGURABLE_CONTRACTS),
    'chains.lease': formatDuration(LEASE_MS / 1000),
    'chains.second-look': formatDuration(chainOf('eth').secondLookAfterMs / 1000),
    'chains.idle-poll': formatDuration(IDLE_POLL_MS / 1000),
    'chains.idle-looks': timesADay(IDLE_POLL_MS),
    'chains.tron-span': formatDuration((SPAN_MAXIMUM * chainOf('tron').blockMs) / 1000),
    'nodes.missing-looks': LOOKS,
    'nodes.head-poll': formatDuration(HEAD_AGE_MS / 1000),
    'nodes.head-polls': timesADay(HEAD_AGE_MS),
    'nodes.requests-per-second': REQUESTS_PER_SECOND,
    'nodes.look-up-calls': LOOK_UP_CALLS_PER_SECOND,
    'nodes.spared-share': `${100 * SPARED_SHARE} %`,
    'nodes.spent-pause': formatDuration(SPENT_PAUSE_MS / 1000),
    'nodes.response-max': `${RESPONSE_MAXIMUM_BYTES / 1024 / 1024} MiB`,
    'nodes.strike-pause': formatDuration(STRIKE_PAUSE_MS / 1000),
    'nodes.strike-pause-max': formatDuration(STRIKE_PAUSE_MAXIMUM_MS / 1000),
    'nodes.lag-pause-max': formatDuration(LAG_PAUSE_MAXIMUM_MS / 1000),
    'nodes.oversized-pause': formatDuration(OVERSIZED_PAUSE_MS / 1000),
    'rescan.traced-max': TRACED_MAXIMUM,
    'solana.explained-max': EXPLAINED_MAXIMUM,
    'audit.hour': `${String(QUIET_HOUR).padStart(2, '0')}:00`,
    'requests.kept-days': REQUEST_RETENTION_DAYS,
    'requests.kept-most': REQUESTS_PER_ACCOUNT_MAXIMUM.toLocaleString('en-US'),
    'requests.explained-pause': formatDuration(KEY_PAUSE_MS / 1000),
    'panel.search-part': PART_MINIMUM,
    'panel.search-window': SEARCH_WINDOW.toLocaleString('en-US'),
    'rescan.max': RESCAN_MAXIMUM.toLocaleString('en-US'),
    'alerts.rules': alertTable(),
    'clock.reported': CLOCK_REPORTED_SECONDS,
    'clock.max': CLOCK_MAXIMUM_SECONDS,
  };
}

const timesADay = (everyMs: number) => ((24 * 60 * 60_000) / everyMs).toLocaleString('en-US');

function prefixed(prefix: string, facts: Facts): Facts {
  return Object.fromEntries(Object.entries(facts).map(([name, fact]) => [prefix + name, fact]));
}

function libraryFacts(folder: string, publicUrl: string): Facts {
  return prefixed(`library.${folder}.`, { ...readBeginning(folder, publicUrl) });
}

/** A program of the guides; tests run it as the page shows it. */
function readProgram(file: string): string {
  return readFileSync(new URL(`./snippets/${file}`, import.meta.url), 'utf8').trimEnd();
}

/** The languages of the checkout, in English and in a sentence. */
function listLanguages(): string {
  const names = new Intl.DisplayNames('en', { type: 'language' });
  const list = new Intl.ListFormat('en', { type: 'conjunction' });
  return list.format(LANGUAGE_TAGS.map(tag => names.of(tag) ?? tag));
}
