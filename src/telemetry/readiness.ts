import type { NonceServer, NonceStore } from '#signing/nonce-store.ts';
import type { Database } from '#storage/database/connection.ts';
import { ping } from '#storage/database/ping.ts';
import type { ClockState, DatabaseClock } from '#time/database-clock.ts';
import { within } from '#time/within.ts';
import { snapshotOf } from './snapshot.ts';

/** How long a result is reused, in milliseconds, so that probes cannot become a load. */
const LIFETIME_MS = 1_000;
/** Longest a dependency may take to respond, in milliseconds. */
const PROBE_TIMEOUT_MS = 2_000;

interface Dependencies {
  readonly db: Database;
  /** Left out where no requests are authenticated. */
  readonly nonces?: Pick<NonceStore, 'probe'>;
  /** Left out where the clock is not compared with the database's. */
  readonly databaseClock?: Pick<DatabaseClock, 'state'>;
  /** Left out where nobody watches for restores of the database. */
  readonly restores?: RestoreState;
  /** Milliseconds since any fixed time. By default a timer that no change of the machine's clock moves. */
  readonly clock?: () => number;
}

/** Whether the database was restored, and nobody has confirmed it. */
export interface RestoreState {
  isUnconfirmed(): boolean;
}

/** The state of a dependency, as /readyz shows it. */
type DependencyState = ClockState | 'partly unavailable' | 'may evict nonces' | 'unconfirmed';

/**
 * While nonces of some keys are unavailable, the other keys are served; while a restore is unconfirmed, reads go on.
 */
const READY: readonly DependencyState[] = ['ok', 'partly unavailable', 'unconfirmed'];

/** Whether a process can do its work, and a body that says which dependency keeps it from that. */
export interface Readiness {
  readonly ready: boolean;
  readonly body: Readonly<Record<string, DependencyState>>;
}

/** The readiness of a process that has not begun to serve, or is stopping. */
export const NOT_SERVING: Readiness = { ready: false, body: { status: 'unavailable' } };

/** Returns a probe of everything that a process needs to do its work. */
export function createReadiness({
  db,
  nonces,
  databaseClock,
  restores,
  clock,
}: Dependencies): () => Promise<Readiness> {
  return snapshotOf(
    async () => {
      const states: Record<string, Promise<DependencyState>> = {
        database: stateOf(ping(db).then(() => 'ok')),
        ...(nonces && { nonces: stateOf(nonces.probe().then(toState)) }),
        ...(databaseClock && { clock: Promise.resolve(databaseClock.state()) }),
        ...(restores?.isUnconfirmed() && { restore: Promise.resolve('unconfirmed' as const) }),
      };
      const found = await Promise.all(
        Object.entries(states).map(async ([name, state]) => [name, await state] as const),
      );
      const ready = found.every(([, state]) => READY.includes(state));
      const status = ready ? 'ok' : 'unavailable';
      return { ready, body: { status, ...Object.fromEntries(found) } };
    },
    LIFETIME_MS,
    clock,
  );
}

/**
 * A store that may evict nonces is refused at start, so a process is not ready with one either. While one of several
 * masters is being replaced, all replicas are in the same state, and serve the keys of the other masters.
 */
function toState(servers: readonly NonceServer[]): DependencyState {
  if (servers.some(({ evictionPolicy }) => evictionPolicy !== null)) return 'may evict nonces';
  if (servers.every(({ failure }) => failure !== null)) return 'unavailable';
  return servers.some(({ failure }) => failure !== null) ? 'partly unavailable' : 'ok';
}

async function stateOf(probe: Promise<DependencyState>): Promise<DependencyState> {
  return (await resultInTime(probe)) ?? 'unavailable';
}

/** The result of a probe; undefined when it fails, or takes too long. */
export function resultInTime<T>(
  probe: Promise<T>,
  timeoutMs = PROBE_TIMEOUT_MS,
): Promise<T | undefined> {
  return within(timeoutMs, probe, () => new Error('the probe took too long')).catch(
    () => undefined,
  );
}
