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

/** Bits of an IPv6 address that a site with several networks has in common (RFC 6177). */
const SITE_BITS = 56;

/** What stands for one site: an IPv4 address, or the /56 that an IPv6 address belongs to. */
export function clientSite(request: FastifyRequest): string {
  return normalizeIP(clientAddress(request) ?? '', SITE_BITS);
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
