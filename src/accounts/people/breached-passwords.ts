import { hash } from 'node:crypto';
import type { BaseLogger } from 'pino';
import { Agent, request } from 'undici';

/** Whether a password is known from a breach of some service; false when that cannot be found out. */
export type IsBreached = (password: string) => Promise<boolean>;

/** Timeout of the request, in milliseconds: somebody who sets a password waits for it. */
const TIMEOUT_MS = 1_000;
/** Maximum response size, in bytes: with padding it has up to two thousand lines of fifty. */
const MAXIMUM_BYTES = 262_144;
/** Characters of the SHA-1 that are sent. Hundreds of breached passwords share them, and millions of others. */
const PREFIX_LENGTH = 5;
/** The rest of a SHA-1, and how often it was found: 0 in padding lines, which hide how many others there are. */
const LINE = /^([0-9A-F]{35}):(\d+)\r?$/gim;

const agent = new Agent({
  connect: { timeout: TIMEOUT_MS },
  headersTimeout: TIMEOUT_MS,
  bodyTimeout: TIMEOUT_MS,
  maxResponseSize: MAXIMUM_BYTES,
});

interface BreachedPasswordsOptions {
  readonly log: Pick<BaseLogger, 'warn'>;
  readonly timeoutMs?: number;
}

/**
 * Asks a range service, such as that of Have I Been Pwned, for all known hashes that share the first characters of a
 * password's. Without a response every password passes: an outage of that service locks nobody out.
 * @param url Base URL, to which a slash and the prefix are appended; null asks nobody.
 */
export function openBreachedPasswords(
  url: string | null,
  { log, timeoutMs = TIMEOUT_MS }: BreachedPasswordsOptions,
): IsBreached {
  if (url === null) return async () => false;
  return async password => {
    const digest = hash('sha1', password, 'hex').toUpperCase();
    const [prefix, rest] = [digest.slice(0, PREFIX_LENGTH), digest.slice(PREFIX_LENGTH)];
    try {
      return isListed(await fetchRange(`${url}/${prefix}`, timeoutMs), rest);
    } catch (error) {
      // Without the error itself, which may hold the prefix.
      log.warn({ reason: reasonOf(error) }, 'breached passwords could not be asked for');
      return false;
    }
  };
}

/** Follows no redirects: only the configured service is asked for a range. */
async function fetchRange(url: string, timeoutMs: number): Promise<string> {
  const signal = AbortSignal.timeout(timeoutMs);
  const headers = { 'add-padding': 'true', 'user-agent': 'external-payments-service' };
  const { statusCode, body } = await request(url, { dispatcher: agent, headers, signal });
  if (statusCode === 200) return body.text();
  await body.dump({ limit: MAXIMUM_BYTES, signal });
  throw new Unusable(`status ${statusCode}`);
}

function isListed(range: string, rest: string): boolean {
  const lines = [...range.matchAll(LINE)];
  if (lines.length === 0) throw new Unusable('no range');
  return lines.some(([, suffix, count]) => suffix?.toUpperCase() === rest && Number(count) > 0);
}

/** The response is not what was asked for. */
class Unusable extends Error {}

function reasonOf(error: unknown): string {
  if (error instanceof Unusable) return error.message;
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
