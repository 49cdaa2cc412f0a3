import type { FastifyInstance } from 'fastify';
import type { Database } from '../database/connection.ts';
import { ping } from '../database/ping.ts';
import type { NonceStore } from '../signing/nonce-store.ts';
import type { Clock } from '../time/clock.ts';

interface HealthDependencies {
  readonly db: Database;
  readonly nonces: NonceStore;
  readonly clock: Clock;
}

/** How long an answer of /readyz stands, in milliseconds, so that asking cannot become a load. */
const READINESS_LIFETIME_MS = 1_000;
/** Longest a dependency may take to answer, in milliseconds. */
const PROBE_TIMEOUT_MS = 2_000;

type Readiness = Readonly<Record<'database' | 'nonces', 'ok' | 'unavailable'>>;

/** GET /healthz: the process runs. GET /readyz: it can serve, 503 when it cannot. */
export function registerHealth(app: FastifyInstance, deps: HealthDependencies): void {
  let latest: { readonly at: number; readonly readiness: Promise<Readiness> } | undefined;

  app.get('/healthz', async () => ({ status: 'ok' }));

  app.get('/readyz', async (_request, reply) => {
    const now = deps.clock();
    if (latest === undefined || now - latest.at >= READINESS_LIFETIME_MS) {
      latest = { at: now, readiness: probe(deps) };
    }
    const readiness = await latest.readiness;
    const ready = Object.values(readiness).every(state => state === 'ok');
    return reply
      .status(ready ? 200 : 503)
      .send({ status: ready ? 'ok' : 'unavailable', ...readiness });
  });
}

async function probe({ db, nonces }: HealthDependencies): Promise<Readiness> {
  const [database, nonceStore] = await Promise.all([answers(ping(db)), answers(nonces.ping())]);
  return { database, nonces: nonceStore };
}

async function answers(probe: Promise<unknown>): Promise<'ok' | 'unavailable'> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('timed out')), PROBE_TIMEOUT_MS);
  });
  try {
    await Promise.race([probe, timeout]);
    return 'ok';
  } catch {
    return 'unavailable';
  } finally {
    clearTimeout(timer);
  }
}
