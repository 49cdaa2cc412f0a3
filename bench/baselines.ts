import type { BenchMerchant } from './merchants.ts';
import { type ServerProcess, startServer } from './processes.ts';
import type { Resources } from './resources.ts';

const SCRIPT = 'bench/baseline-server.ts';

/** Starts bare Fastify without any I/O. */
export function startBare(resources: Resources): Promise<ServerProcess> {
  return startServer(resources, { name: 'bare Fastify', script: SCRIPT, env: {} });
}

/** Starts bare Fastify that runs the service's statements on one pipelined connection. */
export function startBareWithSelect(
  resources: Resources,
  databaseUrl: string,
  merchants: readonly BenchMerchant[],
): Promise<ServerProcess> {
  const owners = merchants.map(({ credentials, id }) => [credentials.keyId, id]);
  return startServer(resources, {
    name: 'bare Fastify with a SELECT',
    script: SCRIPT,
    env: {
      DATABASE_URL: databaseUrl,
      BENCH_MERCHANTS: JSON.stringify(Object.fromEntries(owners)),
    },
  });
}
