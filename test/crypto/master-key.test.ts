import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readOrCreateMasterKey } from '#crypto/master-key.ts';

let parent: string;
let directory: string;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'eps-master-key-'));
  directory = join(parent, '.data');
});
afterEach(() => rm(parent, { recursive: true }));

test('is created once and kept', async () => {
  const key = await readOrCreateMasterKey(directory);
  expect(key).toHaveLength(32);
  expect(await readOrCreateMasterKey(directory)).toEqual(key);
  const file = await readFile(join(directory, 'master-key'), 'utf8');
  expect(Buffer.from(file, 'base64')).toEqual(key);
  await rm(directory, { recursive: true });
  expect(await readOrCreateMasterKey(directory)).not.toEqual(key);
});

test('is readable by its owner only', async () => {
  await readOrCreateMasterKey(directory);
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
  expect((await stat(join(directory, 'master-key'))).mode & 0o777).toBe(0o600);
});

test('is the same for all processes that create it concurrently', async () => {
  const keys = await Promise.all(
    Array.from({ length: 50 }, () => readOrCreateMasterKey(directory)),
  );
  expect(new Set(keys.map(key => key.toString('hex'))).size).toBe(1);
  expect(await readOrCreateMasterKey(directory)).toEqual(keys[0]);
  expect(await readdir(directory)).toEqual(['master-key']);
});

test.each(['', 'c2hvcnQ=\n', 'not base64 at all'])(
  'is not accepted from a file with %j',
  async text => {
    await readOrCreateMasterKey(directory);
    await writeFile(join(directory, 'master-key'), text);
    await expect(readOrCreateMasterKey(directory)).rejects.toThrow('32 bytes');
  },
);
