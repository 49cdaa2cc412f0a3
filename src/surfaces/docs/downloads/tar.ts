import { gzipSync } from 'node:zlib';

/** A file of an archive. */
export interface ArchivedFile {
  /** Path in the archive: ASCII, at most 99 characters, with `/` between its parts. */
  readonly path: string;
  readonly bytes: Buffer;
}

const BLOCK = 512;
/** 1985-10-26, the time that npm gives to all files: some tools refuse times before 1980. */
const MODIFIED_SECONDS = 499_162_500;

/** Packs files as .tar.gz (POSIX ustar). The same files make the same bytes. */
export function packTarGz(files: readonly ArchivedFile[]): Buffer {
  const blocks = files.flatMap(({ path, bytes }) => {
    const padding = Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK);
    return [headerOf(path, bytes.length), bytes, padding];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]));
}

function headerOf(path: string, size: number): Buffer {
  if (!/^[\x21-\x7e]{1,99}$/.test(path)) throw new RangeError(`${path} does not fit into a tar`);
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`;
  header.write(path, 0);
  header.write(octal(0o644, 7), 100);
  // User and group: root, whom archivers map to the user that unpacks.
  header.write(octal(0, 7) + octal(0, 7), 108);
  header.write(octal(size, 11) + octal(MODIFIED_SECONDS, 11), 124);
  // The checksum is computed with blanks in its own place.
  header.write(' '.repeat(8), 148);
  header.write('0', 156);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)} `, 148);
  return header;
}
