import type { BaseLogger } from 'pino';
import type { Monitored } from './monitor.ts';
import { type MonitoringServer, serveMonitoring } from './monitoring-server.ts';

/** An open monitoring port, or none. */
type Monitoring = Pick<MonitoringServer, 'close'>;

/**
 * Serves metrics and health on the address; without one it does nothing, and loads nothing for it.
 * @throws Error when the port is not available.
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
  const server = await serveMonitoring(monitor, address).catch(async error => {
    await monitor.close();
    throw error;
  });
  log.info({ host: address.host, port: server.port }, 'metrics and health are served');
  return {
    async close() {
      await server.close();
      await monitor.close();
    },
  };
}
