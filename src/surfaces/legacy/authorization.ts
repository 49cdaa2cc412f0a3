import { LegacyRefusal } from './refusal.ts';

export interface BasicCredentials {
  readonly clientId: string;
  readonly apiKey: string;
}

/** RFC 7617 with the base64 of RFC 4648, section 4. Many clients leave out the padding. */
const BASIC = /^basic +([a-z0-9+/]+={0,2})$/i;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads client ID and API key from the Authorization header. They are separated by the first colon.
 *
 * @param headers All Authorization headers of the request; more than one is refused.
 * @throws LegacyRefusal
 */
export function readAuthorization(headers: readonly string[]): BasicCredentials {
  const [header = '', ...others] = headers;
  if (header === '' && others.length === 0) throw new LegacyRefusal('authorizationMissing');
  if (others.length > 0) throw malformed('it was sent more than once');
  const [, encoded] = BASIC.exec(header) ?? [];
  if (encoded === undefined) throw malformed('send Basic and the base64 of clientId:apiKey');
  const text = decode(encoded);
  const colon = text.indexOf(':');
  if (colon === -1) throw malformed('there is no colon between client ID and API key');
  return { clientId: text.slice(0, colon), apiKey: text.slice(colon + 1) };
}

function decode(encoded: string): string {
  const bytes = Buffer.from(encoded, 'base64');
  // Buffer.from skips characters that are not base64, so the bytes must encode to the same text.
  if (unpadded(bytes.toString('base64')) !== unpadded(encoded)) throw malformed('it is not base64');
  try {
    return decoder.decode(bytes);
  } catch {
    throw malformed('it is not UTF-8');
  }
}

function unpadded(base64: string): string {
  return base64.replace(/=+$/, '');
}

function malformed(detail: string): LegacyRefusal {
  return new LegacyRefusal('authorizationMalformed', { detail });
}
