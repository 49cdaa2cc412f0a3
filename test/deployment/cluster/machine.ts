import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, chown, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Account } from '#runtime/development/postgres-process.ts';
import { directivesOf, parseLines } from '../unit-files.ts';

const KIT = resolve(import.meta.dirname, '../../../deploy/patroni');
/** Paths of the guide and the units, with their folders in a machine's directory. */
const PLACES = {
  '/etc/eps-cluster': 'settings',
  '/var/lib/eps-etcd': 'etcd',
  '/var/lib/eps-postgres': 'postgres',
  '/run/eps-postgres': 'run',
} as const;
/** Output lines that are kept per program. */
const LINES_MAXIMUM = 300;

type Unit = 'eps-etcd.service' | 'eps-haproxy.service' | 'eps-patroni.service';

/** A program started from a unit of the kit. */
export interface Program {
  readonly pid: number;
  /** The newest lines of its output. */
  readonly lines: readonly string[];
  hasEnded(): boolean;
  /** Signals it, and waits for its end unless the signal is one that it survives. */
  signal(name: NodeJS.Signals): Promise<void>;
}

interface MachineOptions {
  /** Directory of everything that it has on disk; created for it. */
  readonly directory: string;
  /** The account that its programs run as; undefined for this process's user. */
  readonly account: Account | undefined;
  /** The operator's values in the environment file. */
  readonly settings: Readonly<Record<string, string>>;
  /** Where standbys reach its PostgreSQL, if a proxy is in between; `host:port`. */
  readonly replicationAddress?: string | undefined;
}

/** The variable with which the unit sets it. */
const CONNECT_ADDRESS = 'PATRONI_POSTGRESQL_CONNECT_ADDRESS';

/**
 * A machine as an operator sets it up: with the files of deploy/patroni unchanged, but in its own folder, with values
 * for the names in the environment file. Its address is a loopback address, so that ports are the kit's.
 */
export class Machine {
  readonly name: string;
  readonly address: string;
  readonly #options: MachineOptions;

  private constructor(options: MachineOptions) {
    const { NODE_NAME = '', NODE_ADDRESS = '' } = options.settings;
    this.name = NODE_NAME;
    this.address = NODE_ADDRESS;
    this.#options = options;
  }

  static async setUp(options: MachineOptions): Promise<Machine> {
    const { directory, account, settings } = options;
    await mkdir(directory, { mode: 0o711 });
    for (const folder of Object.values(PLACES)) {
      const path = join(directory, folder);
      await mkdir(path, { mode: 0o700 });
      if (account !== undefined) await chown(path, account.uid, account.gid);
    }
    const machine = new Machine(options);
    for (const name of await readdir(KIT)) {
      const text = machine.#here(await readFile(join(KIT, name), 'utf8'));
      const path = machine.path('/etc/eps-cluster', name);
      await writeFile(path, name === 'environment' ? fillIn(text, settings) : text);
      if (account !== undefined) await chown(path, account.uid, account.gid);
      if (name === 'cluster') await chmod(path, 0o755);
    }
    return machine;
  }

  /** The local path for a path of the kit. */
  path(place: keyof typeof PLACES, ...names: readonly string[]): string {
    return join(this.#options.directory, PLACES[place], ...names);
  }

  #here(text: string): string {
    let here = text;
    for (const place of Object.keys(PLACES) as (keyof typeof PLACES)[]) {
      here = here.replaceAll(place, this.path(place));
    }
    return here;
  }

  /** The environment that systemd gives to a unit. */
  environmentOf(unit: Unit): Record<string, string> {
    const text = this.#read(unit);
    const files = directivesOf(text, 'EnvironmentFile').map(path => readFileSync(path, 'utf8'));
    const environment = {
      ...parseLines(directivesOf(text, 'Environment')),
      ...parseLines(files.join('\n').split('\n')),
    };
    const unset = directivesOf(text, 'UnsetEnvironment').flatMap(names => names.split(' '));
    return Object.fromEntries(
      Object.entries(environment).filter(([name]) => !unset.includes(name)),
    );
  }

  /** Starts the command of a unit. It ends with this process, however that ends. */
  start(unit: Unit): Program {
    const environment = this.environmentOf(unit);
    const [line = ''] = directivesOf(this.#read(unit), 'ExecStart');
    const { account, directory, replicationAddress } = this.#options;
    const command = line
      .split(' ')
      .map(word =>
        replicationAddress !== undefined && word.startsWith(`${CONNECT_ADDRESS}=`)
          ? `${CONNECT_ADDRESS}=${replicationAddress}`
          : word.replaceAll(/\$\{(\w+)\}/g, (_, name) => environment[name] ?? ''),
      );
    const user =
      account === undefined
        ? []
        : [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups'];
    const child = spawn('setpriv', [...user, '--pdeathsig=KILL', '--', ...command], {
      cwd: directory,
      env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return followed(child);
  }

  #read(unit: Unit): string {
    return readFileSync(this.path('/etc/eps-cluster', unit), 'utf8');
  }
}

/** @throws Error for a name that the file does not have. */
function fillIn(text: string, settings: Readonly<Record<string, string>>): string {
  let filled = text;
  for (const [name, value] of Object.entries(settings)) {
    const line = new RegExp(`^${name}=.*$`, 'm');
    if (!line.test(filled)) throw new Error(`the environment file has no ${name}`);
    filled = filled.replace(line, () => `${name}=${value}`);
  }
  return filled;
}

function followed(child: ChildProcess): Program {
  const lines: string[] = [];
  for (const output of [child.stdout, child.stderr]) {
    if (output === null) continue;
    createInterface({ input: output }).on('line', line => {
      lines.push(line);
      if (lines.length > LINES_MAXIMUM) lines.shift();
    });
  }
  const ended = once(child, 'exit');
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  return {
    pid: child.pid ?? Number.NaN,
    lines,
    hasEnded,
    async signal(name) {
      if (hasEnded()) return;
      child.kill(name);
      if (name !== 'SIGSTOP' && name !== 'SIGCONT') await ended;
    },
  };
}
