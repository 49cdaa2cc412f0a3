// Modules register the metrics that they hold when they are loaded.
import '../../src/app.ts';
import '../../src/worker/run.ts';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { NO_CHANGE_FEED } from '../../src/database/change-feed.ts';
import { connect } from '../../src/database/connection.ts';
import { createPostgresNonces } from '../../src/signing/postgres-nonces.ts';
import { createMonitor } from '../../src/telemetry/monitor.ts';
import { createReadiness } from '../../src/telemetry/readiness.ts';

const ROOT = new URL('../../', import.meta.url);
const guide = (slug: string) => readFileSync(new URL(`src/docs/guides/${slug}.md`, ROOT), 'utf8');

test('the client needs no more of this repository than is said to be copied', () => {
  const client = new URL('src/client/', ROOT);
  const imported = readdirSync(client)
    .flatMap(file => [
      ...readFileSync(new URL(file, client), 'utf8').matchAll(/from '(\.\.[^']+)'/g),
    ])
    .map(([, path = '']) => new URL(path, client).pathname.slice(ROOT.pathname.length));
  for (const path of imported) {
    expect(guide('client')).toContain(`\`${path}\``);
    expect(readFileSync(new URL(path, ROOT), 'utf8')).not.toMatch(/from '(#|\.)/);
  }
});

test('the table of variables has every variable that is read, and no other', () => {
  const read = new Set<string>();
  readConfig(
    new Proxy<Record<string, string>>(
      {},
      {
        get: (_target, name) => {
          read.add(String(name));
          return undefined;
        },
      },
    ),
  );
  const [, table = ''] = guide('operating/configuration').split('| variable | meaning | default |');
  const [rows = ''] = table.split('\n\n');
  const documented = rows
    .split('\n')
    .map(row => row.split('|')[1] ?? '')
    .flatMap(cell => [...cell.matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name));
  expect(documented.toSorted()).toEqual([...read].toSorted());
});

test('the table of metrics has every metric that is served, with its labels, and no other', async () => {
  const url = 'postgres://127.0.0.1:1/none';
  const db = connect({
    url,
    poolSize: 1,
    applicationName: 'test',
    onIdleError: () => undefined,
  });
  const monitor = createMonitor({
    readiness: createReadiness({ db }),
    pools: { main: db },
    api: { nonces: createPostgresNonces(db), changes: NO_CHANGE_FEED },
    worker: { directUrl: url, clock: Date.now, log: { warn: () => undefined } },
  });
  const served = monitor.registry
    .getMetricsAsArray()
    .map(metric => [metric.name, (metric as { labelNames?: string[] }).labelNames?.join(', ')]);
  await monitor.close();
  await db.destroy();
  const [, table = ''] = guide('operating/watch').split('| metric | labels | meaning |');
  const [rows = ''] = table.split('\n\n');
  const documented = rows
    .split('\n')
    .slice(2)
    .map(row => row.split('|').map(cell => cell.trim()))
    .map(([, name = '', labels]) => [name.replaceAll('`', ''), labels]);
  expect(documented.toSorted()).toEqual(served.toSorted());
});
