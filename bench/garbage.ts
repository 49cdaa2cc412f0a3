import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

/** Garbage collections of a process. */
export interface Garbage {
  readonly minorMicroseconds: number;
  readonly majorMicroseconds: number;
  /** Bytes allocated between the first collection and the last. */
  readonly allocatedBytes: number;
}

/** How often to check for a probe's response, in milliseconds, and how many times at most. */
const POLL_MS = 5;
const POLLS = 1_000;

/** Node.js arguments that make a process write its collections to `file`. */
export function probeArguments(file: string): string[] {
  const probe = pathToFileURL(join(import.meta.dirname, 'garbage-probe.ts'));
  probe.searchParams.set('to', file);
  return [`--import=${probe.href}`];
}

/** Starts to record the collections of a process with a probe. */
export function beginGarbage(pid: number): void {
  process.kill(pid, 'SIGUSR2');
}

/** The collections since `beginGarbage`. */
export async function endGarbage(pid: number, file: string): Promise<Garbage> {
  process.kill(pid, 'SIGUSR2');
  for (let poll = 0; poll < POLLS; poll++) {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text !== undefined) {
      await rm(file);
      return JSON.parse(text);
    }
    await sleep(POLL_MS);
  }
  throw new Error('the process did not tell its garbage collections');
}
