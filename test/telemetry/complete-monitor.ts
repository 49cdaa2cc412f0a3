// Modules register their metrics when they are loaded.
import '../../src/app.ts';
import '#runtime/role-rights.ts';
import '#worker/run.ts';
import { listChains } from '#chains/chain-list.ts';
import { createPostgresNonces } from '#signing/postgres-nonces.ts';
import { connect } from '#storage/database/connection.ts';
import { createMonitor, type Monitor } from '#telemetry/monitor.ts';
import { createReadiness } from '#telemetry/readiness.ts';
import { NO_CHANGE_FEED } from '../helpers/inert.ts';

const NO_DATABASE = 'postgres://127.0.0.1:1/none';

/** Runs `use` with the monitor of a process that is both API and worker, with every metric. */
export async function withCompleteMonitor(use: (monitor: Monitor) => void): Promise<void> {
  const db = connect({
    url: NO_DATABASE,
    poolSize: 1,
    applicationName: 'test',
    onIdleError: () => undefined,
  });
  const monitor = createMonitor({
    durability: { standbys: () => 1, reason: () => null },
    replica: { primary: db, replica: db },
    restores: { isUnconfirmed: () => false },
    readiness: createReadiness({ db }),
    pools: { main: db },
    databaseClock: { offsetSeconds: () => 0 },
    api: { nonces: createPostgresNonces(db), changes: NO_CHANGE_FEED },
    rates: async () => ({ sources: [], assets: [] }),
    worker: {
      directUrl: NO_DATABASE,
      clock: Date.now,
      log: { warn: () => undefined },
      chains: listChains(),
    },
  });
  use(monitor);
  await monitor.close();
  await db.destroy();
}
