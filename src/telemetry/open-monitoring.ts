import type { BaseLogger } from 'pino';
import type { Monitored } from './monitor.ts';
import { type MetricsServer, serveMetrics } from './serve.ts';

/** Metrics that are served, or not. */
export type Monitoring = Pick<MetricsServer, 'close'>;

/**
 * Serves metrics on the address; without one it does nothing, and loads nothing for it.
 * @throws when the port cannot be had.
 */
export async function openMonitoring(
  address: { readonly host: string; readonly port: number } | null,
  monitored: Monitored,
  log: Pick<BaseLogger, 'info'>,
): Promise<Monitoring> {
  if (address === null) return { close: async () => undefined };
  const { createMonitor, watchProcess } = await import('./monitor.ts');
  const monitor = createMonitor(monitored);
  watchProcess(monitor);
  const server = await serveMetrics(monitor.registry, address).catch(async error => {
    await monitor.close();
    throw error;
  });
  log.info({ host: address.host, port: server.port }, 'metrics are served');
  return {
    async close() {
      await server.close();
      await monitor.close();
    },
  };
}
