import { setTimeout as sleep } from 'node:timers/promises';

const EVERY_MS = 100;
/** An orchestrator has given up on a health check long before, in milliseconds. */
const GIVE_UP_MS = 5_000;

/** Health checks, and a request that is refused: without a signature, or at once by an overload. */
const PATHS = ['/healthz', '/readyz', '/external/v1/payments'] as const;

/**
 * Asks for something over a new connection each time, in turns, until `until` settles.
 * @returns Seconds that each answer took; infinite for one that is wrong or never came.
 */
export async function askAsNewcomer(port: number, until: Promise<unknown>): Promise<number[]> {
  const durations: number[] = [];
  let done = false;
  const settle = () => {
    done = true;
  };
  until.then(settle, settle);
  for (let turn = 0; !done; turn++) {
    durations.push(await ask(port, PATHS[turn % PATHS.length] ?? PATHS[0]));
    await sleep(EVERY_MS);
  }
  return durations;
}

async function ask(port: number, path: (typeof PATHS)[number]): Promise<number> {
  const started = performance.now();
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(GIVE_UP_MS),
    });
    await response.arrayBuffer();
    const { ok, status } = response;
    const right = path === PATHS[2] ? status === 400 || status === 401 || status === 503 : ok;
    return right ? (performance.now() - started) / 1000 : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
