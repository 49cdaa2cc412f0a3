import { subscribe } from 'node:diagnostics_channel';
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler';
import type { FastifyInstance, FastifySerializerCompiler } from 'fastify';
import { vi } from 'vitest';
import * as docs from '#surfaces/docs/render-docs.ts';

const render = docs.renderDocs;
const rendered = new Map<string, ReturnType<typeof render>>();

/**
 * Lets the applications of a process share the slow parts of a start, since a test worker starts hundreds of them:
 * the documentation for the same settings, and response serializers for the same schema.
 */
export function shareStart(): void {
  if (vi.isMockFunction(docs.renderDocs)) return;
  vi.spyOn(docs, 'renderDocs').mockImplementation((settings, writeOpenApi) => {
    const { client, ...others } = settings;
    const key = JSON.stringify([others, client?.integrity]);
    const found = rendered.get(key) ?? render(settings, writeOpenApi);
    rendered.set(key, found);
    return found;
  });
  subscribe('fastify.initialization', message => {
    const { fastify } = message as { fastify: FastifyInstance };
    fastify.setSerializerCompiler(compileOnce);
  });
}

type Serialize = ReturnType<FastifySerializerCompiler<object>>;

const compile = SerializerSelector()({}, {});
const compiled = new WeakMap<object, Serialize>();

/** What Fastify does by default. Routes have the same schema object in every application. */
const compileOnce: FastifySerializerCompiler<object> = route => {
  const { httpStatus = '' } = route;
  const found = compiled.get(route.schema) ?? compile({ ...route, httpStatus });
  compiled.set(route.schema, found);
  return found;
};
