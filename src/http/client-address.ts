import type { IncomingMessage } from 'node:http';
import { normalizeIP } from '@fastify/rate-limit';
import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import { addressIn, type ForwardedHeader, forwardedEntries } from './forwarded-addresses.ts';
import type { TrustsProxy } from './trusted-proxies.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The client's IP address; undefined for a connection that was closed at once. */
    clientAddress: string | undefined;
  }
}

/** Finds the client's IP address; undefined once the connection is closed. */
export type ReadClientAddress = (request: IncomingMessage) => string | undefined;

interface ClientAddressOptions {
  readonly trusts: TrustsProxy;
  /** The header that trusted proxies write. */
  readonly header: ForwardedHeader;
  readonly logger: Pick<FastifyBaseLogger, 'warn'>;
}

/** How much of an unreadable entry is logged, in characters. */
const LOGGED_MAXIMUM = 64;

/**
 * Finds the client's address: follows the header from proxy to proxy as long as each is trusted. An unreadable entry
 * from a trusted proxy is logged once, because all clients of that proxy then count as one address, the proxy's own.
 */
export function clientAddressReader({
  trusts,
  header,
  logger,
}: ClientAddressOptions): ReadClientAddress {
  let isLogged = false;
  function warn(proxy: string, entry: string): void {
    if (isLogged) return;
    isLogged = true;
    const written = { proxy, header, entry: entry.slice(0, LOGGED_MAXIMUM) };
    logger.warn(written, 'no address in what a trusted proxy has written');
  }
  return ({ socket, headers }) => {
    let address = socket.remoteAddress;
    const value = headers[header];
    if (address === undefined || value === undefined) return address;
    for (const [hop, entry] of forwardedEntries(String(value)).entries()) {
      if (!trusts(address, hop)) break;
      const client = addressIn(header, entry);
      if (client === undefined) {
        warn(address, entry);
        break;
      }
      address = client;
    }
    return address;
  };
}

/** How many addresses' networks are kept. */
const NETWORKS_MAXIMUM = 10_000;

/** By address, because parsing an IPv6 address takes 15 to 20 µs, as much as a fifth of a whole signed read. */
const networks = new Map<string, string>();

/** Identifies one customer: an IPv4 address, or the /64 network of an IPv6 address (RFC 6177). */
export function clientNetwork({
  clientAddress = '',
}: Pick<FastifyRequest, 'clientAddress'>): string {
  const kept = networks.get(clientAddress);
  if (kept !== undefined) return kept;
  if (networks.size >= NETWORKS_MAXIMUM) networks.clear();
  const network = normalizeIP(clientAddress);
  networks.set(clientAddress, network);
  return network;
}

/** Prefix length of a site with several IPv6 networks (RFC 6177). */
const SITE_BITS = 56;

/** Identifies one site: an IPv4 address, or the /56 network of an IPv6 address. */
export function clientSite({ clientAddress = '' }: FastifyRequest): string {
  return normalizeIP(clientAddress, SITE_BITS);
}
