import { once } from 'node:events';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createConnection } from 'node:net';
import { join } from 'node:path';
import { isRunning } from './postgres-process.ts';

/** Where the service of a data directory listens, as stored in a file there. */
interface LocalService {
  readonly url: string;
  /** Process ID, by which a file that a killed process has left behind is recognised. */
  readonly pid: number;
}

const FILE = 'service.json';
const CONNECT_TIMEOUT_MS = 1_000;

/** The URL at which this machine reaches a server, also one that listens on every address. */
export function localUrl({ address, port, family }: AddressInfo): string {
  if (address === '0.0.0.0') return `http://127.0.0.1:${port}`;
  if (address === '::') return `http://[::1]:${port}`;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** Another process serves the same data directory. The message says what to do. */
export class ServiceRunning extends Error {
  override readonly name = 'ServiceRunning';

  constructor({ url, pid }: LocalService, dataDirectory: string) {
    super(
      `Process ${pid} serves DATA_DIRECTORY (${dataDirectory}) already, at ${url}: end it first, or set another DATA_DIRECTORY.`,
    );
  }
}

/** @throws ServiceRunning */
export async function refuseSecondService(dataDirectory: string): Promise<void> {
  const service = await readService(join(dataDirectory, FILE));
  if (service !== undefined && (await serves(service))) {
    throw new ServiceRunning(service, dataDirectory);
  }
}

/**
 * Writes down where this process serves the data directory, for `mp request`.
 * @returns A function that removes what was written.
 * @throws ServiceRunning if another one has done so since this one began to start.
 */
export async function announceService(
  dataDirectory: string,
  url: string,
): Promise<() => Promise<void>> {
  const file = join(dataDirectory, FILE);
  const service: LocalService = { url, pid: process.pid };
  await mkdir(dataDirectory, { recursive: true });
  await refuseSecondService(dataDirectory);
  await writeFile(file, `${JSON.stringify(service)}\n`, { mode: 0o600 });
  return () => rm(file, { force: true });
}

/**
 * Whether a service listens at its recorded address. Its process ID alone does not tell: in a container
 * another process has it after each restart, perhaps this one.
 */
async function serves({ url, pid }: LocalService): Promise<boolean> {
  if (pid === process.pid || !isRunning(pid)) return false;
  const { hostname, port } = new URL(url);
  const socket = createConnection({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || 80),
    timeout: CONNECT_TIMEOUT_MS,
  });
  socket.on('timeout', () => socket.destroy(new Error('it does not accept connections')));
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
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
    // The file is being written at this moment, or does not exist.
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
}
