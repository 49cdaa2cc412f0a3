import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { isRunning } from './postgres-process.ts';

/** Where the service listens that runs on a data directory, in a file there. */
interface LocalService {
  readonly url: string;
  /** Of the process: a file that a killed one has left behind says nothing. */
  readonly pid: number;
}

const FILE = 'service.json';

/** The URL at which this machine reaches a server, also one that listens on every address. */
export function localUrl({ address, port, family }: AddressInfo): string {
  if (address === '0.0.0.0') return `http://127.0.0.1:${port}`;
  if (address === '::') return `http://[::1]:${port}`;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/**
 * Writes down where this process serves the data directory, for `mp request`.
 * @returns A function that removes what was written.
 */
export async function announceService(
  dataDirectory: string,
  url: string,
): Promise<() => Promise<void>> {
  const file = join(dataDirectory, FILE);
  const service: LocalService = { url, pid: process.pid };
  await mkdir(dataDirectory, { recursive: true });
  await writeFile(file, `${JSON.stringify(service)}\n`, { mode: 0o600 });
  return async () => {
    // A service that was started later on the same directory has written its own.
    if ((await readService(file))?.pid === process.pid) await rm(file, { force: true });
  };
}

/** The URL of the service that runs on a data directory; undefined when none does. */
export async function findService(dataDirectory: string): Promise<string | undefined> {
  const service = await readService(join(dataDirectory, FILE));
  return service !== undefined && isRunning(service.pid) ? service.url : undefined;
}

async function readService(file: string): Promise<LocalService | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    // Being written at this moment, or not there.
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
}
