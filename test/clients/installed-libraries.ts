import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { PastedPage } from '../surfaces/docs/pasted-page.ts';

const PROGRAMS = resolve(import.meta.dirname, 'programs');
/** Guzzle of Debian; its autoloader finds the PSR interfaces as well. */
const GUZZLE = '/usr/share/php/GuzzleHttp';

/** A library where a merchant has installed it, in the directory of their programs. */
export interface Installation {
  readonly directory: string;
  /** Environment of a program that uses it. */
  readonly env: NodeJS.ProcessEnv;
  /** The program of `programs/` that executes the calls it reads. */
  readonly command: readonly [program: string, ...args: string[]];
}

export interface Language {
  readonly name: string;
  /** Its page, which installs the library. */
  readonly slug: string;
  /** What it needs and the machine lacks. */
  readonly missing: readonly string[];
  /** Environment of the terminal that the page is pasted into. */
  readonly env?: NodeJS.ProcessEnv;
  prepare?(home: string): Promise<void>;
  /** How the program of `programs/` is started in the page's directory. */
  install(page: PastedPage): Promise<Pick<Installation, 'command' | 'env'>>;
  /** Commands that find mistakes in the programs of the page, and in the library where its compiler is needed. */
  readonly lint: string;
}

/** The programs that the pages use besides. */
const TOOLS = { curl: ['curl', '--version'], openssl: ['openssl', 'version'] } as const;

function lacking(commands: Readonly<Record<string, readonly string[]>>): string[] {
  return Object.entries({ ...TOOLS, ...commands }).flatMap(([name, [program = '', ...args]]) => {
    try {
      execFileSync(program, args, { stdio: 'ignore', env: { PATH: process.env.PATH } });
      return [];
    } catch {
      return [name];
    }
  });
}

/** Nothing is downloaded, and the user's build cache is used, since a first build takes long. */
const OFFLINE_GO = {
  GOPROXY: 'off',
  GOTOOLCHAIN: 'local',
  GOCACHE: process.env.GOCACHE ?? join(homedir(), '.cache/go-build'),
};

export const LANGUAGES: readonly Language[] = [
  {
    name: 'Python',
    slug: 'python',
    missing: lacking({ 'python3 with venv': ['python3', '-c', 'import ensurepip, venv'] }),
    // Only the library itself may be needed.
    env: { PIP_NO_INDEX: '1', PIP_DISABLE_PIP_VERSION_CHECK: '1' },
    install: async ({ directory }) => ({
      env: {},
      command: [join(directory, '.venv/bin/python'), join(PROGRAMS, 'client.py')],
    }),
    lint: 'python -W error -m py_compile *.py',
  },
  {
    name: 'PHP',
    slug: 'php',
    missing: lacking({
      'php with Guzzle': [
        'php',
        '-r',
        `require '${GUZZLE}/autoload.php'; exit(extension_loaded('curl') ? 0 : 1);`,
      ],
      composer: ['composer', '--version'],
      unzip: ['unzip', '-v'],
    }),
    prepare: offerGuzzle,
    install: async ({ directory }) => ({
      env: { AUTOLOAD: join(directory, 'vendor/autoload.php') },
      command: ['php', join(PROGRAMS, 'client.php')],
    }),
    lint: 'for file in *.php; do php -l "$file"; done',
  },
  {
    name: 'Go',
    slug: 'go',
    missing: lacking({ go: ['go', 'version'], unzip: ['unzip', '-v'] }),
    env: OFFLINE_GO,
    install: installGo,
    lint: 'go vet ./... externalpayments && test -z "$(gofmt -l .)"',
  },
];

/**
 * Packagist is out of reach, so Guzzle does not come from there: Composer, which the page's commands run, is told that
 * Debian's is the package of that name.
 */
async function offerGuzzle(home: string): Promise<void> {
  const guzzle = {
    name: 'guzzlehttp/guzzle',
    version: '7.4.5',
    dist: { type: 'path', url: GUZZLE },
    provide: { 'psr/http-client': '1.0', 'psr/http-factory': '1.0', 'psr/http-message': '1.0' },
    autoload: { files: ['autoload.php'] },
  };
  const repositories = { 'packagist.org': false, debian: { type: 'package', package: guzzle } };
  const folder = join(home, '.config/composer');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'config.json'), JSON.stringify({ repositories }));
}

async function installGo({ directory, terminal }: PastedPage) {
  await cp(join(PROGRAMS, 'go/main.go'), join(directory, 'client/main.go'));
  await terminal.paste('go build -o client/client ./client');
  return { env: {}, command: [join(directory, 'client/client')] } as const;
}

/** A running program that reads and writes one document per line. */
export interface Driver {
  ask<T>(given: object): Promise<T>;
  /** Ends it; resolves with its exit status and standard error. */
  end(): Promise<{ status: number | null; err: string }>;
}

export function startDriver(installation: Installation, ...more: string[]): Driver {
  const [program, ...args] = installation.command;
  const child: ChildProcessByStdio<Writable, Readable, Readable> = spawn(
    program,
    [...args, ...more],
    { cwd: installation.directory, env: installation.env, stdio: ['pipe', 'pipe', 'pipe'] },
  );
  let err = '';
  // The reason for an early exit is on standard error.
  child.stdin.on('error', () => undefined);
  child.stderr.on('data', data => {
    err += data;
  });
  const ended = new Promise<number | null>(done => child.on('close', done));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    async ask(given) {
      child.stdin.write(`${JSON.stringify(given)}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error(`${program} has ended: ${err}`);
      return JSON.parse(value);
    },
    async end() {
      child.stdin.end();
      return { status: await ended, err };
    },
  };
}
