import { BARE_PASSWORD, hasBarePassword } from './values.ts';

/** How a Redis URL is written, with an example of each form, for the reference. */
export const REDIS_FORMS = [
  ['one server', 'redis://user:password@host:6379'],
  ['Sentinel', 'redis://user:password@s1:26379,s2:26379,s3:26379?mode=sentinel&name=mymaster'],
  ['Cluster', 'redis://user:password@a:6379,b:6379,c:6379?mode=cluster'],
] as const;

/** Parameters that a Redis URL takes in each mode. */
const REDIS_PARAMETERS = {
  cluster: ['mode'],
  sentinel: ['mode', 'name', 'sentinel_username', 'sentinel_password'],
} as const;

const PARTS = /^(?<start>rediss?:\/\/(?:[^/?#]*@)?)(?<hosts>[^/?#@]*)(?<end>.*)$/s;
const DEFAULT_PORTS = { cluster: 6379, sentinel: 26_379 } as const;

interface RedisAddress {
  readonly host: string;
  readonly port: number;
}

export interface RedisLogin {
  readonly tls: boolean;
  readonly username?: string;
  readonly password?: string;
}

/** The servers that a Redis URL names. */
export type RedisServers =
  | { readonly mode: 'single'; readonly url: string }
  | (RedisLogin & { readonly mode: 'cluster'; readonly addresses: readonly RedisAddress[] })
  | (RedisLogin & {
      readonly mode: 'sentinel';
      /** Addresses of the sentinels, which know those of the servers. */
      readonly addresses: readonly RedisAddress[];
      /** Name by which the sentinels know the master. */
      readonly name: string;
      readonly db: number;
      readonly sentinelLogin: RedisLogin;
    });

/** The message completes a sentence that begins with the variable's name. It quotes nothing of the URL. */
export class RedisUrlError extends Error {}

/**
 * Reads a URL of one server, of a cluster or of sentinels.
 * @throws RedisUrlError
 */
export function parseRedisUrl(text: string): RedisServers {
  const { start = '', hosts = '', end = '' } = PARTS.exec(text)?.groups ?? {};
  const urls = hosts.split(',').map(host => start + host + end);
  const [first = ''] = urls;
  if (hasBarePassword(text)) throw new RedisUrlError(BARE_PASSWORD);
  if (start === '' || !urls.every(url => URL.canParse(url))) throw malformed(text);
  const { protocol, username, password, pathname, searchParams } = new URL(first);
  const mode = searchParams.get('mode');
  if (mode === null) {
    if (urls.length > 1) {
      throw new RedisUrlError(
        'names several servers without a mode; add ?mode=cluster, or ?mode=sentinel&name=… if they are sentinels',
      );
    }
    if (REDIS_PARAMETERS.sentinel.some(name => searchParams.has(name))) {
      throw new RedisUrlError('has parameters of sentinels without a mode; add mode=sentinel');
    }
    return { mode: 'single', url: text };
  }
  if (mode !== 'cluster' && mode !== 'sentinel') {
    throw new RedisUrlError('has an unknown mode; it takes mode=cluster or mode=sentinel');
  }
  const known: readonly string[] = REDIS_PARAMETERS[mode];
  if (![...searchParams.keys()].every(name => known.includes(name))) {
    throw new RedisUrlError(
      `has a parameter that mode=${mode} does not take; it takes ${known.join(', ')}`,
    );
  }
  const addresses = urls.map(url => toAddress(url, DEFAULT_PORTS[mode], text));
  const tls = protocol === 'rediss:';
  const login = toLogin(tls, decode(username, text), decode(password, text));
  const db = pathname === '' ? '0' : pathname.replace(/^\/$/, '/0').slice(1);
  if (mode === 'cluster') {
    if (db !== '0') {
      throw new RedisUrlError('has mode=cluster and a database; leave it out, a cluster has one');
    }
    return { mode, addresses, ...login };
  }
  const name = searchParams.get('name');
  if (!name) {
    throw new RedisUrlError(
      'has mode=sentinel without a name; add &name= with the name by which the sentinels know the master',
    );
  }
  if (!/^\d{1,5}$/.test(db)) throw malformed(text);
  const sentinelLogin = toLogin(
    tls,
    searchParams.get('sentinel_username'),
    searchParams.get('sentinel_password'),
  );
  return { mode, addresses, name, db: Number(db), ...login, sentinelLogin };
}

function malformed(text: string): RedisUrlError {
  return new RedisUrlError(
    `is a value of ${text.length} characters, but must be a redis:// or rediss:// URL, with special characters of a password percent-encoded`,
  );
}

function toAddress(url: string, defaultPort: number, text: string): RedisAddress {
  const { hostname, port } = new URL(url);
  if (hostname === '') throw malformed(text);
  // An IPv6 address has brackets only in a URL.
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return { host, port: port === '' ? defaultPort : Number(port) };
}

function decode(part: string, text: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw malformed(text);
  }
}

function toLogin(tls: boolean, username: string | null, password: string | null): RedisLogin {
  return { tls, ...(username ? { username } : {}), ...(password ? { password } : {}) };
}
