import type { FastifyReply } from 'fastify';
import type { AccessRule } from '#accounts/keys/principal.ts';
import { ApiError } from '#errors/api-error.ts';
import { principalOf } from '#http/authentication.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { listEvents, readEvent } from '#payments/webhooks/list-events.ts';
import {
  EventListSchema,
  EventParamsSchema,
  ListEventsQuerySchema,
  RecordedEventSchema,
} from '#schemas/list-events.ts';
import { EmptyQuerySchema } from '#schemas/list-payments.ts';
import type { V1Dependencies } from './dependencies.ts';
import { LIST_EVENTS, READ_EVENT } from './operations.ts';

const DAY_MS = 24 * 60 * 60_000;
/** Events carry payments, so they take the scope that reads payments. */
const ACCESS: AccessRule = { principals: ['merchant'], scope: 'payment_prompts:read' };

/** GET /external/v1/events and GET /external/v1/events/:id. They are not in the specified contract. */
export function registerReadEvents(
  app: TypedApp,
  { db, clock, retentionDays }: V1Dependencies,
): void {
  app.get(
    '/events',
    {
      config: { access: ACCESS, operation: LIST_EVENTS },
      schema: { querystring: ListEventsQuerySchema, response: { 200: EventListSchema } },
    },
    async (request, reply) => {
      const { accountId } = principalOf(request);
      const keptSince = new Date(clock() - retentionDays * DAY_MS);
      return sendJson(reply, await listEvents(db, accountId, request.query, keptSince));
    },
  );

  app.get(
    '/events/:id',
    {
      config: { access: ACCESS, operation: READ_EVENT },
      schema: {
        params: EventParamsSchema,
        querystring: EmptyQuerySchema,
        response: { 200: RecordedEventSchema },
      },
    },
    async (request, reply) => {
      const event = await readEvent(db, principalOf(request).accountId, request.params.id);
      if (event === undefined) throw new ApiError('E3001', 'There is no such event.');
      return sendJson(reply, event);
    },
  );
}

/** Sends stored JSON unchanged: its data must not be serialized again. */
function sendJson(reply: FastifyReply, json: string): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(Buffer.from(json));
}
