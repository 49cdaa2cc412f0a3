import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Linux's counters of a process. */
interface ProcessTimes {
  /** CPU time of the main thread, and of all threads, in microseconds. */
  readonly mainThread: number;
  readonly allThreads: number;
  /** System calls of the main thread that read or write. */
  readonly readsAndWrites: number;
}

/** Reads the counters of a process, whose threads must not end meanwhile. */
export async function processTimes(pid: number): Promise<ProcessTimes> {
  const threads = await readdir(`/proc/${pid}/task`);
  const times = await Promise.all(threads.map(thread => cpuTime(`/proc/${pid}/task/${thread}`)));
  const io = await readFile(`/proc/${pid}/task/${pid}/io`, 'utf8');
  const count = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(io)?.[1]);
  return {
    mainThread: await cpuTime(`/proc/${pid}/task/${pid}`),
    allThreads: sum(times),
    readsAndWrites: count('syscr') + count('syscw'),
  };
}

/** CPU time of a server and of its child processes, in microseconds. */
export async function familyTime(pid: number): Promise<number> {
  const { stdout } = await run('ps', ['-o', 'pid=', '--pid', String(pid), '--ppid', String(pid)]);
  return sum(
    await Promise.all(
      stdout
        .trim()
        .split(/\s+/)
        .map(each => cpuTime(`/proc/${each}`)),
    ),
  );
}

/** `schedstat` begins with nanoseconds on a CPU; `stat` counts in hundredths of a second. */
async function cpuTime(directory: string): Promise<number> {
  // A process that has just ended no longer counts.
  const text = await readFile(`${directory}/schedstat`, 'utf8').catch(() => '0');
  return Number(text.split(' ', 1)[0]) / 1000;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
