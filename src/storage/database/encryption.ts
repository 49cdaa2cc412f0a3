import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import pg from 'pg';
import { readTls, TLS_PARAMETERS, type TlsSettings } from '#config/database-tls.ts';
import { isTlsFailure } from './errors.ts';

/** Contents of files as last read: they stay in use while a file is being replaced. */
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
 * Whether and how connections to a URL are encrypted, with libpq's meaning of its parameters. `allow` and `prefer` keep
 * to what the server accepted, and switch when it refuses that.
 */
class Encryption {
  /** The URL without its TLS parameters, which pg interprets differently. */
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

  /** Whether a refused connection may be retried the other way, encrypted or not. */
  get isNegotiable(): boolean {
    return ['allow', 'prefer'].includes(this.#settings.mode);
  }

  /** For the next connection. Files are read each time, so that a renewed certificate needs no restart. */
  options(): ConnectionOptions | false {
    if (!this.#isOn) return false;
    const { mode, rootFile, client } = this.#settings;
    return {
      // As in libpq, a root certificate that is named must have signed the server's certificate in every mode.
      rejectUnauthorized: rootFile !== null || mode === 'verify-full',
      ...(rootFile === null ? {} : { ca: read(rootFile) }),
      ...(client === null ? {} : { cert: read(client.certificateFile), key: read(client.keyFile) }),
      ...(mode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
    };
  }

  /** Switches to the other way if that may help, after a connection could not be opened. */
  failed(error: unknown, wasOn: boolean): void {
    if (!this.isNegotiable || wasOn !== this.#isOn) return;
    // invalid_authorization_specification: no line of pg_hba.conf allows a connection of this kind.
    const isRefused = error instanceof pg.DatabaseError && error.code === '28000';
    if (isRefused || isTlsFailure(error)) this.#isOn = !wasOn;
  }
}

const known = new Map<string, Encryption>();

/** The state that all connections of this process to one URL share. */
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
