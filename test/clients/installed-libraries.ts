import { type ChildProcessByStdio, execFile, execFileSync, spawn } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import { readBeginning } from '#surfaces/docs/downloads/library-readme.ts';

const run = promisify(execFile);
const PROGRAMS = resolve(import.meta.dirname, 'programs');
/** The longest that an installation may take, in milliseconds; only a first build of Go comes near. */
const PATIENCE_MS = 100_000;
/** Path of Guzzle in Debian; its autoloader finds the PSR interfaces as well. */
const GUZZLE = '/usr/share/php/GuzzleHttp/autoload.php';

/** A library as a merchant installs it: from the service, in a separate directory. */
export interface Installation {
  readonly directory: string;
  /** Environment of a program that uses it. */
  readonly env: NodeJS.ProcessEnv;
  /** The program of `programs/` that executes the calls it reads. */
  readonly command: readonly [program: string, ...args: string[]];
  /** The command line that the README gives to start a file. */
  start(file: string): readonly [program: string, ...args: string[]];
  remove(): Promise<void>;
}

export interface Language {
  readonly name: string;
  /** Its folder in `clients/`, and the language of its code blocks. */
  readonly folder: string;
  readonly fence: string;
  /** What it needs and the machine lacks. */
  readonly missing: readonly string[];
  /** Where an example is saved, according to the README. */
  readonly file: string;
  install(origin: string): Promise<Installation>;
}

function lacking(commands: Readonly<Record<string, readonly string[]>>): string[] {
  return Object.entries(commands).flatMap(([name, [program = '', ...args]]) => {
    try {
      execFileSync(program, args, { stdio: 'ignore', env: { PATH: process.env.PATH } });
      return [];
    } catch {
      return [name];
    }
  });
}

export const LANGUAGES: readonly Language[] = [
  {
    name: 'Python',
    folder: 'python',
    fence: 'python',
    file: 'example.py',
    missing: lacking({ 'python3 with pip': ['python3', '-m', 'pip', '--version'] }),
    install: installPython,
  },
  {
    name: 'PHP',
    folder: 'php',
    fence: 'php',
    file: 'example.php',
    missing: lacking({
      'php with Guzzle': [
        'php',
        '-r',
        `require '${GUZZLE}'; exit(extension_loaded('curl') ? 0 : 1);`,
      ],
      unzip: ['unzip', '-v'],
    }),
    install: installPhp,
  },
  {
    name: 'Go',
    folder: 'go',
    fence: 'go',
    file: 'main.go',
    missing: lacking({
      go: ['go', 'version'],
      unzip: ['unzip', '-v'],
      curl: ['curl', '--version'],
    }),
    install: installGo,
  },
];

async function makeDirectory() {
  const directory = await mkdtemp(join(tmpdir(), 'eps-library-'));
  const env = { PATH: process.env.PATH, HOME: directory };
  const shell = (commands: string, more: NodeJS.ProcessEnv = {}) =>
    run('sh', ['-ec', commands], {
      cwd: directory,
      env: { ...env, ...more },
      timeout: PATIENCE_MS,
    });
  const remove = () => rm(directory, { recursive: true, force: true, maxRetries: 3 });
  return { directory, env, shell, remove };
}

async function installPython(origin: string): Promise<Installation> {
  const { directory, env, shell, remove } = await makeDirectory();
  // Without an index: only the archive itself may be needed.
  const site = join(directory, 'site');
  await shell(readBeginning('python', origin).install.replace('pip', 'python3 -m pip'), {
    PIP_NO_INDEX: '1',
    PIP_TARGET: site,
    PIP_NO_CACHE_DIR: '1',
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
    PIP_ROOT_USER_ACTION: 'ignore',
  });
  return {
    directory,
    env: { ...env, PYTHONPATH: site, NO_PROXY: '*' },
    command: ['python3', join(PROGRAMS, 'client.py')],
    start: file => ['python3', file],
    remove,
  };
}

async function installPhp(origin: string): Promise<Installation> {
  const { directory, env, shell, remove } = await makeDirectory();
  const [fetched = ''] = readBeginning('php', origin).install.split('composer ', 1);
  await shell(fetched);
  // Composer would download Guzzle: Debian's replaces it, and this file replaces Composer's autoloader.
  const autoload = join(directory, 'vendor/autoload.php');
  await shell('mkdir vendor');
  await writeFile(autoload, writeAutoload(join(directory, 'external-payments-php')));
  return {
    directory,
    env: { ...env, AUTOLOAD: autoload },
    command: ['php', join(PROGRAMS, 'client.php')],
    start: file => ['php', file],
    remove,
  };
}

/** Writes an autoloader for the classes in the library's composer.json. */
function writeAutoload(library: string): string {
  return `<?php
require '${GUZZLE}';
$map = json_decode(file_get_contents('${library}/composer.json'), true)['autoload']['psr-4'];
spl_autoload_register(function (string $class) use ($map): void {
    foreach ($map as $prefix => $folder) {
        if (str_starts_with($class, $prefix)) {
            require "${library}/$folder" . strtr(substr($class, strlen($prefix)), '\\\\', '/') . '.php';
        }
    }
});
`;
}

async function installGo(origin: string): Promise<Installation> {
  const { directory, env: bare, shell, remove } = await makeDirectory();
  // Nothing is downloaded, and the user's build cache is used, since a first build takes long.
  const env = {
    ...bare,
    HOME: process.env.HOME,
    GOPROXY: 'off',
    GOFLAGS: '-mod=mod',
    GOTOOLCHAIN: 'local',
  };
  await shell('go mod init shop', env);
  await shell(readBeginning('go', origin).install, env);
  await shell('mkdir client', env);
  await cp(join(PROGRAMS, 'go/main.go'), join(directory, 'client/main.go'));
  await shell('go vet ./client externalpayments && go build -o client/client ./client', env);
  return {
    directory,
    env: { ...env, NO_PROXY: '*' },
    command: [join(directory, 'client/client')],
    start: () => ['go', 'run', '.'],
    remove,
  };
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
