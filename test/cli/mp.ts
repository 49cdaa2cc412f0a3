import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { run } from '#cli/run.ts';
import { createKeyring } from '#crypto/keyring.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { QUICK_START } from '../helpers/compile-cache.ts';

const CHECKOUT = resolve(import.meta.dirname, '../..');
const CLI = join(CHECKOUT, 'src/cli.ts');

export type Environment = Readonly<Record<string, string | undefined>>;

/** The result of a command line. */
export interface Outcome {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** Nothing from the environment of the tests reaches the command. */
const BARE: Environment = {
  PATH: process.env.PATH,
  NODE_ENV: 'test',
  NO_COLOR: '1',
  MP_ACTOR: 'alice',
  DATA_DIRECTORY: join(tmpdir(), 'eps-cli-without-data'),
  // Given, so that none is generated into the data directory, which stays empty.
  MASTER_KEY: randomBytes(32).toString('base64'),
  ...QUICK_START,
};

/** Runs the real command line as a separate process, to test how it starts, prints and ends. */
export function mp(args: readonly string[], env: Environment = {}): Promise<Outcome> {
  return new Promise((done, fail) => {
    execFile(
      process.execPath,
      [CLI, ...args],
      { cwd: tmpdir(), env: { ...BARE, ...env }, timeout: 40_000 },
      (error, out, err) => {
        if (error !== null && typeof error.code !== 'number') fail(error);
        else done({ status: Number(error?.code ?? 0), out, err });
      },
    );
  });
}

/** Runs a command line inside this process, to test what it does without starting a process. */
export async function mpHere(args: readonly string[], env: Environment = {}): Promise<Outcome> {
  let out = '';
  let err = '';
  const status = await run(args, {
    env: { ...BARE, ...env },
    out: text => {
      out += text;
    },
    err: text => {
      err += text;
    },
  });
  return { status, out, err };
}

/** The application with a database that `mp` uses too, with the same master key. */
export interface Operated extends TestApp {
  /** Makes `mp` use the database. */
  readonly env: Environment;
  /** Runs a command inside this process that must succeed, with --json; resolves with its document. */
  ask<T = Record<string, unknown>>(...args: string[]): Promise<T>;
  /** Runs a command that must be refused; resolves with its message. */
  refused(...args: string[]): Promise<string>;
}

/**
 * Starts an application whose clock runs, like that of `mp`. Its `clock.now` is how far ahead it is, in milliseconds.
 */
export async function startOperated(): Promise<Operated> {
  const masterKey = randomBytes(32);
  const clock = Object.assign(() => Date.now() + clock.now, { now: 0 });
  const service = await startTestApp({ keyring: createKeyring([masterKey]), clock });
  const env = {
    DATABASE_URL: service.databaseUrl,
    MASTER_KEY: masterKey.toString('base64'),
    PUBLIC_URL: 'https://pay.example.test',
    SIMULATION: 'on',
  };
  return {
    ...service,
    env,
    ask: async (...args) => documentOf(args, await mpHere([...args, '--json'], env)),
    async refused(...args) {
      const { status, out, err } = await mpHere([...args, '--json'], env);
      const message = err.trimEnd();
      const printed = `${JSON.stringify({ error: { exitStatus: 1, message } })}\n`;
      if (status !== 1 || out !== printed)
        throw new Error(`mp ${args.join(' ')}: ${status} ${out}`);
      return message;
    },
  };
}

function documentOf<T>(args: string[], { status, out, err }: Outcome): T {
  if (status !== 0 || err !== '') throw new Error(`mp ${args.join(' ')}: ${status} ${err}`);
  return JSON.parse(out);
}
