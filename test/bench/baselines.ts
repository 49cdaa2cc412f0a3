import type { BenchMerchant } from './merchants.ts';
import { type ServerProcess, startServer } from './processes.ts';
import type { Resources } from './resources.ts';

const SCRIPT = 'test/bench/baseline-server.ts';

/** Starts bare Fastify, which answers without asking anyone. */
export function startBare(resources: Resources): Promise<ServerProcess> {
  return startServer(resources, { name: 'bare Fastify', script: SCRIPT, env: {} });
}

/**
 * Starts bare Fastify that asks the database with the service's statements on a pipelined connection.
 * On request its heap is set up as the service's, so that both collect garbage alike.
 */
export function startBareWithSelect(
  resources: Resources,
  databaseUrl: string,
  merchants: readonly BenchMerchant[],
  { heapOfService = false }: { readonly heapOfService?: boolean } = {},
): Promise<ServerProcess> {
  const owners = merchants.map(({ credentials, id }) => [credentials.keyId, id]);
  return startServer(resources, {
    name: 'bare Fastify with a SELECT',
    script: SCRIPT,
    env: {
      DATABASE_URL: databaseUrl,
      BENCH_MERCHANTS: JSON.stringify(Object.fromEntries(owners)),
      ...(heapOfService ? { BENCH_HEAP: 'service' } : {}),
    },
  });
}
