import { crc32, deflateRawSync } from 'node:zlib';
import type { ArchivedFile } from './tar.ts';

/** 2.0, the first version that reads deflated files. */
const VERSION = 20;
/** Made on Unix, so that the mode of files counts. */
const MADE_BY = (3 << 8) | VERSION;
const DEFLATED = 8;
/** 1980-01-01, the earliest date of the format. */
const DATE = (1 << 5) | 1;
const MODE = 0o100644;

/** Packs files as .zip (APPNOTE 6.3). The same files make the same bytes. */
export function packZip(files: readonly ArchivedFile[]): Buffer {
  const members: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { path, bytes } of files) {
    if (!/^[\x21-\x7e]+$/.test(path)) throw new RangeError(`${path} is not in ASCII`);
    const name = Buffer.from(path);
    const deflated = deflateRawSync(bytes);
    const common = commonFields(name, bytes, deflated);
    const member = Buffer.concat([bytes4(0x04034b50), common, name, deflated]);
    members.push(member);
    directory.push(
      bytes4(0x02014b50),
      bytes2(MADE_BY),
      common,
      // No comment, one disk, no internal attributes.
      Buffer.alloc(6),
      bytes4(MODE * 2 ** 16),
      bytes4(offset),
      name,
    );
    offset += member.length;
  }
  const listed = Buffer.concat(directory);
  const end = [
    bytes4(0x06054b50),
    // This disk, and that of the directory.
    Buffer.alloc(4),
    bytes2(files.length),
    bytes2(files.length),
    bytes4(listed.length),
    bytes4(offset),
    Buffer.alloc(2),
  ];
  return Buffer.concat([...members, listed, ...end]);
}

/** The fields that a file's own header shares with its entry in the directory. */
function commonFields(name: Buffer, bytes: Buffer, deflated: Buffer): Buffer {
  return Buffer.concat([
    bytes2(VERSION),
    bytes2(0),
    bytes2(DEFLATED),
    bytes2(0),
    bytes2(DATE),
    bytes4(crc32(bytes)),
    bytes4(deflated.length),
    bytes4(bytes.length),
    bytes2(name.length),
    bytes2(0),
  ]);
}

function bytes2(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function bytes4(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
