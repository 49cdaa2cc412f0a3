import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';

/** A part of the application whose handlers are typed by the TypeBox schemas of their routes. */
export type TypedApp = Parameters<FastifyPluginAsyncTypebox>[0];
