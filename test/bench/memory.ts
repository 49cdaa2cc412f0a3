import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { median } from './measure.ts';

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
/** How long a collection may take, and giving back what it freed, in milliseconds. */
const COLLECTION_MS = 2_000;

/**
 * Resident memory of such a process without its garbage, in mebibytes. With it, memory under a steady
 * load goes up and down by a third, as V8 collects when it sees fit.
 */
export async function memoryKept(pid: number): Promise<number> {
  process.kill(pid, SIGNAL);
  await sleep(COLLECTION_MS);
  const { stdout } = await run('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Number(stdout) / 1024;
}

/** Medians of the first and of the last half; a middle one counts in neither. */
export function compareHalves(samples: readonly number[]): readonly [number, number] {
  const half = Math.floor(samples.length / 2);
  return [median(samples.slice(0, half)), median(samples.slice(-half))];
}
