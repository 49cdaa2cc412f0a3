import type { Keyring } from '#crypto/keyring.ts';
import type { OtherSecret } from '#signing/mistakes/mistake.ts';
import type { ApiKey } from '#storage/database/key-tables.ts';

/**
 * The secrets of a key other than `secret`: those of its other pair, even if that has ended and is not wiped
 * yet. Use them only to explain a mismatch to those who have the key.
 */
export function otherSecretsOf(key: ApiKey, keyring: Keyring, secret: string): OtherSecret[] {
  const pairs = [
    { name: 'current', sealed: key.secret, version: key.master_key_version },
    { name: 'previous', sealed: key.previous_secret, version: key.previous_master_key_version },
  ];
  return pairs.flatMap(({ name, sealed, version }) => {
    const opened = open(keyring, key.id, sealed, version);
    if (opened === undefined || opened === secret) return [];
    return [
      { name: `the secret of the key's ${name} pair, whose passphrase is another`, secret: opened },
    ];
  });
}

/** undefined for a secret that can no longer be opened: the explanation does without it. */
function open(
  keyring: Keyring,
  keyId: string,
  sealed: Buffer | null,
  version: number | null,
): string | undefined {
  if (sealed === null || version === null) return undefined;
  try {
    return keyring.open(sealed, keyId, version);
  } catch {
    return undefined;
  }
}
