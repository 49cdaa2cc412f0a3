import { KEY_ID_BYTES, KEY_ID_PREFIX } from '#accounts/keys/manage-keys.ts';
import type { Scope } from '#accounts/keys/scopes.ts';
import { TIMESTAMP_WINDOW_SECONDS } from '#signing/canonical.ts';
import { NONCE_MAXIMUM } from '#signing/check-headers.ts';
import type { SecurityScheme } from './document.ts';

/** Each signing header by the name of its security scheme; a signed request has all of them. */
const SIGNING_SCHEMES = {
  keyId: 'X-MP-KEY-ID',
  passphrase: 'X-MP-PASSPHRASE',
  timestamp: 'X-MP-TIMESTAMP',
  nonce: 'X-MP-NONCE',
  signature: 'X-MP-SIGNATURE',
} as const;

const DESCRIPTIONS: Readonly<Record<keyof typeof SIGNING_SCHEMES, string>> = {
  keyId: `ID of the API key: \`${KEY_ID_PREFIX}\` and ${2 * KEY_ID_BYTES} hex digits. It is public.`,
  passphrase: "The key's passphrase.",
  timestamp: `Unix time in whole seconds, at most ${TIMESTAMP_WINDOW_SECONDS} seconds before or after the server's.`,
  nonce: `1 to ${NONCE_MAXIMUM} visible ASCII characters, unique for the key; use a UUID.`,
  signature: `Lowercase hex of HMAC-SHA256, keyed with the whole secret, over five parts joined by line feeds: timestamp, nonce, method in upper case, path with query exactly as sent, and the body's bytes exactly as sent (nothing for GET).`,
};

/** What each scope of a key allows. */
export const SCOPES: Readonly<Record<Scope, string>> = {
  'payment_prompts:write': 'Create payments.',
  'payment_prompts:read': 'Read and list payments and their events.',
  'blockchains:read': 'List the networks that the platform offers.',
  'partner_overview:read': "Read the partner's totals.",
  'partner_merchants:read': "Read and list the partner's merchants.",
  'partner_payments:read': "Read and list payments of the partner's merchants.",
  'partner_team:read': "List the partner's members.",
};

export const SECURITY_SCHEMES: Readonly<Record<string, SecurityScheme>> = {
  ...Object.fromEntries(
    Object.entries(SIGNING_SCHEMES).map(([scheme, name]) => [
      scheme,
      {
        type: 'apiKey',
        in: 'header',
        name,
        description: DESCRIPTIONS[scheme as keyof typeof SIGNING_SCHEMES],
        ...(scheme === 'keyId' ? { 'x-scopes': SCOPES } : {}),
      },
    ]),
  ),
  basic: {
    type: 'http',
    scheme: 'basic',
    description: 'Client ID and API key of an active Merchant Admin user; older contract only.',
  },
};

/**
 * The security requirement of a signed operation: all five headers. It names no scope, since linters know OAuth
 * scopes only; `x-scope` has the scope of an operation.
 */
export const SIGNED: Record<string, string[]>[] = [
  Object.fromEntries(Object.keys(SIGNING_SCHEMES).map(scheme => [scheme, []])),
];

export const BASIC: Record<string, string[]>[] = [{ basic: [] }];
