import { setTimeout as sleep } from 'node:timers/promises';

const EVERY_MS = 100;
/** An orchestrator has given up on a health check long before, in milliseconds. */
const GIVE_UP_MS = 5_000;

/**
 * Asks for /healthz and /readyz in turns until `until` settles.
 * @returns Seconds that each answer took; infinite for any but 200.
 */
export async function checkHealth(port: number, until: Promise<unknown>): Promise<number[]> {
  const durations: number[] = [];
  let done = false;
  const settle = () => {
    done = true;
  };
  until.then(settle, settle);
  for (let turn = 0; !done; turn++) {
    durations.push(await check(port, turn % 2 === 0 ? '/healthz' : '/readyz'));
    await sleep(EVERY_MS);
  }
  return durations;
}

async function check(port: number, path: string): Promise<number> {
  const started = performance.now();
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      signal: AbortSignal.timeout(GIVE_UP_MS),
    });
    await response.arrayBuffer();
    return response.ok ? (performance.now() - started) / 1000 : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
