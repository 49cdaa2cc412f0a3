import { lookup as lookUp } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { isLocalAddress } from '#outbound/address-guard.ts';
import { readRetryAfter } from '#outbound/retry-after.ts';
import type { Clock } from '#time/clock.ts';
import { NodeFailure } from './node.ts';
import { type NodeAccess, PLAIN_HTTP } from './node-access.ts';
import { readBody } from './read-body.ts';
import type { ResponseLimits } from './response-limits.ts';
import { Oversized, TookTooLong } from './unusable-response.ts';

/** Timeout of connecting, including TLS, in milliseconds. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Connections to one node: a batch, look-ups and the other processes' calls share its allowance. */
const CONNECTIONS = 8;
/**
 * How long an idle connection is kept, in milliseconds: longer than the pause between two ticks, and
 * shorter than servers keep theirs (bitcoind 30 s, most proxies 60 s).
 */
const KEEP_ALIVE_MS = 20_000;
const USER_AGENT = 'external-payments-service';

/** An HTTP response of a node, of any status. */
export interface NodeResponse {
  readonly status: number;
  /** What the node asks for; null without a Retry-After. */
  readonly retryAfterMs: number | null;
  readonly text: string;
}

interface PostOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly limits: ResponseLimits;
}

/**
 * Opens the connections to a node. Failures are described only by their code: the messages and causes of Node's
 * and undici's errors contain hosts, and may contain URLs.
 */
export function openTransport({ url, headers }: NodeAccess, label: string, clock: Clock) {
  const { origin, protocol, pathname, search } = new URL(url);
  const agent = new Agent({
    connect: connectorFor(protocol),
    connections: CONNECTIONS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  let connections = 0;
  agent.on('connect', () => {
    connections += 1;
  });
  return {
    /**
     * Posts JSON. Follows no redirect.
     * @param path Below the node's URL; empty for the URL itself.
     * @throws NodeFailure, Oversized, TookTooLong, or the signal's reason if it is aborted.
     */
    async post(
      path: string,
      body: string,
      { signal, timeoutMs, limits }: PostOptions,
    ): Promise<NodeResponse> {
      signal.throwIfAborted();
      const timeout = AbortSignal.timeout(timeoutMs);
      try {
        const response = await agent.request({
          origin,
          method: 'POST',
          path: (path === '' ? pathname : pathname.replace(/\/$/, '') + path) + search,
          headers: {
            accept: 'application/json',
            'content-type': 'application/json',
            'user-agent': USER_AGENT,
            ...headers,
          },
          body,
          signal: AbortSignal.any([signal, timeout]),
        });
        return {
          status: response.statusCode,
          retryAfterMs: retryAfterOf(response, clock),
          text: await readBody(response.body, response.statusCode !== 200, limits),
        };
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof Oversized) throw error;
        if (timeout.aborted) throw new TookTooLong(`no answer within ${timeoutMs / 1000} s`);
        throw new NodeFailure(`${label}: ${reasonOf(error)}`);
      }
    },
    /** How many connections were opened so far: a new one may lead to another server. */
    connections: () => connections,
    /** Ends the calls in flight. */
    close: () => agent.destroy(),
  };
}

function retryAfterOf({ headers }: Dispatcher.ResponseData, clock: Clock): number | null {
  const header = headers['retry-after'];
  const text = Array.isArray(header) ? header[0] : header;
  return readRetryAfter(text, new Date(clock())) || null;
}

/** The reason of a failure, without the error's own text. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) {
    return [...new Set(error.errors.map(reasonOf))].join(', ');
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  if (code === REFUSED) return PLAIN_HTTP;
  return `no answer (${code ?? (error instanceof Error ? error.name : typeof error)})`;
}

const REFUSED = 'EPS_PLAIN_HTTP';

/** Anyone on the network path can read keys sent by plain HTTP, so it is allowed for local addresses only. */
function connectorFor(protocol: string): buildConnector.connector {
  const options = { timeout: CONNECT_TIMEOUT_MS, allowH2: false, autoSelectFamily: true };
  if (protocol === 'https:') return buildConnector(options);
  const connect = buildConnector({ ...options, lookup: lookUpLocal });
  return (target, callback) => {
    const host = target.hostname.replace(/^\[|\]$/g, '');
    // Node skips the lookup if the host is an IP address.
    if (isIP(host) > 0 && !isLocalAddress(host)) callback(refusal(), null);
    else connect(target, callback);
  };
}

const lookUpLocal: LookupFunction = (hostname, options, callback) => {
  lookUp(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, []);
    const local = addresses.filter(({ address }) => isLocalAddress(address));
    if (local.length === 0) return callback(refusal(), []);
    callback(null, local);
  });
};

function refusal(): NodeJS.ErrnoException {
  return Object.assign(new Error(PLAIN_HTTP), { code: REFUSED });
}
