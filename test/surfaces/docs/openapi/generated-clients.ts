import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildInertApp } from './inert-app.ts';

const run = promisify(execFile);
const COMPILER = join(import.meta.dirname, '../../../../node_modules/.bin/tsc');

/** Options of a merchant's compiler; `types` excludes those of this repository. */
const TSCONFIG = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    types: [],
    skipLibCheck: false,
    target: 'es2024',
    lib: ['es2024', 'dom', 'dom.iterable'],
    module: 'esnext',
    moduleResolution: 'bundler',
    noUncheckedIndexedAccess: true,
  },
};

/** A program that generates a client from the OpenAPI document. */
export interface Generator {
  /** Runs in its own folder, which gets the client; the document is `../openapi.json`. */
  readonly command: readonly [program: string, ...argv: string[]];
  /** Code that uses the client. Its expected type errors show that the types are not `any`. */
  readonly use: string;
}

/**
 * Generates clients and compiles them as a merchant would.
 *
 * @param patienceMs The longest that a generator or the compiler may take, in milliseconds.
 * @returns The compiler's errors; empty if there are none.
 * @throws Error with the output of a generator that fails.
 */
export async function compileClients(
  generators: readonly Generator[],
  patienceMs: number,
): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'eps-clients-'));
  try {
    await writeFile(join(directory, 'openapi.json'), await readDocument());
    await writeFile(join(directory, 'tsconfig.json'), JSON.stringify(TSCONFIG));
    const generate = async ({ command: [program, ...argv], use }: Generator, index: number) => {
      const cwd = join(directory, `client-${index}`);
      await mkdir(cwd);
      await run(program, argv, { cwd, timeout: patienceMs });
      await writeFile(join(cwd, 'use.ts'), use);
    };
    await Promise.all(generators.map(generate));
    const { stdout, stderr } = await run(COMPILER, ['--project', directory], {
      timeout: patienceMs,
    }).catch((failure: { stdout: string; stderr: string }) => failure);
    return stdout + stderr;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function readDocument(): Promise<string> {
  const app = await buildInertApp();
  const { body } = await app.inject({ url: '/openapi.json' });
  await app.close();
  return body;
}
