import { isIP } from 'node:net';
import { normalizeIP } from '@fastify/rate-limit';
import type { FastifyRequest, FastifyServerOptions } from 'fastify';
import type { Config } from '../config/config.ts';

/**
 * The client's IP address: the one that trusted proxies report, unless that is no IP address. Undefined
 * once the connection is closed.
 */
export function clientAddress({ ip, socket }: FastifyRequest): string | undefined {
  // Node accepts an IPv6 address with a zone, which may be any text of any length.
  return isIP(ip ?? '') > 0 && !ip.includes('%') ? ip : socket.remoteAddress;
}

/** Identifies one customer: an IPv4 address, or the /64 network of an IPv6 address (RFC 6177). */
export function clientNetwork(request: FastifyRequest): string {
  return normalizeIP(clientAddress(request) ?? '');
}

/** Prefix length of a site with several IPv6 networks (RFC 6177). */
const SITE_BITS = 56;

/** Identifies one site: an IPv4 address, or the /56 network of an IPv6 address. */
export function clientSite(request: FastifyRequest): string {
  return normalizeIP(clientAddress(request) ?? '', SITE_BITS);
}

/**
 * Fastify's `trustProxy`. Given a number of hops alone, Fastify trusts no proxy, since a client that connects
 * directly can forge as many hops. Operators who configure a number let only their proxies reach the port.
 */
export function trustedProxies(
  setting: Config['trustProxy'],
): NonNullable<FastifyServerOptions['trustProxy']> {
  return typeof setting === 'number' ? (_address, hop) => hop < setting : setting;
}
