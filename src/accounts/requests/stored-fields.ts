import { maskSecrets } from '#crypto/mask-secrets.ts';
import type { ErrorCode } from '#errors/catalogue.ts';
import type { SignatureExplanation } from '#storage/database/key-tables.ts';

const DAY_MS = 24 * 60 * 60_000;

/** How long the request log keeps a request, in days and milliseconds. */
export const REQUEST_RETENTION_DAYS = 30;
export const REQUEST_RETENTION_MS = REQUEST_RETENTION_DAYS * DAY_MS;
/** Maximum requests kept of an account: the newest. */
export const REQUESTS_PER_ACCOUNT_MAXIMUM = 100_000;
/** Longest part of a target that it keeps, in bytes. */
const TARGET_MAXIMUM = 1_024;
/** Longest name of a field that it keeps, in characters. */
const PARAM_MAXIMUM = 64;

/** What the request log keeps: all requests, failures and creations, or nothing. */
export type RequestLogMode = 'all' | 'failures' | 'off';

/**
 * Error codes of unverified requests that are kept. The others name no key, or come before anything was
 * checked. E1000 is a body that cannot be read, E3001 a path without a route.
 */
export const RECORDED_UNVERIFIED: ReadonlySet<string> = new Set<ErrorCode>([
  ...(['E1000', 'E2002', 'E2003', 'E2004', 'E2005', 'E2006', 'E2007', 'E3001'] as const),
]);

/**
 * Secrets without their prefixes: 64 hex digits. Transaction hashes look the same; only the partner's search
 * takes them, in these two parameters.
 */
const BARE_SECRET = /(?<![?&](?:search|txHash)=(?:0x)?)[\da-f]{64,}/gi;
/**
 * Shortest passphrase that is masked: the service issues none that is shorter, and shorter text may occur in
 * any word.
 */
const PASSPHRASE_MINIMUM = 16;

/** A request's target as it is kept: with misplaced secrets masked, and cut to 1,024 bytes. */
export function storedTarget(target: string, passphrase: unknown): string {
  const ascii = target.replaceAll(/[^\x20-\x7e]/g, '?');
  return withoutSecrets(ascii, passphrase).slice(0, TARGET_MAXIMUM);
}

/** The name of a field as it is kept. A client may have sent anything. */
export function storedParam(param: string | null, passphrase: unknown): string | null {
  if (param === null) return null;
  const text = withoutSecrets(param.slice(0, 4 * PARAM_MAXIMUM), passphrase);
  return text.slice(0, PARAM_MAXIMUM).replaceAll('\0', '?').toWellFormed();
}

/** An explanation as it is kept, with secrets masked: its remedies quote the target and the nonce. */
export function storedExplanation(
  { readable, findings }: SignatureExplanation,
  passphrase: unknown,
): SignatureExplanation {
  const kept = (text: string) => withoutSecrets(text, passphrase).slice(0, 2 * TARGET_MAXIMUM);
  return {
    readable,
    findings: findings.map(({ component, made, remedy }) => ({
      component,
      made: kept(made),
      remedy: kept(remedy),
    })),
  };
}

function withoutSecrets(text: string, passphrase: unknown): string {
  return maskSecrets(text, shown => {
    const masked = shown.replaceAll(BARE_SECRET, '***');
    return typeof passphrase === 'string' && passphrase.length >= PASSPHRASE_MINIMUM
      ? masked.replaceAll(passphrase, '***')
      : masked;
  });
}
