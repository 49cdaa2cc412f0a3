import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { median } from './measure.ts';
import { watchSettling } from './settled.ts';

const run = promisify(execFile);

/** Resident memory of a process, in mebibytes. */
async function residentMemory(pid: number): Promise<number> {
  const { stdout } = await run('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Number(stdout) / 1024;
}

/** Samples a process's memory until `until` settles; everything in mebibytes. */
export async function watchMemory(
  pid: number,
  until: Promise<unknown>,
  everyMs: number,
): Promise<number[]> {
  const samples: number[] = [];
  const isOver = watchSettling(until);
  while (!isOver()) {
    samples.push(await residentMemory(pid));
    await sleep(everyMs);
  }
  return samples;
}

/**
 * Medians of the second and of the last quarter: the first is the process warming up, and a median
 * does not see what waits for the garbage collector.
 */
export function compareQuarters(samples: readonly number[]): readonly [number, number] {
  const quarter = Math.floor(samples.length / 4);
  return [median(samples.slice(quarter, 2 * quarter)), median(samples.slice(-quarter))];
}
