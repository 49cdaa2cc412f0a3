import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

const SIGNAL = 'SIGUSR2';
/**
 * Arguments of a process that collects its garbage on the signal. Only a collection as the last resort
 * makes V8 return the memory it keeps in reserve.
 */
export const COLLECTS_ON_SIGNAL = [
  '--expose-gc',
  `--import=data:text/javascript,process.on('${SIGNAL}',()=>gc({type:'major',flavor:'last-resort'}))`,
] as const;
/** A collection has ended when memory has not fallen for this long, in milliseconds. */
const SETTLING_MS = 1_000;
/** The most readings until memory counts as settled. */
const ATTEMPTS = 10;

/** Resident memory in mebibytes. */
export interface Memory {
  /** Varies by a third under a steady load, with V8's collections. */
  readonly withGarbage: number;
  readonly withoutGarbage: number;
}

/** Measures a process that was started with COLLECTS_ON_SIGNAL, and collects its garbage. */
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
