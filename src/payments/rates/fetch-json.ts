import { Agent, request } from 'undici';

/** Timeout for connecting, for headers and between two chunks of a body, in milliseconds. */
const TIMEOUT_MS = 3_000;

/** Maximum response size, in bytes: a ticker has a few hundred. */
const MAXIMUM_BYTES = 16_384;

const agent = new Agent({
  connect: { timeout: TIMEOUT_MS },
  headersTimeout: TIMEOUT_MS,
  bodyTimeout: TIMEOUT_MS,
  maxResponseSize: MAXIMUM_BYTES,
});

/** Coinbase refuses requests without a user agent. */
const HEADERS = { accept: 'application/json', 'user-agent': 'external-payments-service' };

/**
 * Fetches a small JSON document. Does not follow redirects: prices come from known hosts only.
 * @returns The parsed body, not validated.
 * @throws Error unless status 200 with a JSON body of at most 16 KiB arrives in time.
 */
export async function fetchJson(url: string, signal: AbortSignal): Promise<unknown> {
  const { statusCode, body } = await request(url, { dispatcher: agent, headers: HEADERS, signal });
  if (statusCode !== 200) {
    await body.dump({ limit: MAXIMUM_BYTES, signal });
    throw new Error(`status ${statusCode}`);
  }
  return JSON.parse(await body.text());
}

/** Reads a value at a path of keys and indexes; undefined if the path does not exist. */
export function pick(value: unknown, ...path: readonly (string | number)[]): unknown {
  let current = value;
  for (const key of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key)) {
      return undefined;
    }
    current = (current as Record<string | number, unknown>)[key];
  }
  return current;
}
