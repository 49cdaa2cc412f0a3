import { hash } from 'node:crypto';
import type { BaseLogger } from 'pino';
import { Agent, request } from 'undici';

/** Whether a password is known from a breach of some service; false when nobody can tell. */
export type IsBreached = (password: string) => Promise<boolean>;

/** How long somebody who sets a password waits for the answer, in milliseconds. */
const TIMEOUT_MS = 1_000;
/** Largest answer, in bytes: with padding it has up to two thousand lines of fifty. */
const MAXIMUM_BYTES = 262_144;
/** Characters of the SHA-1 that are sent. Hundreds of known passwords share them, and millions that are not. */
const PREFIX_LENGTH = 5;
/** The rest of a SHA-1, and how often it was found: 0 in lines that only hide how many others there are. */
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
 * Asks a service that answers ranges, as that of Have I Been Pwned does, for all known hashes that begin like a
 * password's. Without an answer a password passes: nobody is locked out by an outage of others.
 * @param url What a prefix is appended to, after a slash; null asks nobody.
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

/** Follows no redirects: a range is asked of the configured service alone. */
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
