import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { isAddressAllowed } from './address-guard.ts';

/** Answers with every IP address of a host name. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** The host is, or leads to, an address that webhooks are not sent to. */
export class RefusedAddress extends Error {
  readonly hostname: string;
  readonly addresses: readonly string[];

  constructor(hostname: string, addresses: readonly string[]) {
    super(`${hostname} is not at a public address (${addresses.join(', ')})`);
    this.name = 'RefusedAddress';
    this.hostname = hostname;
    this.addresses = addresses;
  }
}

interface ConnectorOptions {
  readonly allowPrivateAddresses: boolean;
  /** Longest that connecting may take, TLS included, in milliseconds. */
  readonly timeoutMs: number;
  readonly resolve?: Resolve;
}

/** A name server is asked this long, in milliseconds, and once more. */
const RESOLVER_OPTIONS = { timeout: 2_000, tries: 2 };
/** How long one of several addresses is tried before the next, in milliseconds; the last is waited for. */
const ADDRESS_ATTEMPT_MS = 1_000;

/**
 * Connects to allowed addresses only. A name is resolved once and the connection made to what it was
 * resolved to, so that a second answer cannot lead elsewhere; hosts that are addresses are checked
 * like the rest. Of several addresses those allowed are used.
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
    // Makes Node ask for all addresses and try one after the other.
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
  });
  return (options, callback) => {
    const { hostname } = options;
    // Node does not look up what is an address already.
    if (isIP(hostname) > 0 && !isAddressAllowed(hostname, allowPrivateAddresses)) {
      callback(new RefusedAddress(hostname, [hostname]), null);
      return;
    }
    connect(options, callback);
  };
}

/**
 * Asks the name servers without a thread of its own: `dns.lookup` has four for the whole process, and
 * a few names whose servers stall would keep every other delivery waiting.
 */
async function resolveByNameServers(hostname: string): Promise<string[]> {
  // Name servers need not know it (RFC 6761).
  if (/^(.+\.)?localhost\.?$/.test(hostname)) return ['127.0.0.1', '::1'];
  const resolver = new Resolver(RESOLVER_OPTIONS);
  const [ipv4, ipv6] = await Promise.allSettled([
    resolver.resolve4(hostname),
    resolver.resolve6(hostname),
  ]);
  const addresses = [ipv4, ipv6].flatMap(answer =>
    answer.status === 'fulfilled' ? answer.value : [],
  );
  if (addresses.length === 0 && ipv4.status === 'rejected') throw ipv4.reason;
  return addresses;
}
