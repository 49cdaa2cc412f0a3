import { BlockList, isIP } from 'node:net';
import type { Config } from '#config/config.ts';

/** Whether an address is a trusted proxy's. Hops are counted from the connection, which is hop 0. */
export type TrustsProxy = (address: string, hop: number) => boolean;

/** Networks that Fastify has names for. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/**
 * Accepts a plain number of hops, for which Fastify itself trusts no proxy: a client that connects directly can forge
 * as many hops. Operators who configure a number let only their proxies reach the port.
 */
export function trustedProxies(setting: Config['trustProxy']): TrustsProxy {
  if (setting === false) return () => false;
  if (typeof setting === 'number') return (_address, hop) => hop < setting;
  const proxies = new BlockList();
  for (const network of setting.flatMap(name => NAMED[name] ?? name)) {
    const [address = '', bits] = network.split('/');
    const [family, longest] =
      isIP(address) === 4 ? (['ipv4', 32] as const) : (['ipv6', 128] as const);
    proxies.addSubnet(address, Number(bits ?? longest), family);
  }
  return address => {
    const version = isIP(address);
    return version !== 0 && proxies.check(address, version === 4 ? 'ipv4' : 'ipv6');
  };
}
