import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { startTestApp, type TestApp, type TestAppOptions } from './app.ts';

/** Starts the service, and collects every route that it registers, including HEAD. */
export async function startWithRoutes(
  options: TestAppOptions = {},
): Promise<{ service: TestApp; registered: RouteOptions[] }> {
  const registered: RouteOptions[] = [];
  const listen = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance };
    fastify.addHook('onRoute', route => void registered.push(route));
  };
  subscribe('fastify.initialization', listen);
  try {
    return { service: await startTestApp(options), registered };
  } finally {
    unsubscribe('fastify.initialization', listen);
  }
}
