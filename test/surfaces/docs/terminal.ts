import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A shell in an empty directory, into which a reader pastes what a page shows. */
export interface Terminal {
  readonly directory: string;
  /**
   * Runs commands in the same shell as those before them; returns what they print.
   * @throws Error when one of them fails, with all that was printed.
   */
  paste(commands: string): Promise<string>;
  /** Writes a file below the current directory of the shell; its folder has to exist. */
  save(file: string, text: string): Promise<void>;
  /** Ends the shell with all that it has started. */
  close(): Promise<void>;
}

/** What the shell prints after pasted commands. */
const END = '\u0004 end';
const FAILED = '\u0004 failed';

/** @param env All variables but PATH and HOME, which is the directory. */
export async function openTerminal(env: NodeJS.ProcessEnv = {}): Promise<Terminal> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'eps-page-')));
  const shell = spawn('bash', ['--noprofile', '--norc'], {
    cwd: directory,
    env: { PATH: process.env.PATH, HOME: directory, ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
    // A process group of its own, which ends as one.
    detached: true,
  });
  const ended = once(shell, 'close');
  let printed = '';
  let onPrinted = () => {};
  shell.stdout.setEncoding('utf8').on('data', text => {
    printed += text;
    onPrinted();
  });
  shell.stdin.write(`exec 2>&1\ntrap 'echo "${FAILED}: $BASH_COMMAND"' ERR\n`);

  async function paste(commands: string): Promise<string> {
    printed = '';
    shell.stdin.write(`${commands}\necho '${END}'\n`);
    await Promise.race([
      new Promise<void>(done => {
        onPrinted = () => {
          if (printed.includes(`${END}\n`)) done();
        };
      }),
      ended,
    ]);
    const [output = ''] = printed.split(`${END}\n`);
    if (output === printed || output.includes(FAILED)) throw new Error(output);
    return output;
  }

  return {
    directory,
    paste,
    async save(file, text) {
      await paste(`cat >'${file}' <<'${END}'\n${text}\n${END}`);
    },
    async close() {
      try {
        if (shell.pid !== undefined) process.kill(-shell.pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
      await ended;
      await rm(directory, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}
