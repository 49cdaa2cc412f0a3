import type { FastifyInstance } from 'fastify';
import { principalOf } from '#http/authentication.ts';
import {
  LegacyCreatedSchema,
  type LegacyPromptBody,
  LegacyPromptBodySchema,
  LegacyPromptSchema,
} from '#schemas/legacy.ts';
import { createPrompt, readPrompt } from '../prompts.ts';
import type { LegacyDependencies } from './dependencies.ts';
import { CREATE_PROMPT, READ_PROMPT } from './operations.ts';

/** POST /external/payments/prompt and GET /external/payments/prompt/:id */
export function registerPrompts(app: FastifyInstance, { db, payments }: LegacyDependencies): void {
  app.post<{ Body: LegacyPromptBody }>(
    '/payments/prompt',
    {
      config: { operation: CREATE_PROMPT },
      schema: { body: LegacyPromptBodySchema, response: { 201: LegacyCreatedSchema } },
    },
    async (request, reply) => {
      const principal = principalOf(request);
      const { body, trace } = request;
      const created = await createPrompt(db, payments, { principal, body, trace });
      return reply.status(201).send(created);
    },
  );

  app.get<{ Params: { id: string } }>(
    '/payments/prompt/:id',
    { config: { operation: READ_PROMPT }, schema: { response: { 200: LegacyPromptSchema } } },
    request => readPrompt(db, principalOf(request).accountId, request.params.id),
  );
}
