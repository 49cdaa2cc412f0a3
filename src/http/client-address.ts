import { isIPv6 } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { Address6 } from 'ip-address';

/** A provider gives one customer at least so many bits of an IPv6 address to vary (RFC 6177). */
const IPV6_NETWORK_BITS = 64;

/**
 * The address that a request without a key is counted against: an IPv4 address, also one that is
 * mapped into IPv6, or an IPv6 network. A client that is gone already has none.
 */
export function clientAddress({ ip = '' }: Partial<Pick<FastifyRequest, 'ip'>>): string {
  if (!isIPv6(ip)) return ip;
  const address = new Address6(ip);
  if (address.isMapped4()) return address.to4().correctForm();
  return new Address6(`${ip}/${IPV6_NETWORK_BITS}`).startAddress().correctForm();
}
