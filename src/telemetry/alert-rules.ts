import { CLOCK_REPORTED_SECONDS } from '#time/database-clock.ts';

/** An alerting rule of Prometheus. */
interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  /** How long the expression has to be true. */
  readonly for: string;
  readonly labels: { readonly severity: 'critical' | 'warning' };
  readonly annotations: { readonly summary: string };
}

const rule = (
  severity: 'critical' | 'warning',
  alert: string,
  expr: string,
  wait: string,
  summary: string,
): AlertRule => ({ alert, expr, for: wait, labels: { severity }, annotations: { summary } });

const CHAIN_LAGS =
  'max by (chain) (eps_chain_lag_seconds) > on (chain) max by (chain) (eps_chain_lag_limit_seconds)';

/**
 * The alerts. Each looks at the worst of all processes, so that replicas may come and go. Thresholds are
 * where merchants or customers begin to notice. The window of a rate is shorter than the time for which its
 * condition has to hold, unless one occurrence is enough: otherwise a failover of seconds would fire the
 * alert minutes after its end.
 */
export const ALERT_RULES: readonly AlertRule[] = [
  rule(
    'critical',
    'PaymentsApiFailing',
    'sum(rate(eps_http_requests_total{status=~"5.."}[3m])) / sum(rate(eps_http_requests_total[3m])) > 0.01',
    '5m',
    'More than 1 % of responses are 5xx.',
  ),
  rule(
    'warning',
    'PaymentsApiSlow',
    'histogram_quantile(0.99, sum by (le, route) (rate(eps_http_request_duration_seconds_bucket{route=~"/external/.*"}[5m]))) > 1',
    '10m',
    'One request in a hundred to {{ $labels.route }} takes longer than a second.',
  ),
  rule(
    'warning',
    'PaymentsApiOverloaded',
    'sum(increase(eps_http_requests_overloaded_total{limit="replica"}[3m])) > 0',
    '5m',
    'Requests are refused because too many are in flight: add replicas.',
  ),
  rule(
    'critical',
    'NonceStoreDown',
    'min(eps_nonce_store_up) == 0',
    '1m',
    'The nonce store, or one of its masters, does not respond: creations of its keys are refused, reads have no replay protection.',
  ),
  rule(
    'critical',
    'NonceStoreMayEvict',
    'max(eps_nonce_store_may_evict) == 1',
    '1m',
    'Redis may evict used nonces, so that requests can be replayed: set maxmemory-policy noeviction on each server.',
  ),
  rule(
    'warning',
    'AccountChangesUnheard',
    'min(eps_account_changes_heard) == 0',
    '5m',
    'A replica has lost the change feed, and reads accounts for each request.',
  ),
  rule(
    'critical',
    'DurabilityLost',
    'max(eps_database_writes_refused) == 1',
    '30s',
    'Writes are refused: no synchronous standby confirms what the primary commits.',
  ),
  rule(
    'critical',
    'DatabaseRefuses',
    'sum by (reason) (increase(eps_database_refusals_total[1m])) > 0',
    '10s',
    'The database refuses statements, writes above all: {{ $labels.reason }}. Look at its disk and its log.',
  ),
  rule(
    'critical',
    'DatabaseRestored',
    'max(eps_database_restore_unconfirmed) == 1',
    '0s',
    'The database was restored to an earlier time, and writes are refused until "mp restore confirm".',
  ),
  rule(
    'critical',
    'MonthMissing',
    'min(eps_database_partitions_left_seconds) < 32 * 86400',
    '1h',
    'The next month has no partition for events or requests: its writes would be refused. The log of the worker says why.',
  ),
  rule(
    'warning',
    'DatabasePoolExhausted',
    'max by (pool) (eps_database_pool_waiting) > 0',
    '5m',
    'Work waits for connections of the pool {{ $labels.pool }}.',
  ),
  rule(
    'warning',
    'ReportsLate',
    'max(eps_database_reports_lag_seconds) > 120',
    '5m',
    'The replica that partner reports are read from is minutes behind.',
  ),
  rule(
    'warning',
    'DatabaseRoleTooPowerful',
    'max(eps_database_role_excess_rights) > 0',
    '10m',
    'The database role of a process may do more than the service needs; its log says what.',
  ),
  rule(
    'critical',
    'WorkerMissing',
    'absent(eps_backlog_readable) or max(eps_backlog_readable) == 0',
    '2m',
    'No worker is scraped, or none reads the database: payments do not expire, no webhooks are sent.',
  ),
  rule(
    'critical',
    'WorkerLoopStalled',
    'time() - max by (loop) (eps_worker_loop_last_success_timestamp_seconds) > 180',
    '1m',
    'No worker has got through {{ $labels.loop }} for three minutes.',
  ),
  rule(
    'critical',
    'PaymentsExpireLate',
    'max(eps_payments_expiry_lag_seconds{flow="crypto"}) > 30',
    '2m',
    'Payments stay pending beyond their time.',
  ),
  rule(
    'warning',
    'RegulatedPaymentsExpireLate',
    'max(eps_payments_expiry_lag_seconds{flow="regulated"}) > 900',
    '5m',
    'The processor does not say whether payments beyond their time are paid.',
  ),
  rule(
    'warning',
    'ProcessorRefusing',
    'sum(increase(eps_http_requests_total{method="POST",route="/external/v1/payments/prompt",error_code="E1040"}[15m])) > 10',
    '1m',
    'The processor refuses payments: see "processor refuses a payment" in the log, and check its account and key.',
  ),
  rule(
    'warning',
    'WebhooksLate',
    'max(eps_webhook_oldest_due_age_seconds) > 120',
    '5m',
    'Webhooks that are due are not attempted.',
  ),
  rule(
    'warning',
    'MailNotSent',
    'sum(increase(eps_mail_attempts_total{outcome=~"retried|given-up"}[30m])) > 0',
    '15m',
    'The server for mail takes no mail, or not for some people: see "mail not sent" in the log, and SMTP_URL.',
  ),
  rule(
    'critical',
    'AssetCannotBeQuoted',
    'min by (asset) (eps_rate_available) == 0',
    '5m',
    'Too few sources agree on a price of {{ $labels.asset }}: payers cannot choose it.',
  ),
  rule(
    'warning',
    'DepositsUnmatched',
    'max(eps_deposits_unmatched) > 0',
    '15m',
    'Funds have arrived that no payment took: see "mp deposit list --unmatched".',
  ),
  rule(
    'warning',
    'ChainLagging',
    CHAIN_LAGS,
    '2m',
    'Transfers on {{ $labels.chain }} are seen too late: its networks are not offered. See "mp network status".',
  ),
  rule(
    'critical',
    'ChainNotWatched',
    CHAIN_LAGS,
    '10m',
    'Transfers on {{ $labels.chain }} have not been seen for minutes: payments are not confirmed, and do not expire.',
  ),
  rule(
    'critical',
    'ChainHalted',
    'max by (chain) (eps_chain_halted) == 1',
    '0s',
    'The chain {{ $labels.chain }} is halted: payments on it are not seen. See "mp network status" and "A halted chain".',
  ),
  rule(
    'critical',
    'NodesDown',
    'max by (chain) (eps_node_up{role="primary"}) == 0',
    '1m',
    'No primary node of {{ $labels.chain }} is up: see "mp network status".',
  ),
  rule(
    'warning',
    'CheckNodeDown',
    'max by (chain) (eps_node_up{role="check"}) == 0',
    '15m',
    'No check node of {{ $labels.chain }} is up: nothing becomes final there.',
  ),
  rule(
    'warning',
    'NodeQuotaEnding',
    // Stretched pauses aim at the limit itself, so that the expected calls are often a little above it.
    'max by (chain, node) (eps_node_calls_expected) > on (chain, node) 1.05 * max by (chain, node) (eps_node_calls_limit)',
    '15m',
    'The daily calls of node {{ $labels.node }} of {{ $labels.chain }} will not last until midnight UTC: see "mp network status".',
  ),
  rule(
    'critical',
    'NodeQuotaUsedUp',
    'max by (chain, node) (eps_node_calls_today) >= on (chain, node) max by (chain, node) (eps_node_calls_limit)',
    '1m',
    'The daily calls of node {{ $labels.node }} of {{ $labels.chain }} are used up: without another node, payments are seen minutes late until midnight UTC.',
  ),
  rule(
    'critical',
    'NodesDisagree',
    'max by (chain) (eps_findings_open{kind="disagreement"}) > 0',
    '0s',
    'A check node of {{ $labels.chain }} does not confirm a deposit, which stays pending: see "mp finding list".',
  ),
  rule(
    'critical',
    'FinalDepositVanished',
    'max by (chain) (eps_findings_open{kind="final_vanished"}) > 0',
    '0s',
    'The block of a final deposit on {{ $labels.chain }} was undone: see "mp finding list".',
  ),
  rule(
    'warning',
    'FindingsOpen',
    'max by (chain, kind) (eps_findings_open) > 0',
    '10m',
    'Findings {{ $labels.kind }} of {{ $labels.chain }} wait for an operator: see "mp finding list".',
  ),
  rule(
    'warning',
    'PaymentsHeld',
    'max by (chain) (eps_chain_payments_held) > 0',
    '15m',
    'Payments beyond their time do not expire, because {{ $labels.chain }} is not watched up to their end.',
  ),
  rule(
    'warning',
    'DepositsNotFinal',
    'max by (chain) (eps_chain_deposits_seen_oldest_seconds) > on (chain) 3 * max by (chain) (eps_chain_usual_finality_seconds)',
    '5m',
    'A deposit on {{ $labels.chain }} is not final after three times the usual time.',
  ),
  rule(
    'warning',
    'QuoteAmountsScarce',
    'sum by (blockchain_id) (increase(eps_quotes_total{free_amounts=~"few|none"}[15m])) > 0',
    '1m',
    'Fewer than a fifth of the amounts of a price are free on {{ $labels.blockchain_id }}: see the log for the branch, and "mp address add".',
  ),
  rule(
    'warning',
    'ClockOff',
    `max(abs(eps_clock_offset_seconds)) > ${CLOCK_REPORTED_SECONDS}`,
    '1m',
    "The clock of a process differs from the database's: check that both are kept in time (NTP).",
  ),
  rule(
    'warning',
    'EventLoopLagging',
    'max(nodejs_eventloop_lag_p99_seconds) > 0.5',
    '5m',
    'A process is too busy to respond in time.',
  ),
];

/** The rules as a file that Prometheus loads. */
export const RULES_FILE = { groups: [{ name: 'external-payments', rules: ALERT_RULES }] };
