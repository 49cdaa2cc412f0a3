import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { parseRedisUrl, type RedisLogin, type RedisServers } from '#config/redis-url.ts';

/** Longest a command may take, in milliseconds, before the store counts as unavailable. */
const COMMAND_TIMEOUT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 2_000;
const RECONNECT_MINIMUM_MS = 50;
const RECONNECT_MAXIMUM_MS = 1_000;
/**
 * How often the slot map of a cluster is read, in milliseconds. A server that hangs does not redirect to the
 * one that has taken over.
 */
const MAP_LIFETIME_MS = 1_000;
/** Longest a connection to a master that was replaced stays open, in milliseconds. */
const DISCONNECT_TIMEOUT_MS = 100;

/** Reconnects rarely: the other sentinels report a failover as well, and ioredis prints each attempt. */
const SENTINEL_RECONNECT_MS = 10_000;

const backOff = (attempt: number) =>
  Math.min(RECONNECT_MINIMUM_MS * 2 ** attempt, RECONNECT_MAXIMUM_MS);

/** Nothing is sent twice: the server may have claimed a nonce although its reply was lost. */
const SENT_ONCE = {
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  commandTimeout: COMMAND_TIMEOUT_MS,
  connectTimeout: CONNECT_TIMEOUT_MS,
} as const satisfies RedisOptions;

/** While the connection is down, commands fail at once instead of queueing. */
const RECONNECTING = {
  ...SENT_ONCE,
  enableOfflineQueue: false,
  retryStrategy: backOff,
  // The server has become a replica; its name may lead to the new master by now.
  reconnectOnError: error => error.message.includes('READONLY'),
} as const satisfies RedisOptions;

export interface RedisConnection {
  readonly redis: Redis | Cluster;
  close(): void;
}

/** Connects to the servers of a URL, and reconnects until it is closed. */
export function connectRedis(url: string): RedisConnection {
  const redis = connect(url);
  let isOpen = true;
  // ioredis gives up if a sentinel reports a failover while it asks for the master.
  redis.on('end', () => {
    setTimeout(() => {
      if (isOpen) redis.connect().catch(() => undefined);
    }, RECONNECT_MINIMUM_MS).unref();
  });
  return {
    redis,
    close() {
      isOpen = false;
      redis.disconnect();
    },
  };
}

function connect(url: string): Redis | Cluster {
  const servers = parseRedisUrl(url);
  switch (servers.mode) {
    case 'single':
      return new Redis(servers.url, RECONNECTING);
    case 'sentinel':
      return new Redis({ ...RECONNECTING, ...sentinelOptions(servers) });
    case 'cluster':
      return new Cluster([...servers.addresses], {
        clusterRetryStrategy: backOff,
        // No retries: a command on a connection that closed may have been executed.
        retryDelayOnFailover: 0,
        slotsRefreshInterval: MAP_LIFETIME_MS,
        slotsRefreshTimeout: COMMAND_TIMEOUT_MS,
        // Does not resolve names: certificates are for names.
        dnsLookup: (address, callback) => callback(null, address),
        redisOptions: { ...SENT_ONCE, ...loginOptions(servers) },
      });
  }
}

type Sentinels = Extract<RedisServers, { mode: 'sentinel' }>;

function sentinelOptions(servers: Sentinels) {
  const { addresses, name, db, tls, sentinelLogin } = servers;
  const { username, password } = sentinelLogin;
  return {
    ...loginOptions(servers),
    sentinels: [...addresses],
    name,
    db,
    ...(username === undefined ? {} : { sentinelUsername: username }),
    ...(password === undefined ? {} : { sentinelPassword: password }),
    sentinelCommandTimeout: COMMAND_TIMEOUT_MS,
    sentinelRetryStrategy: backOff,
    // Sentinels report a failover: a master that was replaced may go on as if nothing had happened.
    failoverDetector: true,
    sentinelReconnectStrategy: () => SENTINEL_RECONNECT_MS,
    disconnectTimeout: DISCONNECT_TIMEOUT_MS,
    ...(tls ? { enableTLSForSentinelMode: true, sentinelTLS: {} } : {}),
  };
}

function loginOptions({ tls, username, password }: RedisLogin) {
  return {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls ? { tls: {} } : {}),
  };
}

/**
 * A connection to each address of a URL, for a question or two: with sentinels, to the sentinels themselves.
 * None reconnects.
 */
export function connectToEach(url: string): Redis[] {
  const servers = parseRedisUrl(url);
  const once = { ...SENT_ONCE, lazyConnect: true, retryStrategy: () => null } as const;
  if (servers.mode === 'single') return [new Redis(servers.url, once)];
  const login = loginOptions(servers.mode === 'cluster' ? servers : servers.sentinelLogin);
  return servers.addresses.map(
    address => new Redis({ ...once, ...login, ...address, enableReadyCheck: false }),
  );
}
