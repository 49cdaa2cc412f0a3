import type { FastifyInstance } from 'fastify';
import type { Readiness } from '#telemetry/readiness.ts';

/** GET /healthz: the process runs. GET /readyz: it can serve, 503 when it cannot. */
export function registerHealth(app: FastifyInstance, readiness: () => Promise<Readiness>): void {
  const config = { onEveryHost: true } as const;
  app.get('/healthz', { config }, async () => ({ status: 'ok' }));

  app.get('/readyz', { config }, async (_request, reply) => {
    const { ready, body } = await readiness();
    return reply.status(ready ? 200 : 503).send(body);
  });
}
