import { execFile, execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const ROOT = resolve(import.meta.dirname, '../../..');
const PATH = process.env.PATH ?? '';

export const run = promisify(execFile);

/** The directory of a merchant's programs. */
export interface Project {
  readonly directory: string;
  /** Makes a package of this repository importable, as if it were installed. */
  link(name: string): Promise<void>;
  remove(): Promise<void>;
}

/** Creates an empty project and runs the documentation's command that installs the client. */
export async function installClient(command: string): Promise<Project> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'eps-client-')));
  const env = {
    PATH,
    HOME: directory,
    npm_config_cache: join(directory, '.npm'),
    // Only the client itself may be needed: no registry responds here.
    npm_config_registry: 'http://127.0.0.1:9/',
    npm_config_audit: 'false',
    npm_config_update_notifier: 'false',
  };
  await run('sh', ['-c', command], { cwd: directory, env, timeout: 30_000 });
  return {
    directory,
    async link(name) {
      const target = join(directory, 'node_modules', name);
      await mkdir(join(target, '..'), { recursive: true });
      await symlink(join(ROOT, 'node_modules', name), target);
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

/** A Node.js that runs the client. */
interface Runtime {
  readonly name: string;
  /** undefined if the machine has none. */
  readonly program: string | undefined;
}

/** The Node.js of these tests, and the oldest that the client supports, if the machine has it. */
export const RUNTIMES: readonly Runtime[] = [
  { name: `Node.js ${process.versions.node}`, program: process.execPath },
  describeOldest(),
];

function describeOldest(): Runtime {
  for (const directory of PATH.split(delimiter)) {
    // npm installs Node there.
    if (directory.includes('node_modules')) continue;
    const program = join(directory, 'node');
    const version = versionOf(program);
    if (version?.startsWith('v20.')) return { name: `Node.js ${version.slice(1)}`, program };
  }
  return { name: 'Node.js 20, which is not on the PATH', program: undefined };
}

function versionOf(program: string): string | undefined {
  try {
    return execFileSync(program, ['--version'], { stdio: 'pipe' }).toString().trim();
  } catch {
    return undefined;
  }
}
