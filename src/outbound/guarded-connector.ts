import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { isAddressAllowed } from './address-guard.ts';

/** Returns all IP addresses of a host name. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/**
 * The host is, or resolves to, addresses that webhooks must not be sent to. The message leaves them out: merchants see it,
 * and could use it to resolve internal names.
 */
export class RefusedAddress extends Error {
  readonly hostname: string;
  readonly addresses: readonly string[];

  constructor(hostname: string, addresses: readonly string[]) {
    super(`${hostname} is not at a public address`);
    this.name = 'RefusedAddress';
    this.hostname = hostname;
    this.addresses = addresses;
  }
}

interface ConnectorOptions {
  readonly allowPrivateAddresses: boolean;
  /** Timeout of connecting, including TLS, in milliseconds. */
  readonly timeoutMs: number;
  readonly resolve?: Resolve;
}

/** Timeout of a query to a name server, in milliseconds, and the number of attempts. */
const RESOLVER_OPTIONS = { timeout: 2_000, tries: 2 };
/** How long to try an address before the next one, in milliseconds; not for the last one. */
const ADDRESS_ATTEMPT_MS = 1_000;

/**
 * Connects to allowed addresses only. Resolves a name once and connects to the resolved addresses,
 * which prevents DNS rebinding; hosts that are addresses are checked as well. If a name has several
 * addresses, uses the allowed ones.
 */
export function guardedConnector({
  allowPrivateAddresses,
  timeoutMs,
  resolve = resolveByNameServers,
}: ConnectorOptions): buildConnector.connector {
  const lookup: LookupFunction = (hostname, _options, callback) => {
    resolve(hostname).then(
      addresses => {
        const allowed = addresses.filter(address =>
          isAddressAllowed(address, allowPrivateAddresses),
        );
        if (allowed.length === 0) return callback(new RefusedAddress(hostname, addresses), []);
        callback(
          null,
          allowed.map(address => ({ address, family: isIP(address) })),
        );
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
  const connect = buildConnector({
    lookup,
    timeout: timeoutMs,
    allowH2: false,
    // Makes Node look up all addresses and try them in turn.
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
  });
  return (options, callback) => {
    const { hostname } = options;
    // Node skips the lookup if the host is an IP address.
    if (isIP(hostname) > 0 && !isAddressAllowed(hostname, allowPrivateAddresses)) {
      callback(new RefusedAddress(hostname, [hostname]), null);
      return;
    }
    connect(options, callback);
  };
}

/**
 * Queries the name servers without blocking a thread: `dns.lookup` shares four threads in the whole
 * process, so a few names with stalled servers would block every other delivery.
 */
async function resolveByNameServers(hostname: string): Promise<string[]> {
  // Name servers need not resolve localhost (RFC 6761).
  if (/^(.+\.)?localhost\.?$/.test(hostname)) return ['127.0.0.1', '::1'];
  const resolver = new Resolver(RESOLVER_OPTIONS);
  const [ipv4, ipv6] = await Promise.allSettled([
    resolver.resolve4(hostname),
    resolver.resolve6(hostname),
  ]);
  const addresses = [ipv4, ipv6].flatMap(found =>
    found.status === 'fulfilled' ? found.value : [],
  );
  if (addresses.length === 0 && ipv4.status === 'rejected') throw ipv4.reason;
  return addresses;
}
