import type { Database } from '../database/connection.ts';
import { ping } from '../database/ping.ts';
import type { NonceStore } from '../signing/nonce-store.ts';
import type { Clock } from '../time/clock.ts';
import { snapshotOf } from './snapshot.ts';

/** How long an answer is reused, in milliseconds, so that probes cannot become a load. */
const LIFETIME_MS = 1_000;
/** Longest a dependency may take to answer, in milliseconds. */
const PROBE_TIMEOUT_MS = 2_000;

interface Dependencies {
  readonly db: Database;
  /** Left out where no requests are authenticated. */
  readonly nonces?: Pick<NonceStore, 'ping'>;
  readonly clock?: Clock;
}

/** Whether a process can do its work, and the body that says which dependency keeps it from that. */
export interface Readiness {
  readonly ready: boolean;
  readonly body: Readonly<Record<string, 'ok' | 'unavailable'>>;
}

/** The readiness of a process that has not begun to serve, or is stopping. */
export const NOT_SERVING: Readiness = { ready: false, body: { status: 'unavailable' } };

/** Returns a probe of everything that a process needs to do its work. */
export function createReadiness({
  db,
  nonces,
  clock = Date.now,
}: Dependencies): () => Promise<Readiness> {
  return snapshotOf(
    async () => {
      const [database, nonceStore] = await Promise.all([
        answersInTime(ping(db)),
        nonces && answersInTime(nonces.ping()),
      ]);
      const ready = database && nonceStore !== false;
      const state = (up: boolean) => (up ? 'ok' : 'unavailable');
      const body = { status: state(ready), database: state(database) } as const;
      if (nonceStore === undefined) return { ready, body };
      return { ready, body: { ...body, nonces: state(nonceStore) } };
    },
    LIFETIME_MS,
    clock,
  );
}

/** Whether a probe succeeds, and soon enough. */
export async function answersInTime(
  probe: Promise<unknown>,
  timeoutMs = PROBE_TIMEOUT_MS,
): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<false>(resolve => {
    timer = setTimeout(resolve, timeoutMs, false);
  });
  const answer = probe.then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
