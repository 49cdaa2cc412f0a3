import { setTimeout as sleep } from 'node:timers/promises';

const EVERY_MS = 100;
/** An orchestrator has given up on a health check long before, in milliseconds. */
const GIVE_UP_MS = 5_000;

interface Question {
  readonly path: string;
  /** Statuses of a right answer. */
  readonly answers: readonly number[];
}

/** What a newcomer got. */
export interface Waited {
  readonly path: string;
  /** Infinite for an answer that is wrong or never came. */
  readonly seconds: number;
}

/** Health checks, and a request that is refused: without a signature, or at once by an overload. */
const QUESTIONS: readonly Question[] = [
  { path: '/healthz', answers: [200] },
  { path: '/readyz', answers: [200] },
  { path: '/external/v1/payments', answers: [401, 503] },
];

/** Asks for something over a new connection each time, in turns, until `until` settles. */
export async function askAsNewcomer(port: number, until: Promise<unknown>): Promise<Waited[]> {
  const waits: Waited[] = [];
  const isOver = watchSettling(until);
  while (!isOver()) {
    for (const question of QUESTIONS) {
      waits.push({ path: question.path, seconds: await ask(port, question) });
      await sleep(EVERY_MS);
    }
  }
  return waits;
}

async function ask(port: number, { path, answers }: Question): Promise<number> {
  const started = performance.now();
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(GIVE_UP_MS),
    });
    await response.arrayBuffer();
    const right = answers.includes(response.status);
    return right ? (performance.now() - started) / 1000 : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Returns what tells whether a promise has settled, one way or the other, without waiting for it. */
function watchSettling(promise: Promise<unknown>): () => boolean {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  promise.then(settle, settle);
  return () => settled;
}
