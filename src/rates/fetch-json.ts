import { Agent, request } from 'undici';

/** Longest to wait for a connection, for headers and between two parts of a body, in milliseconds. */
const TIMEOUT_MS = 3_000;

/** Largest answer read, in bytes: a ticker has some hundred. */
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
 * Gets a small JSON document. Redirects are not followed: a price comes from where it was asked for.
 * @returns The parsed body, as yet unbelieved.
 * @throws Error for everything but status 200 with a JSON body of at most 16 KiB in time.
 */
export async function fetchJson(url: string, signal: AbortSignal): Promise<unknown> {
  const { statusCode, body } = await request(url, { dispatcher: agent, headers: HEADERS, signal });
  if (statusCode !== 200) {
    await body.dump({ limit: MAXIMUM_BYTES, signal });
    throw new Error(`status ${statusCode}`);
  }
  return JSON.parse(await body.text());
}

/** Follows keys and indexes into a parsed body; undefined where the path ends early. */
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
