import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * A mark that tells a process apart from a later one with the same ID: clock ticks since boot on
 * Linux, the start date elsewhere. Undefined when no such process runs (a zombie does not run).
 */
export async function startMarkOf(pid: number): Promise<string | undefined> {
  if (process.platform !== 'linux') return startDateOf(pid);
  const stat = await readProcess(pid, 'stat');
  // The name of the program, in parentheses, may itself hold spaces and parentheses.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields === undefined || fields[0] === 'Z' || fields[0] === 'X') return undefined;
  // starttime is field 22 of proc_pid_stat(5); the state, field 3, is the first one left here.
  return fields[19];
}

/** The arguments of a running process, joined by spaces; undefined when it does not run. */
export async function commandLineOf(pid: number): Promise<string | undefined> {
  if (process.platform !== 'linux') return ask(pid, 'args=');
  // Empty for a zombie.
  return (await readProcess(pid, 'cmdline'))?.replaceAll('\0', ' ') || undefined;
}

/** Whether some process, zombies included, has this ID: what PostgreSQL itself goes by. */
export function isTaken(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

/** Sends a signal to a process that may have ended. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

async function readProcess(pid: number, file: string): Promise<string | undefined> {
  try {
    return await readFile(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}

async function startDateOf(pid: number): Promise<string | undefined> {
  const answer = await ask(pid, 'stat=,lstart=');
  return answer === undefined || answer.startsWith('Z')
    ? undefined
    : answer.replace(/\W|^\S+/g, '');
}

async function ask(pid: number, columns: string): Promise<string | undefined> {
  try {
    const { stdout } = await run('ps', ['-ww', '-o', columns, '-p', String(pid)], {
      env: { PATH: process.env.PATH, LC_ALL: 'C' },
    });
    return stdout.trim() || undefined;
  } catch {
    return undefined;
  }
}
