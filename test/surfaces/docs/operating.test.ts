import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readConfig } from '#config/config.ts';
import { SECRET_VARIABLES } from '#config/secret-files.ts';
import { withCompleteMonitor } from '../../telemetry/complete-monitor.ts';

const ROOT = new URL('../../../', import.meta.url);
const guide = (slug: string) =>
  readFileSync(new URL(`src/surfaces/docs/guides/${slug}.md`, ROOT), 'utf8');

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
  const files = new Set(SECRET_VARIABLES.map(name => `${name}_FILE`));
  expect(documented.toSorted()).toEqual([...read].filter(name => !files.has(name)).toSorted());
});

test('every variable that may be in a file is named', () => {
  const [, section = ''] = guide('operating/configuration').split('## Secrets in files');
  const [, first = ''] = section.split('\n\n');
  const named = [...first.matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name);
  expect(named.filter(name => !name?.endsWith('_FILE'))).toEqual([...SECRET_VARIABLES]);
});

test('the table of metrics has every metric that is served, with its labels, and no other', async () => {
  let served: unknown[] = [];
  await withCompleteMonitor(({ registry }) => {
    served = registry
      .getMetricsAsArray()
      .map(metric => [metric.name, (metric as { labelNames?: string[] }).labelNames?.join(', ')]);
  });
  const [, table = ''] = guide('operating/watch').split('| metric | labels | meaning |');
  const [rows = ''] = table.split('\n\n');
  const documented = rows
    .split('\n')
    .slice(2)
    .map(row => row.split('|').map(cell => cell.trim()))
    .map(([, name = '', labels]) => [name.replaceAll('`', ''), labels]);
  expect(documented.toSorted()).toEqual(served.toSorted());
});
