import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { directivesOf, parseLines } from './unit-files.ts';

/** Whether the files of deploy/ agree with the changes in the guide for backups of a cluster. */

const ROOT = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const GUIDE = read('src/surfaces/docs/guides/operating/high-availability.md');

let directory: string;
/** The machine's, with what the guide has uncommented. */
let patroni: {
  bootstrap: { method?: string; pgbackrest: Record<string, unknown> };
  postgresql: { data_dir: string; parameters: Record<string, unknown> };
};
let pgbackrest: Record<string, string>;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'eps-cluster-backups-'));
  copyFileSync(join(ROOT, 'deploy/patroni/patroni.yml'), join(directory, 'patroni.yml'));
  const commands = GUIDE.split('\n').filter(line =>
    /^sed .*(pgbackrest\.conf|archive_)/.test(line),
  );
  expect(commands).toHaveLength(2);
  const script = commands.join('\n').replaceAll(/\/etc\/(eps-cluster\/)?/g, `${directory}/`);
  execFileSync('sh', ['-ec', script], { cwd: join(ROOT, 'deploy/pgbackrest') });
  patroni = parse(readFileSync(join(directory, 'patroni.yml'), 'utf8'));
  const lines = readFileSync(join(directory, 'pgbackrest.conf'), 'utf8').split('\n');
  pgbackrest = parseLines(lines.map(line => line.replaceAll(/-(?=[^=]*=)/g, '_')));
});
afterAll(() => rmSync(directory, { recursive: true }));

test("pgBackRest finds the cluster's data and socket", () => {
  const { data_dir: data, parameters } = patroni.postgresql;
  expect(pgbackrest).toMatchObject({
    pg1_path: data,
    pg1_socket_path: parameters.unix_socket_directories,
  });
});

test('changes are archived like those of one server', () => {
  const lines = read('deploy/pgbackrest/postgresql.conf').split('\n');
  const pairs = lines.map(line => /^(\w+) = '?(.*?)'?$/.exec(line)).filter(pair => pair !== null);
  const expected = Object.fromEntries(pairs.map(([, name, value]) => [name, value]));
  expect(Object.keys(expected)).toContain('archive_command');
  const { unix_socket_directories: _, ...archive } = patroni.postgresql.parameters;
  const found = Object.entries(archive).map(([name, value]) => [name, String(value)]);
  expect(Object.fromEntries(found)).toEqual(expected);
});

test('PostgreSQL may write to the repository', () => {
  const [paths = ''] = directivesOf(read('deploy/patroni/eps-patroni.service'), 'ReadWritePaths');
  // A path that does not exist is ignored.
  expect(paths.split(' ')).toContain(`-${pgbackrest.repo1_path}`);
});

test('archiving in the unit and a timer’s backup outside of it share their locks', () => {
  const [paths = ''] = directivesOf(read('deploy/patroni/eps-patroni.service'), 'ReadWritePaths');
  const { lock_path: locks = '' } = pgbackrest;
  // The unit has its own /tmp.
  const shared = paths.split(' ').map(path => path.replace(/^-/, ''));
  expect(shared.some(path => !path.startsWith('/tmp') && locks.startsWith(`${path}/`))).toBe(true);
});

test('a new cluster is created by initdb, unless its operator names the backup', () => {
  expect(patroni.bootstrap.method).toBeUndefined();
  const { command, ...others } = patroni.bootstrap.pgbackrest;
  const single = read('src/surfaces/docs/guides/operating/backup.md').match(
    /pgbackrest .* restore$/m,
  )?.[0];
  // Patroni restores into an empty folder.
  expect(String(command).replace(' --target-timeline=1', '')).toBe(single?.replace(' --delta', ''));
  // Otherwise Patroni removes the target time.
  expect(others).toEqual({ no_params: true, keep_existing_recovery_conf: true });
  const text = readFileSync(join(directory, 'patroni.yml'), 'utf8');
  expect(parse(text.replace('#method:', 'method:')).bootstrap.method).toBe('pgbackrest');
});
