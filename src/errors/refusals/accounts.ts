/** Refusals about merchants, partners, their users and members, domains, logos and API keys. */
export const ACCOUNTS = {
  'nothing-to-change': 'Nothing to change: no setting is given.',

  'merchant-unknown': ({ merchantId }: { merchantId: string }) =>
    `There is no merchant ${merchantId}.`,
  'partner-unknown': ({ partnerId }: { partnerId: string }) => `There is no partner ${partnerId}.`,
  'user-unknown': ({ userId }: { userId: string }) => `There is no user ${userId}.`,
  'partner-member-unknown': ({ memberId }: { memberId: string }) =>
    `There is no partner member ${memberId}.`,
  'account-inactive': 'The account is inactive.',
  'merchant-already-test': 'This is a test merchant itself.',

  'domain-with-scheme': domain('give the hostname alone, without https://'),
  'domain-with-wildcard': domain('wildcards are not supported; add each hostname by itself'),
  'domain-with-path': domain('give the hostname alone, without path, port or user'),
  'domain-unreadable': domain('it is not a hostname'),
  'domain-not-qualified': domain('it is not fully qualified, as shop.example.com is'),
  'domain-numeric': domain('an IP address is not a domain'),
  'domain-invalid': domain('it is not a valid hostname'),
  'top-level-invalid': ({ topLevel }: { topLevel: string }) =>
    domain(`"${topLevel}" is not a top-level domain`),
  'too-many-domains': ({ maximum }: { maximum: number }) =>
    `A merchant may have at most ${maximum} redirect domains.`,
  'domain-missing': ({ name }: { name: string }) => `The merchant has no redirect domain ${name}.`,

  // These continue a sentence that begins with the image.
  'image-too-many-bytes': ({ bytes, maximum }: { bytes: number; maximum: number }) =>
    `has ${bytes} bytes: at most ${maximum} are taken`,
  'image-type-unknown': 'is neither PNG nor WebP',
  'image-too-many-pixels': (values: { width: number; height: number; maximum: number }) => {
    const { width, height, maximum } = values;
    return `has ${width} × ${height} pixels: at most ${maximum} × ${maximum} are taken`;
  },
  'image-damaged': 'is damaged or cut short',

  'legacy-key-needs-admin': (user: { status: 'active' | 'inactive'; role: 'admin' | 'member' }) =>
    `The user is ${user.status} and ${user.role}; only an active admin may have a key.`,
  'key-unknown': ({ keyId }: { keyId: string }) => `There is no key ${keyId}.`,
  'key-revoked': ({ keyId }: { keyId: string }) => `The key ${keyId} is revoked.`,
  'key-already-revoked': ({ keyId }: { keyId: string }) => `The key ${keyId} is already revoked.`,
  'key-expired': ({ keyId }: { keyId: string }) =>
    `The key ${keyId} has expired; create a new one.`,
  'key-expiry-passed': 'The expiry date has already passed.',
  'key-scope-unknown': ({ scope, known }: { scope: string; known: readonly string[] }) =>
    `The scope "${scope}" is unknown; the key may have ${known.join(', ')}.`,
  'too-many-keys': ({ maximum }: { maximum: number }) =>
    `The merchant has ${maximum} active keys, which is the maximum; revoke one first.`,
} as const;

function domain(reason: string): string {
  return `The domain is refused: ${reason}.`;
}
