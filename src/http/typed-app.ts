import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';

/** A part of the application whose handlers get what the TypeBox schemas of their routes declare. */
export type TypedApp = Parameters<FastifyPluginAsyncTypebox>[0];
