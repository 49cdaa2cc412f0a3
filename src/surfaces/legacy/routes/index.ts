import type { FastifyInstance } from 'fastify';
import { principalOf } from '#http/authentication.ts';
import { failUnknownRoutesIn } from '#http/unknown-routes.ts';
import { listOfferedNetworks, offeringFor } from '#payments/offered-networks.ts';
import { BlockchainListSchema } from '#schemas/blockchain.ts';
import { toBlockchain } from '../../api/v1/active-blockchains.ts';
import { registerBasicAuthentication } from './authentication.ts';
import { registerLegacyBody } from './body.ts';
import type { LegacyDependencies } from './dependencies.ts';
import { deprecationHeaders } from './deprecation.ts';
import { sendLegacyFailure } from './failures.ts';
import { LIST_BLOCKCHAINS } from './operations.ts';
import { registerPrompts } from './prompts.ts';

/**
 * The contract that v1 replaced, with the same payments as v1: prompts in dollars, the active networks, Basic
 * authentication and errors of its own.
 */
export async function legacyPlugin(app: FastifyInstance, deps: LegacyDependencies): Promise<void> {
  app.setErrorHandler((error, request, reply) => sendLegacyFailure(error, request, reply, deps));
  failUnknownRoutesIn(app);
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(deprecationHeaders(request.url, deps));
    done();
  });
  registerBasicAuthentication(app, deps);
  registerLegacyBody(app);
  deps.admission.releaseWhenReady(app);
  app.addHook('onRequest', async (request, reply) => {
    deps.admission.enter(request, reply);
    deps.admission.countKey(request);
  });
  registerPrompts(app, deps);

  app.get(
    '/blockchains/active',
    {
      config: { operation: LIST_BLOCKCHAINS },
      schema: { response: { 200: BlockchainListSchema } },
    },
    async request => {
      const principal = principalOf(request);
      const environment = principal.kind === 'merchant' ? principal.environment : 'live';
      const offering = offeringFor(deps.simulation, environment);
      return (await listOfferedNetworks(deps.db, offering)).map(toBlockchain);
    },
  );
}
