import { LegacyRefusal } from './refusal.ts';

export interface BasicCredentials {
  readonly clientId: string;
  readonly apiKey: string;
}

/** RFC 7617 with the base64 of RFC 4648, section 4; clients that leave the padding out are many. */
const BASIC = /^basic +([a-z0-9+/]+={0,2})$/i;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads client ID and API key from the Authorization headers of a request. The first colon parts
 * them; any other belongs to the API key.
 *
 * @param headers All values that were sent: none of several can be the right one.
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
  // Buffer.from skips what is not base64, so only text that encodes back to itself counts.
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
