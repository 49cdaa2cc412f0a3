import { listChains } from '#chains/chain-list.ts';
import { openProcessors } from '#payments/processors/open-processor.ts';
import { openRates } from '#payments/rates/open-rates.ts';
import { reportUnnoticedLoss } from '#runtime/data-loss-warning.ts';
import { runProcess } from '#runtime/process.ts';
import { reportRights } from '#runtime/role-rights.ts';
import { openStorage, prepareStorage } from '#runtime/storage.ts';
import { writeMail } from '#surfaces/panel/mails.ts';
import { openMonitoring } from '#telemetry/open-monitoring.ts';
import { createReadiness } from '#telemetry/readiness.ts';
import { runWorker } from '#worker/run.ts';

await runProcess('worker', async (config, logger, signal) => {
  await using opened = new AsyncDisposableStack();
  const storage = await openStorage(config, { holder: 'service', name: 'eps-worker', logger });
  opened.defer(() => storage.close());
  await prepareStorage(config, storage, logger);
  await storage.restores.start(storage.db);
  await reportRights(config, storage, logger);
  await reportUnnoticedLoss(config, storage.db, logger);
  logger.info('working');
  const { databaseClock, db, directUrl, keyring } = storage;
  const clock = databaseClock.now;
  const monitoring = await openMonitoring(
    config.metrics,
    {
      readiness: createReadiness({ db, databaseClock, restores: storage.restores }),
      pools: { main: db },
      databaseClock,
      durability: storage.durability,
      restores: storage.restores,
      worker: { directUrl, clock, log: logger, chains: listChains() },
    },
    logger,
  );
  opened.defer(() => monitoring.close());
  await runWorker(
    {
      ...storage,
      ...(await openProcessors(config, keyring, clock)),
      clock,
      rates: openRates(config, { clock, log: logger }),
      logger,
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
});
