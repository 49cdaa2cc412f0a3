import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readVersion } from '../client-package/package-file.ts';
import { type Download, integrityOf } from './serve-download.ts';
import { type ArchivedFile, packTarGz } from './tar.ts';
import { packZip } from './zip.ts';

const CLIENTS = fileURLToPath(new URL('../../../../clients/', import.meta.url));

/** A library for another language. */
interface Library {
  /** Where the service serves it. */
  readonly path: string;
  /** Its folder in `clients/`. */
  readonly folder: string;
  /** Patterns of the files to pack. */
  readonly files: readonly string[];
}

export const LIBRARIES: readonly Library[] = [
  {
    path: '/client.php.zip',
    folder: 'php',
    files: ['composer.json', 'README.md', 'src/**/*.php'],
  },
  {
    path: '/client.py.tar.gz',
    folder: 'python',
    files: ['pyproject.toml', 'README.md', 'build_wheel.py', 'external_payments/{*.py,py.typed}'],
  },
  { path: '/client.go.zip', folder: 'go', files: ['go.mod', 'README.md', '*.go'] },
];

/** Packs a library; the same sources make the same bytes. */
export function packLibrary({ folder, files, path }: Library): Download {
  const version = readVersion();
  const isZip = path.endsWith('.zip');
  const name = `external-payments-${folder}`;
  // A source distribution of Python has its version in the name of its folder.
  const packed = readFiles(folder, files, isZip ? name : `${name}-${version}`);
  const bytes = isZip ? packZip(packed) : packTarGz(packed);
  return {
    type: isZip ? 'application/zip' : 'application/gzip',
    filename: `${name}-${version}.${isZip ? 'zip' : 'tar.gz'}`,
    bytes,
    integrity: integrityOf(bytes),
  };
}

/**
 * Reads files of a folder in `clients/` for an archive, sorted by name so that the archive does not depend on the
 * file system.
 * @param top Folder of the archive that holds them.
 * @throws Error when there are none.
 */
export function readFiles(
  folder: string,
  patterns: readonly string[],
  top: string,
): ArchivedFile[] {
  const cwd = `${CLIENTS}${folder}/`;
  const paths = globSync(patterns, { cwd });
  if (paths.length === 0) throw new Error(`There is no library in ${cwd}.`);
  return paths
    .map(path => path.replaceAll('\\', '/'))
    .toSorted()
    .map(path => ({ path: `${top}/${path}`, bytes: readFileSync(cwd + path) }));
}
