import { buildApp } from './app.ts';
import type { Config } from './config/config.ts';
import { makeDemo, printNextStep } from './development/demo.ts';
import { openProcessor } from './processors/open-processor.ts';
import { openRates } from './rates/open-rates.ts';
import { openChanges, openNonces, openReads, openReports } from './runtime/dependencies.ts';
import { keepRequestsYoung, letHeapGrow } from './runtime/heap.ts';
import { aborted, runProcess } from './runtime/process.ts';
import {
  migrateStorage,
  openStorage,
  pendingInStorage,
  refusePooler,
  type Storage,
} from './runtime/storage.ts';
import { type Monitoring, openMonitoring } from './telemetry/open-monitoring.ts';
import { runWorker } from './worker/run.ts';

letHeapGrow();
keepRequestsYoung();
await runProcess('api', async (config, logger, signal) => {
  const storage = await openStorage(config, { holder: 'service', name: 'eps-api', logger });
  try {
    await prepareDatabase(config, storage);
    if (config.reportsUrl !== null) {
      await refusePooler('DATABASE_REPORTS_URL', config.reportsUrl, 'eps-reports');
    }
    const nonces = openNonces(config, storage.db, logger);
    const reads = openReads(storage, logger);
    const reports = openReports(config, storage, logger);
    const changes = openChanges(storage, logger);
    const clock = Date.now;
    const rates = openRates(config, { clock, log: logger });
    const deps = { ...storage, reads, reports, changes, nonces, rates, clock, logger };
    const app = await buildApp(config, deps);
    const withWorker = process.argv.includes('--with-worker');
    const { db, directUrl } = storage;
    const monitored = {
      pools: { main: db, reports },
      api: { nonces, changes },
      worker: withWorker ? { directUrl, clock, log: logger } : undefined,
    };
    let monitoring: Monitoring | undefined;
    try {
      monitoring = await openMonitoring(config.metrics, monitored, logger);
      if (!signal.aborted) {
        await app.listen({ host: config.host, port: config.port });
        if (config.databaseUrl === null) await printNextStep(config);
      }
      const allowPrivateAddresses = config.environment !== 'production';
      const processor = openProcessor(config, storage.keyring, clock);
      // Not before all else is well: its loops end with the signal alone.
      const worker = withWorker
        ? runWorker({ ...storage, processor, clock, logger, allowPrivateAddresses }, signal)
        : Promise.resolve();
      await aborted(signal);
      await Promise.all([app.close(), worker]);
    } finally {
      // Whatever failed, nobody is served without a database.
      await app.close();
      await monitoring?.close();
      await Promise.all([nonces.close(), changes.close(), reads.destroy(), reports.destroy()]);
    }
  } finally {
    await storage.close();
  }
});

/** The embedded database is brought up to date and filled with the demo; any other must be ready. */
async function prepareDatabase(config: Config, storage: Storage): Promise<void> {
  if (config.databaseUrl !== null) {
    const pending = await pendingInStorage(storage);
    if (pending.length > 0) {
      throw new Error(`The database lacks ${pending.join(', ')}: run "npx mp migrate" first.`);
    }
    return;
  }
  await migrateStorage(storage);
  await makeDemo(config.dataDirectory, { ...storage, clock: Date.now, actor: 'demo' });
}
