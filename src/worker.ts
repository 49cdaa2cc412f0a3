import { runProcess } from './process.ts';
import { openStorage } from './storage.ts';
import { runWorker } from './worker/run.ts';

await runProcess('worker', async (config, logger, signal) => {
  const storage = await openStorage(config, { holder: 'service', name: 'eps-worker', logger });
  try {
    logger.info('working');
    const allowPrivateAddresses = config.environment !== 'production';
    await runWorker({ ...storage, clock: Date.now, logger, allowPrivateAddresses }, signal);
  } finally {
    await storage.close();
  }
});
