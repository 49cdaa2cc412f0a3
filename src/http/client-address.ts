import { isIP } from 'node:net';
import type { FastifyRequest, FastifyServerOptions } from 'fastify';
import type { Config } from '../config/config.ts';

/**
 * The client's IP address: the one that trusted proxies report, unless that is no IP address. Undefined
 * once the connection is closed.
 */
export function clientAddress({ ip, socket }: FastifyRequest): string | undefined {
  return isIP(ip ?? '') > 0 ? ip : socket.remoteAddress;
}

/**
 * Fastify's `trustProxy`. Fastify trusts nobody by a number of hops alone, since a client that connects
 * directly can write as many hops; who configures one keeps the port reachable by the proxies only.
 */
export function trustedProxies(
  setting: Config['trustProxy'],
): NonNullable<FastifyServerOptions['trustProxy']> {
  return typeof setting === 'number' ? (_address, hop) => hop < setting : setting;
}
