import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
} from 'node:crypto';
import { takeRandomBytes } from './random-bytes.ts';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';

/**
 * The kinds of sealed data. Responses have a key of their own: random nonces of AES-GCM may repeat after some
 * billions of messages under one key (NIST SP 800-38D, 8.3), and a response is sealed for each payment.
 */
type Sealed = 'secret' | 'response';

type DerivedKeys = Readonly<Record<Sealed | 'hashing', KeyObject>>;

/** Encrypts secrets and hashes passphrases under the master key; previous keys still decrypt. */
export interface Keyring {
  /** Version of the current master key: the first 31 bits of a SHA-256 over a prefix and the key. */
  readonly currentVersion: number;
  /** Versions of all master keys, the current one first. */
  readonly versions: readonly number[];
  /**
   * Encrypts `plaintext` with AES-256-GCM under the current master key, bound to `context` (the ID of
   * what it belongs to).
   * @returns Nonce (12 bytes), ciphertext, tag (16 bytes).
   */
  seal(plaintext: string | Buffer, context: string, kind?: Sealed): Buffer;
  /**
   * Decrypts the result of `seal`.
   * @throws Error for an unknown version, altered bytes, another context or kind.
   */
  open(sealed: Buffer, context: string, version: number, kind?: Sealed): string;
  /**
   * Keyed hash (HMAC-SHA256, 32 bytes) of `secret`, bound to `context`.
   * For an unknown version it uses the current key, so that it takes the same time.
   */
  hash(secret: string, context: string, version?: number): Buffer;
}

/**
 * Builds a keyring from 32-byte master keys, the current one first.
 * @throws Error without a key.
 */
export function createKeyring(masterKeys: readonly Buffer[]): Keyring {
  const [currentKey] = masterKeys;
  if (currentKey === undefined) throw new Error('a keyring needs a master key');
  const keys = new Map(masterKeys.map(key => [versionOf(key), derive(key)]));
  const currentVersion = versionOf(currentKey);
  const current = derive(currentKey);

  return {
    currentVersion,
    versions: [...keys.keys()],
    seal(plaintext, context, kind = 'secret') {
      const nonce = takeRandomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, current[kind], nonce);
      cipher.setAAD(Buffer.from(context));
      return Buffer.concat([
        nonce,
        typeof plaintext === 'string' ? cipher.update(plaintext, 'utf8') : cipher.update(plaintext),
        cipher.final(),
        cipher.getAuthTag(),
      ]);
    },
    open(sealed, context, version, kind = 'secret') {
      const key = keys.get(version);
      if (key === undefined) {
        throw new Error(
          `a ${kind} was sealed under master key version ${version}, which neither MASTER_KEY nor MASTER_KEYS_PREVIOUS holds`,
        );
      }
      const decipher = createDecipheriv(CIPHER, key[kind], sealed.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
      const ciphertext = sealed.subarray(NONCE_BYTES, -TAG_BYTES);
      return decipher.update(ciphertext, undefined, 'utf8') + decipher.final('utf8');
    },
    hash(secret, context, version = currentVersion) {
      const key = keys.get(version) ?? current;
      return createHmac('sha256', key.hashing).update(`${context}\0${secret}`).digest();
    },
  };
}

function versionOf(masterKey: Buffer): number {
  const digest = createHash('sha256').update('master key version\0').update(masterKey).digest();
  return digest.readUInt32BE() >>> 1;
}

/** A separate key for each purpose, so that hashes reveal nothing about the encryption key. */
function derive(masterKey: Buffer): DerivedKeys {
  const expand = (purpose: string) =>
    createSecretKey(
      Buffer.from(hkdfSync('sha256', masterKey, '', `external-payments ${purpose}`, 32)),
    );
  return {
    secret: expand('encryption'),
    response: expand('responses'),
    hashing: expand('hashing'),
  };
}
