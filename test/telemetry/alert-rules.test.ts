import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ALERT_RULES } from '#telemetry/alert-rules.ts';
import { watchProcess } from '#telemetry/monitor.ts';
import { mpHere } from '../cli/mp.ts';
import { withCompleteMonitor } from './complete-monitor.ts';

test('every rule uses existing metrics, with labels that they have', async () => {
  const there = new Set<string>();
  await withCompleteMonitor(monitor => {
    watchProcess(monitor);
    for (const { name } of monitor.registry.getMetricsAsArray()) there.add(name);
  });
  for (const { alert, expr } of ALERT_RULES) {
    const asked = expr.match(/\b(eps|nodejs)_\w+/g) ?? [];
    expect(asked, alert).not.toEqual([]);
    for (const name of asked) expect(there, alert).toContain(name.replace(/_bucket$/, ''));
  }
  expect(new Set(ALERT_RULES.map(({ alert }) => alert)).size).toBe(ALERT_RULES.length);
});

const promtool = (...args: string[]) => spawnSync('promtool', args, { encoding: 'utf8' });
const missing = promtool('--version').error !== undefined;

describe.skipIf(missing)('promtool (skipped where it is not installed)', () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'eps-rules-'));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  test.each([
    ['as YAML', []],
    ['as JSON', ['--json']],
  ])('loads the rules %s', async (_name, flags) => {
    const { out } = await mpHere(['metrics', 'rules', ...flags]);
    const file = join(directory, `rules${flags.length}.yml`);
    writeFileSync(file, out);
    const { status, stdout } = promtool('check', 'rules', file);
    expect({ status, stdout }).toMatchObject({
      status: 0,
      stdout: expect.stringContaining(`${ALERT_RULES.length} rules found`),
    });
  });

  test('alerts fire for what they are for, and only then', async () => {
    const rules = join(directory, 'fired.yml');
    writeFileSync(rules, (await mpHere(['metrics', 'rules'])).out);
    const series = (name: string, values: string) => ({ series: name, values });
    const healthy = [
      series('eps_backlog_readable{instance="worker"}', '1x20'),
      series('eps_nonce_store_up{kind="redis"}', '1x20'),
      series('eps_rate_available{asset="BTC"}', '1 1 0 0 1x16'),
      series('eps_database_role_excess_rights', '0x20'),
      // A replica that replays something long, and catches up.
      series('eps_database_reports_lag_seconds', '0 0+60x4 0x15'),
      series('eps_payments_expiry_lag_seconds{flow="crypto"}', '0x20'),
      series('eps_worker_loop_last_success_timestamp_seconds{loop="clean-up"}', '0+60x20'),
      series('eps_chain_lag_seconds{chain="eth",instance="a"}', '170 170 200 170x17'),
      series('eps_chain_lag_limit_seconds{chain="eth",instance="a"}', '180x20'),
      series('eps_chain_lag_limit_seconds{chain="btc",instance="a"}', '120x20'),
      series('eps_chain_halted{chain="eth"}', '0x20'),
      series('eps_chain_payments_held{chain="eth"}', '0 5x12 0x7'),
      series('eps_chain_deposits_seen_oldest_seconds{chain="eth"}', '2000x20'),
      series('eps_chain_usual_finality_seconds{chain="eth"}', '900x20'),
      series('eps_node_up{chain="eth",node="a",role="primary",instance="a"}', '0x20'),
      series('eps_node_up{chain="eth",node="b",role="primary",instance="a"}', '1x20'),
      series('eps_node_up{chain="eth",node="c",role="check",instance="a"}', '0x10 1x10'),
      series('eps_node_calls_expected{chain="eth",node="a",instance="a"}', '1040x20'),
      series('eps_node_calls_today{chain="eth",node="a",instance="a"}', '900x20'),
      series('eps_node_calls_limit{chain="eth",node="a",instance="a"}', '1000x20'),
      series('eps_node_calls_expected{chain="eth",node="b",instance="a"}', '2000x20'),
      series('eps_findings_open{chain="eth",kind="unapplied"}', '1x6 _x14'),
      series('eps_http_requests_total{status="200",instance="a"}', '0+600x20'),
      series('eps_http_requests_total{status="503",instance="b"}', '0+1x20'),
    ];
    const sick = [
      series('eps_nonce_store_up{kind="redis",instance="a"}', '1x20'),
      series('eps_nonce_store_up{kind="redis",instance="b"}', '1 0x20'),
      series('eps_payments_expiry_lag_seconds{flow="crypto"}', '0+60x20'),
      series('eps_worker_loop_last_success_timestamp_seconds{loop="clean-up"}', '0x20'),
      series('eps_http_requests_total{status="200"}', '0+600x20'),
      series('eps_http_requests_total{status="503"}', '0+60x20'),
      series('eps_http_requests_overloaded_total{limit="replica"}', '0+5x20'),
      series('eps_deposits_unmatched', '2x20'),
      series('eps_rate_available{asset="BTC",instance="a"}', '1x20'),
      series('eps_rate_available{asset="BTC",instance="b"}', '0x20'),
      series('eps_rate_available{asset="ETH",instance="b"}', '1x20'),
      series('eps_database_role_excess_rights', '2x20'),
      series('eps_database_reports_lag_seconds', '0+60x20'),
      series('eps_chain_lag_seconds{chain="eth",instance="a"}', '170x20'),
      series('eps_chain_lag_seconds{chain="btc",instance="a"}', '170x20'),
      series('eps_chain_lag_limit_seconds{chain="eth",instance="a"}', '180x20'),
      series('eps_chain_lag_limit_seconds{chain="btc",instance="a"}', '120x20'),
      series('eps_chain_lag_limit_seconds{chain="btc",instance="b"}', '120x20'),
      series('eps_chain_halted{chain="btc"}', '0x17 1x3'),
      series('eps_chain_payments_held{chain="btc"}', '5x20'),
      series('eps_chain_deposits_seen_oldest_seconds{chain="btc"}', '9000x10 11000x10'),
      series('eps_chain_usual_finality_seconds{chain="btc"}', '3600x20'),
      series('eps_node_up{chain="btc",node="a",role="primary",instance="a"}', '0x20'),
      series('eps_node_up{chain="btc",node="c",role="check",instance="a"}', '0x20'),
      series('eps_node_calls_expected{chain="btc",node="a",instance="a"}', '1060x20'),
      series('eps_node_calls_today{chain="btc",node="a",instance="a"}', '900x14 1000x6'),
      series('eps_node_calls_limit{chain="btc",node="a",instance="a"}', '1000x20'),
      series('eps_node_calls_limit{chain="btc",node="a",instance="b"}', '1000x20'),
      series('eps_findings_open{chain="btc",kind="disagreement"}', '_x7 1x13'),
      series('eps_findings_open{chain="btc",kind="final_vanished"}', '_x17 1x3'),
    ];
    const fired = [
      'PaymentsApiFailing',
      'PaymentsApiOverloaded',
      'NonceStoreDown',
      'WorkerMissing',
      'WorkerLoopStalled',
      'PaymentsExpireLate',
      'DepositsUnmatched',
      ...['ChainLagging', 'ChainNotWatched', 'ChainHalted', 'NodesDown', 'CheckNodeDown'],
      ...['NodesDisagree', 'FinalDepositVanished', 'FindingsOpen', 'PaymentsHeld'],
      'DepositsNotFinal',
      ...['NodeQuotaEnding', 'NodeQuotaUsedUp'],
      'AssetCannotBeQuoted',
      ...['DatabaseRoleTooPowerful', 'ReportsLate'],
    ];
    const labelsOf: Record<string, Record<string, string>> = {
      WorkerLoopStalled: { loop: 'clean-up' },
      AssetCannotBeQuoted: { asset: 'BTC' },
      NodeQuotaEnding: { chain: 'btc', node: 'a' },
      NodeQuotaUsedUp: { chain: 'btc', node: 'a' },
      FindingsOpen: { chain: 'btc', kind: 'disagreement' },
    };
    const chainAlerts = /^(Chain|CheckNode|Nodes|FinalDeposit|PaymentsHeld|DepositsNotFinal)/;
    for (const alert of fired.filter(name => chainAlerts.test(name))) {
      labelsOf[alert] = { chain: 'btc' };
    }
    const expected = (alerts: readonly string[]) =>
      ALERT_RULES.map(({ alert, labels, annotations }) => ({
        eval_time: '18m',
        alertname: alert,
        exp_alerts: alerts.includes(alert)
          ? [
              {
                exp_labels: { ...labels, ...labelsOf[alert] },
                exp_annotations: {
                  summary: annotations.summary.replace(
                    /\{\{ \$labels\.(\w+) \}\}/g,
                    (_, name) => labelsOf[alert]?.[name] ?? '',
                  ),
                },
              },
            ]
          : [],
      }));
    expectToPass(rules, [
      { interval: '1m', input_series: healthy, alert_rule_test: expected([]) },
      { interval: '1m', input_series: sick, alert_rule_test: expected(fired) },
    ]);
  });

  test('none fires for a failover of twenty seconds, which repairs itself, nor after it', async () => {
    const rules = join(directory, 'failover.yml');
    writeFileSync(rules, (await mpHere(['metrics', 'rules'])).out);
    const input_series = Object.entries({
      'eps_backlog_readable{instance="worker"}': '1x120',
      'eps_http_requests_total{status="200"}': '0+500x60 30000x1 30500+500x58',
      'eps_http_requests_total{status="503"}': '0x59 300+300x2 900x58',
      'eps_http_requests_overloaded_total{limit="replica"}': '0x59 5+5x2 15x58',
      eps_database_writes_refused: '0x59 1x2 0x58',
      eps_account_changes_heard: '1x59 0x2 1x58',
      'eps_nonce_store_up{kind="postgres"}': '1x59 0x2 1x58',
    }).map(([series, values]) => ({ series, values }));
    const minutes = [10.5, ...Array.from({ length: 9 }, (_, index) => 11 + index)];
    const alert_rule_test = minutes.flatMap(minute =>
      ALERT_RULES.map(({ alert }) => ({
        eval_time: `${minute * 60}s`,
        alertname: alert,
        exp_alerts: [],
      })),
    );
    expectToPass(rules, [{ interval: '10s', input_series, alert_rule_test }]);
  });

  function expectToPass(rules: string, tests: readonly unknown[]): void {
    const file = `${rules}.test.yml`;
    const settings = { rule_files: [rules], evaluation_interval: '10s' };
    writeFileSync(file, JSON.stringify({ ...settings, tests }));
    const { status, stdout, stderr } = promtool('test', 'rules', file);
    expect({ status, output: stdout + stderr }).toMatchObject({
      status: 0,
      output: expect.stringContaining('SUCCESS'),
    });
  }
});
