import { runProcess } from './process.ts';
import { openStorage } from './storage.ts';
import { runWorker } from './worker/run.ts';

await runProcess('worker', async (config, logger, signal) => {
  const storage = await openStorage(config, { holder: 'service', name: 'eps-worker', logger });
  try {
    logger.info('working');
    await runWorker({ db: storage.db, clock: Date.now, logger }, signal);
  } finally {
    await storage.close();
  }
});
