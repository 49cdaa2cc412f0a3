import {
  KEY_ID_BYTES,
  KEY_ID_PREFIX,
  PASSPHRASE_BYTES,
  ROTATION_GRACE_MS,
  SECRET_BYTES,
  SECRET_PREFIX,
} from '../../keys/manage-keys.ts';
import {
  MERCHANT_SCOPES,
  PARTNER_DEVELOPER_SCOPES,
  PARTNER_OWNER_SCOPES,
} from '../../keys/scopes.ts';
import { TIMESTAMP_WINDOW_SECONDS } from '../../signing/canonical.ts';
import { NONCE_LIFETIME_SECONDS } from '../../signing/nonce-store.ts';
import { NONCE_MAXIMUM } from '../../signing/signed-request.ts';
import { readSnippet, SNIPPETS } from '../snippets.ts';
import { block, code, duration, error, type Guide, table } from './guide.ts';
import { CREATE_VECTOR, LIST_VECTOR, VECTOR_KEY_ID, VECTOR_SECRET } from './signing-vector.ts';

export const SIGNING: Guide = {
  slug: 'signing',
  title: 'Signing requests',
  description:
    'Five headers on every request, an HMAC over exactly what is sent, and complete programs in four languages.',
  markdown: () => `## The headers

${table(
  ['header', 'content'],
  [
    [code('X-MP-KEY-ID'), `key ID: ${code(KEY_ID_PREFIX)} and ${2 * KEY_ID_BYTES} hex digits`],
    [code('X-MP-PASSPHRASE'), `the key's passphrase: ${PASSPHRASE_BYTES} bytes in base64url`],
    [
      code('X-MP-TIMESTAMP'),
      `Unix time in whole seconds, at most ${TIMESTAMP_WINDOW_SECONDS} away from the server's, either way`,
    ],
    [
      code('X-MP-NONCE'),
      `1 to ${NONCE_MAXIMUM} visible ASCII characters, never used twice with a key; a UUID does`,
    ],
    [code('X-MP-SIGNATURE'), 'lowercase hex of HMAC-SHA256 over the canonical request'],
  ],
)}

## The canonical request

Five parts joined by line feeds, the body last and without a line feed after it:

${block(
  'text',
  `timestamp
nonce
METHOD
path and query, exactly as sent
body, exactly the bytes sent; nothing for GET`,
)}

The HMAC key is the whole secret, ${code(SECRET_PREFIX)} and its ${2 * SECRET_BYTES} hex digits, as text: it is not decoded.

- **Path and query** are what stands in the request line, prefix ${code('/external/v1')} or ${code('/external/partner')} included, without scheme and host. Percent-encode first, then sign.
- **The body** is signed as bytes. Serialize it once, sign that, send that.
- **A retry** is signed anew, with a fresh nonce and the present time. A nonce is remembered for ${duration(NONCE_LIFETIME_SECONDS)}; used again it is ${error('E2009')}.

## A worked example

Hold your code against it. The signatures are computed for this page by the function that verifies requests.

${table(
  ['part', 'value'],
  [
    ['key ID', code(VECTOR_KEY_ID)],
    ['secret', code(VECTOR_SECRET)],
    ['timestamp', code(CREATE_VECTOR.timestamp)],
    ['nonce', code(CREATE_VECTOR.nonce)],
    ['method', code(CREATE_VECTOR.method)],
    ['path', code(CREATE_VECTOR.path)],
    ['body', code(CREATE_VECTOR.body)],
    ['signature', code(CREATE_VECTOR.signature)],
  ],
)}

Its canonical request is this text:

${block('text', CREATE_VECTOR.canonical)}

With the same secret, timestamp and nonce, ${code('GET')} of ${code(LIST_VECTOR.path)} is signed over this text, which ends in a line feed because its body is empty:

${block('text', LIST_VECTOR.canonical)}

The signature is ${code(LIST_VECTOR.signature)}.

## Complete programs

Each creates a payment and reads it back, with nothing but what its language brings. They take ${['MP_URL', 'MP_KEY_ID', 'MP_SECRET', 'MP_PASSPHRASE'].map(code).join(', ')} from the environment.

${SNIPPETS.map(
  snippet => `### ${snippet.name}

For ${snippet.tool}:

${block(snippet.language, readSnippet(snippet))}`,
).join('\n\n')}

For TypeScript there is a client in ${code('src/client')} that signs, retries and pages by itself.

## When it is refused

Checks run in this order, and the first that fails answers. A failure counts against your address, a success against your key.

${table(
  ['answer', 'look at'],
  [
    [error('E2001'), 'a header that is missing or empty, or a nonce with a space in it'],
    [error('E2002'), 'a timestamp that is no whole number'],
    [error('E2003'), "your clock; the message tells the server's time and the difference"],
    [error('E2004'), 'key ID and passphrase, and whether they are of this environment'],
    [`${error('E2005')}, ${error('E2006')}`, 'the key, which is revoked or expired'],
    [
      error('E2007'),
      'what was signed against what was sent: query, body bytes, secret. Outside production the message names the parts the server signed and the SHA-256 of their canonical request',
    ],
    [error('E2009'), 'a library that repeats requests by itself'],
    [`${error('E2008')}, ${error('E2102')}, ${error('E2103')}`, 'the account and the kind of key'],
    [error('E2101'), 'the scopes of the key'],
  ],
)}

## Scopes

A merchant's key may have ${MERCHANT_SCOPES.map(code).join(', ')}. The keys of a partner's owner have ${PARTNER_OWNER_SCOPES.map(code).join(', ')}, those of its developers ${PARTNER_DEVELOPER_SCOPES.map(code).join(', ')}. The [reference](/docs/reference) names the scope of each route.

## Changing keys

- **Rotating** gives a key a new secret and passphrase under the same ID. The old pair works for ${duration(ROTATION_GRACE_MS / 1000)} longer, or ends at once if you say so. An expiry date stays what it was.
- **Revoking** is for good, and holds from the next request on.`,
};
