import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomHex } from './random-hex.ts';

const FILE = 'master-key';
const KEY_BYTES = 32;

/**
 * Reads the master key of a data directory, and generates it when there is none.
 *
 * The file is created atomically and readable by its owner only. When several processes create it at the
 * same time, one wins and all use its key.
 *
 * @returns 32 bytes.
 * @throws Error when the file holds anything else.
 */
export async function readOrCreateMasterKey(dataDirectory: string): Promise<Buffer> {
  const path = join(dataDirectory, FILE);
  const existing = await readKey(path);
  if (existing !== undefined) return existing;

  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  // A random name: containers that share the directory may have the same process ID.
  const draft = randomHex(`${path}.`, 8);
  const text = `${randomBytes(KEY_BYTES).toString('base64')}\n`;
  await writeFile(draft, text, { mode: 0o600, flag: 'wx', flush: true });
  try {
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
  const key = await readKey(path);
  if (key === undefined) throw new Error(`${path} disappeared while it was made`);
  return key;
}

async function readKey(path: string): Promise<Buffer | undefined> {
  try {
    const key = Buffer.from(await readFile(path, 'utf8'), 'base64');
    if (key.length === KEY_BYTES) return key;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  throw new Error(`${path} does not hold ${KEY_BYTES} bytes in base64; restore it from a backup`);
}
