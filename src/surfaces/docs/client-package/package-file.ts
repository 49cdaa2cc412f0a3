import { readFileSync } from 'node:fs';
import { integrityOf } from '../downloads/serve-download.ts';

/** npm name of the client, which programs import. */
export const CLIENT_NAME = 'external-payments-client';
/** Where the service serves it. */
export const CLIENT_PATH = '/client.tgz';

const ROOT = new URL('../../../../', import.meta.url);
/** Folder for build output, which git ignores. */
export const OUTPUT = new URL('dist/', ROOT);

/** The package, as the service serves it. */
export interface ClientPackage {
  readonly version: string;
  readonly bytes: Buffer;
  /** As npm writes it to a lock file: `sha512-` and base64 (Subresource Integrity). */
  readonly integrity: string;
}

/** Version of the service, which is that of its client. */
export function readVersion(): string {
  return JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')).version;
}

/** The built package of a version, under the name that `npm pack` gives it. */
export function packageFile(version: string): URL {
  return new URL(`${CLIENT_NAME}-${version}.tgz`, OUTPUT);
}

/** Reads the package of this version; undefined where it has not been built. */
export function readClientPackage(): ClientPackage | undefined {
  const version = readVersion();
  try {
    const bytes = readFileSync(packageFile(version));
    return { version, bytes, integrity: integrityOf(bytes) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
