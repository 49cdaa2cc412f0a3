import { openProcessor } from './processors/open-processor.ts';
import { runProcess } from './runtime/process.ts';
import { openStorage } from './runtime/storage.ts';
import { openMonitoring } from './telemetry/open-monitoring.ts';
import { runWorker } from './worker/run.ts';

await runProcess('worker', async (config, logger, signal) => {
  const storage = await openStorage(config, { holder: 'service', name: 'eps-worker', logger });
  try {
    logger.info('working');
    const allowPrivateAddresses = config.environment !== 'production';
    const clock = Date.now;
    const processor = openProcessor(config, storage.keyring, clock);
    const { db, directUrl } = storage;
    const monitored = { pools: { main: db }, worker: { directUrl, clock, log: logger } };
    const monitoring = await openMonitoring(config.metrics, monitored, logger);
    try {
      await runWorker({ ...storage, processor, clock, logger, allowPrivateAddresses }, signal);
    } finally {
      await monitoring.close();
    }
  } finally {
    await storage.close();
  }
});
