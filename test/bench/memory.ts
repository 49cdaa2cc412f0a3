import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

const SIGNAL = 'SIGUSR2';
/**
 * Arguments of a process that collects its garbage when it gets the signal. Only as the last resort
 * does V8 give back what it would rather keep for what comes next.
 */
export const COLLECTS_ON_SIGNAL = [
  '--expose-gc',
  `--import=data:text/javascript,process.on('${SIGNAL}',()=>gc({type:'major',flavor:'last-resort'}))`,
] as const;
/** A collection is over when memory has not fallen for so long, in milliseconds. */
const SETTLING_MS = 1_000;
/** How often it is looked at until it counts as it is. */
const ATTEMPTS = 10;

/** Resident memory in mebibytes. */
export interface Memory {
  /** Under a steady load it goes up and down by a third, as V8 collects when it sees fit. */
  readonly withGarbage: number;
  readonly withoutGarbage: number;
}

/** Measures a process, which has to be started with COLLECTS_ON_SIGNAL, and collects its garbage. */
export async function measureMemory(pid: number): Promise<Memory> {
  const withGarbage = await residentMemory(pid);
  process.kill(pid, SIGNAL);
  let withoutGarbage = withGarbage;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    await sleep(SETTLING_MS);
    const now = await residentMemory(pid);
    if (now >= withoutGarbage && attempt > 0) break;
    withoutGarbage = now;
  }
  return { withGarbage, withoutGarbage };
}

async function residentMemory(pid: number): Promise<number> {
  const { stdout } = await run('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Number(stdout) / 1024;
}
