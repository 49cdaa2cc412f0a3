/** libpq's modes, from the weakest to the strictest. */
export const TLS_MODES = [
  'disable',
  'allow',
  'prefer',
  'require',
  'verify-ca',
  'verify-full',
] as const;
type TlsMode = (typeof TLS_MODES)[number];

/** What the URL of a PostgreSQL server says about TLS. */
export interface TlsSettings {
  readonly mode: TlsMode;
  /** File with the authorities that are trusted; null for the public ones that Node.js knows. */
  readonly rootFile: string | null;
  /** Files with the certificate that the client shows, and its key; null for none. */
  readonly client: { readonly certificateFile: string; readonly keyFile: string } | null;
}

/** The URL parameters that `readTls` handles, so that no driver needs them. */
export const TLS_PARAMETERS = ['sslmode', 'ssl', 'sslrootcert', 'sslcert', 'sslkey'];
/** Parameters of libpq that are refused instead of ignored, since they ask for more checks or name a secret. */
const NOT_TAKEN = ['sslcrl', 'sslcrldir', 'sslpassword', 'ssl_min_protocol_version'];

/** Values that pg accepts besides libpq's modes. */
const OF_THE_DRIVER: Readonly<Record<string, TlsMode>> = {
  true: 'verify-full',
  1: 'verify-full',
  false: 'disable',
  0: 'disable',
  'no-verify': 'require',
};

/** The message completes a sentence that begins with the variable's name. It quotes no secret of the URL. */
export class DatabaseUrlError extends Error {}

/**
 * Reads `sslmode`, `sslrootcert`, `sslcert` and `sslkey` as libpq means them. Without a mode there is no TLS, unless a
 * file is named: then the certificate is verified in full.
 * @param byDefault The mode of a URL that has none: the value of PGSSLMODE.
 * @throws DatabaseUrlError
 */
export function readTls(url: string, byDefault = ''): TlsSettings {
  const { hostname, searchParams: given } = new URL(url);
  const refused = NOT_TAKEN.find(name => given.has(name));
  if (refused !== undefined) throw new DatabaseUrlError(`has ${refused}, which is not supported`);
  const file = (name: string) => given.get(name) || null;
  const [root, certificateFile, keyFile] = [file('sslrootcert'), file('sslcert'), file('sslkey')];
  const asked = given.get('sslmode') || given.get('ssl') || byDefault;
  const mode = toMode(asked, root !== null || certificateFile !== null);
  if (root === 'system' && mode !== 'verify-full') {
    throw new DatabaseUrlError('has sslrootcert=system, which needs sslmode=verify-full');
  }
  if (mode === 'verify-ca' && root === null) {
    throw new DatabaseUrlError(
      'has sslmode=verify-ca without sslrootcert; name the file with the certificate of your authority, or use verify-full',
    );
  }
  if ((certificateFile === null) !== (keyFile === null)) {
    throw new DatabaseUrlError('has one of sslcert and sslkey; name both files, or none');
  }
  // A socket of this machine needs no TLS: its traffic crosses no network.
  const isSocket = /^(\/|%2f)/i.test(given.get('host') ?? hostname);
  return {
    mode: isSocket ? 'disable' : mode,
    rootFile: root === 'system' ? null : root,
    client: certificateFile && keyFile ? { certificateFile, keyFile } : null,
  };
}

function toMode(asked: string, namesFiles: boolean): TlsMode {
  if (asked === '') return namesFiles ? 'verify-full' : 'disable';
  const mode = TLS_MODES.find(each => each === asked) ?? OF_THE_DRIVER[asked];
  if (mode !== undefined) return mode;
  throw new DatabaseUrlError(`has an unknown sslmode; it takes ${TLS_MODES.join(', ')}`);
}

/** The files that the settings name, each with the parameter that names it. */
export function tlsFiles({ rootFile, client }: TlsSettings): (readonly [string, string])[] {
  return [
    ...(rootFile === null ? [] : [['sslrootcert', rootFile] as const]),
    ...(client === null
      ? []
      : [['sslcert', client.certificateFile] as const, ['sslkey', client.keyFile] as const]),
  ];
}
