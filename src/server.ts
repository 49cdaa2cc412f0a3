import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { listChains } from '#chains/chain-list.ts';
import { DRAIN_MS } from '#http/graceful-close.ts';
import { reportUnnoticedLoss } from '#runtime/data-loss-warning.ts';
import { reportDemoPeople } from '#runtime/demo-people.ts';
import { openDependencies } from '#runtime/dependencies.ts';
import { makeDemo, printNextStep } from '#runtime/development/demo.ts';
import { makeDemoLink } from '#runtime/development/demo-link.ts';
import {
  announceService,
  localUrl,
  refuseSecondService,
} from '#runtime/development/local-service.ts';
import { aborted, runProcess } from '#runtime/process.ts';
import { reportRights } from '#runtime/role-rights.ts';
import { openStorage, prepareStorage } from '#runtime/storage.ts';
import { reportUnwatched } from '#runtime/unwatched-networks.ts';
import { writeMail } from '#surfaces/panel/mails.ts';
import { openMonitoring } from '#telemetry/open-monitoring.ts';
import { NOT_SERVING } from '#telemetry/readiness.ts';
import { buildApp } from './app.ts';

await runProcess('api', async (config, logger, signal) => {
  const withWorker = process.argv.includes('--with-worker');
  const { runWorker } = withWorker ? await import('#worker/run.ts') : {};
  if (config.databaseUrl === null) await refuseSecondService(config.dataDirectory);
  await using opened = new AsyncDisposableStack();
  const storage = await openStorage(config, { holder: 'service', name: 'eps-api', logger });
  opened.defer(() => storage.close());
  await prepareStorage(config, storage, logger);
  await storage.restores.start(storage.db);
  await reportRights(config, storage, logger);
  await reportUnnoticedLoss(config, storage.db, logger);
  await reportUnwatched(config, storage.db, logger);
  await reportDemoPeople(config, storage.db, logger);
  const clock = storage.databaseClock.now;
  const demoOperator = { ...storage, clock, actor: 'demo', origin: 'demo' } as const;
  if (config.databaseUrl === null) {
    await makeDemo(config.dataDirectory, demoOperator);
  }
  const deps = await openDependencies(config, storage, logger);
  opened.defer(() => deps.close());
  const readiness = async () => (signal.aborted ? NOT_SERVING : deps.readiness());
  const app = await buildApp(config, { ...deps, readiness });
  opened.defer(() => app.close());
  const { db, reports, nonces, changes, rates } = deps;
  const monitoring = await openMonitoring(
    config.metrics,
    {
      readiness: async () => (app.server.listening ? readiness() : NOT_SERVING),
      pools: { main: db, reports },
      databaseClock: storage.databaseClock,
      durability: storage.durability,
      replica: config.reportsUrl === null ? undefined : { primary: db, replica: reports },
      restores: storage.restores,
      api: { nonces, changes },
      rates: rates.observe,
      worker: withWorker
        ? { directUrl: storage.directUrl, clock, log: logger, chains: listChains() }
        : undefined,
    },
    logger,
  );
  opened.defer(() => monitoring.close());
  if (signal.aborted) return;
  await app.listen({ host: config.host, port: config.port });
  if (config.databaseUrl === null) {
    const url = localUrl(app.server.address() as AddressInfo);
    opened.defer(await announceService(config.dataDirectory, url));
    const path =
      config.panelUrl === null ? undefined : await makeDemoLink(config.dataDirectory, demoOperator);
    await printNextStep(config.dataDirectory, url, path === undefined ? null : url + path);
  }
  // Last, since its loops end only by the signal.
  const worker = runWorker?.(
    {
      ...storage,
      ...deps,
      retentionDays: config.retentionDays,
      mail: config.mail,
      writeMail,
      restore: storage.restores.confirmed,
      watchIntervalMs: config.watchIntervalMs,
      isProduction: config.environment === 'production',
      allowPrivateAddresses: config.environment !== 'production',
    },
    signal,
  );
  await aborted(signal);
  await Promise.all([stopServing(app, signal), worker]);
});

/** Drains only after SIGTERM: no load balancer sends requests to a process that is ended from a terminal. */
async function stopServing(app: FastifyInstance, signal: AbortSignal): Promise<void> {
  if (signal.reason === 'SIGTERM') await app.drain(DRAIN_MS);
  await app.close();
}
