import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const FILE = 'master-key';

/**
 * The master key generated for this data directory, made when there is none yet.
 *
 * The file appears whole or not at all, readable by its owner only; of several processes that make
 * one at the same time, one wins and all use it.
 *
 * @returns 32 bytes.
 */
export async function generatedMasterKey(dataDirectory: string): Promise<Buffer> {
  const path = join(dataDirectory, FILE);
  const existing = await readKey(path);
  if (existing !== undefined) return existing;

  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flush: true });
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
    return Buffer.from(await readFile(path, 'utf8'), 'base64');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
