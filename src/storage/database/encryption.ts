import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import pg from 'pg';
import { readTls, TLS_PARAMETERS, type TlsSettings } from '#config/database-tls.ts';
import { isTlsFailure } from './errors.ts';

/** Files as they were last read: while one is being replaced, what it held stays in force. */
const contents = new Map<string, string>();

function read(path: string): string {
  try {
    contents.set(path, readFileSync(path, 'utf8'));
  } catch (error) {
    if (!contents.has(path)) throw error;
  }
  return contents.get(path) ?? '';
}

/**
 * Whether and how connections by a URL are encrypted, by libpq's meaning of its parameters. `allow` and `prefer` go on
 * with what the server took, and change when it refuses that.
 */
export class Encryption {
  /** The URL without what it says about encryption, of which pg has another understanding. */
  readonly url: string;
  readonly #settings: TlsSettings;
  #isOn: boolean;

  constructor(url: string) {
    this.#settings = readTls(url, process.env.PGSSLMODE);
    this.#isOn = !['disable', 'allow'].includes(this.#settings.mode);
    this.url = withoutParameters(url);
  }

  /** Whether the next connection is encrypted. */
  get isOn(): boolean {
    return this.#isOn;
  }

  /** Whether a connection that was refused may be taken the other way. */
  get isNegotiable(): boolean {
    return ['allow', 'prefer'].includes(this.#settings.mode);
  }

  /** For the next connection. Files are read each time, so that a renewed certificate needs no restart. */
  options(): ConnectionOptions | false {
    if (!this.#isOn) return false;
    const { mode, rootFile, client } = this.#settings;
    return {
      // As in libpq, an authority that is named has to have signed the certificate in every mode.
      rejectUnauthorized: rootFile !== null || mode === 'verify-full',
      ...(rootFile === null ? {} : { ca: read(rootFile) }),
      ...(client === null ? {} : { cert: read(client.certificateFile), key: read(client.keyFile) }),
      ...(mode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
    };
  }

  /** Learns from a connection that could not be opened. */
  failed(error: unknown, wasOn: boolean): void {
    if (!this.isNegotiable || wasOn !== this.#isOn) return;
    // invalid_authorization_specification: no line of pg_hba.conf takes it as it came.
    const isRefused = error instanceof pg.DatabaseError && error.code === '28000';
    if (isRefused || isTlsFailure(error)) this.#isOn = !wasOn;
  }
}

const known = new Map<string, Encryption>();

/** What all connections of this process by the URL of one server share. */
export function encryptionOf(url: string): Encryption {
  const encryption = known.get(url) ?? new Encryption(url);
  known.set(url, encryption);
  return encryption;
}

function withoutParameters(text: string): string {
  const url = new URL(text);
  if (!TLS_PARAMETERS.some(name => url.searchParams.has(name))) return text;
  for (const name of TLS_PARAMETERS) url.searchParams.delete(name);
  return url.href;
}

/** A connection to a server, encrypted as its URL says. */
export class ServerClient extends pg.Client {
  readonly #encryption: Encryption;
  readonly #isEncrypted: boolean;

  constructor(config: pg.ClientConfig & { readonly connectionString: string }) {
    const encryption = encryptionOf(config.connectionString);
    const isEncrypted = encryption.isOn;
    super({ ...config, connectionString: encryption.url, ssl: encryption.options() });
    this.#encryption = encryption;
    this.#isEncrypted = isEncrypted;
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error | null) => void): void;
  override connect(callback?: (error: Error | null) => void): Promise<pg.Client> | undefined {
    const learn = (error: unknown) => this.#encryption.failed(error, this.#isEncrypted);
    if (callback === undefined) {
      return super.connect().catch(error => {
        learn(error);
        throw error;
      });
    }
    super.connect((error: Error | null) => {
      if (error !== null) learn(error);
      callback(error);
    });
    return undefined;
  }
}
