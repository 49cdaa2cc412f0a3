import { BlockList, isIP } from 'node:net';

export type Network = readonly [address: string, prefix: number];

/** Local networks: webhooks to them are refused except in development. */
export const LOCAL_IPV4: readonly Network[] = [
  ['10.0.0.0', 8],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
];

/** Other networks that the IANA special-purpose registry (RFC 6890) marks as not global. */
export const SPECIAL_IPV4: readonly Network[] = [
  ['0.0.0.0', 8], // this network
  ['100.64.0.0', 10], // carrier-grade NAT
  ['169.254.0.0', 16], // link-local, cloud metadata
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.31.196.0', 24], // AS112
  ['192.52.193.0', 24], // AMT
  ['192.88.99.0', 24], // 6to4 relays
  ['192.175.48.0', 24], // AS112
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
];

const LOCAL_IPV6: readonly Network[] = [
  ['::1', 128],
  ['fc00::', 7], // unique local
];

/**
 * Global unicast. Excludes loopback, IPv4-mapped and -compatible, NAT64, discard-only, unique
 * local, link-local, site-local, multicast and reserved addresses.
 */
export const GLOBAL_IPV6: readonly Network[] = [['2000::', 3]];

/** Special-purpose networks within global unicast. */
export const SPECIAL_IPV6: readonly Network[] = [
  ['2001::', 23], // protocol assignments, Teredo and ORCHID among them
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4, which embeds any IPv4 address
  ['2620:4f:8000::', 48], // AS112
  ['3fff::', 20], // documentation
];

const localIPv4 = listOf(LOCAL_IPV4, 'ipv4');
const specialIPv4 = listOf(SPECIAL_IPV4, 'ipv4');
const localIPv6 = listOf(LOCAL_IPV6, 'ipv6');
const globalIPv6 = listOf(GLOBAL_IPV6, 'ipv6');
const specialIPv6 = listOf(SPECIAL_IPV6, 'ipv6');

/**
 * Whether webhooks may be sent to an IP address: any public one, and with `allowLocal` also
 * loopback, private and unique local ones. Anything but a plain IP address is refused.
 */
export function isAddressAllowed(address: string, allowLocal: boolean): boolean {
  switch (isIP(address)) {
    case 4:
      if (localIPv4.check(address, 'ipv4')) return allowLocal;
      return !specialIPv4.check(address, 'ipv4');
    case 6:
      // Only non-global addresses have a zone, as in fe80::1%eth0.
      if (address.includes('%')) return false;
      if (localIPv6.check(address, 'ipv6')) return allowLocal;
      return globalIPv6.check(address, 'ipv6') && !specialIPv6.check(address, 'ipv6');
    default:
      return false;
  }
}

/** Whether an IP address is a loopback, private or unique local one. */
export function isLocalAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return localIPv4.check(address, 'ipv4');
    case 6:
      return !address.includes('%') && localIPv6.check(address, 'ipv6');
    default:
      return false;
  }
}

function listOf(networks: readonly Network[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of networks) list.addSubnet(address, prefix, family);
  return list;
}
