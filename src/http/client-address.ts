import { isIP } from 'node:net';
import { normalizeIP } from '@fastify/rate-limit';
import type { FastifyRequest, FastifyServerOptions } from 'fastify';
import type { Config } from '../config/config.ts';

/**
 * The client's IP address: the one that trusted proxies report, unless that is no IP address. Undefined
 * once the connection is closed.
 */
export function clientAddress({ ip, socket }: FastifyRequest): string | undefined {
  // A zone, which Node takes for a part of an IPv6 address, may be any text of any length.
  return isIP(ip ?? '') > 0 && !ip.includes('%') ? ip : socket.remoteAddress;
}

/** What stands for one customer: an IPv4 address, or the /64 network of an IPv6 address (RFC 6177). */
export function clientNetwork(request: FastifyRequest): string {
  return normalizeIP(clientAddress(request) ?? '');
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
