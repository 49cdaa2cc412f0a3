import { execFile, execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CreatePaymentBodySchema } from '#schemas/create-payment.ts';
import {
  EventDeliverySchema,
  ListEventsQuerySchema,
  RecordedEventSchema,
} from '#schemas/list-events.ts';
import { ListPaymentsQuerySchema } from '#schemas/list-payments.ts';
import { PaymentSchema } from '#schemas/payment.ts';
import { LIBRARIES, packLibrary } from '#surfaces/docs/downloads/libraries.ts';
import { packTarGz } from '#surfaces/docs/downloads/tar.ts';
import { packWooCommerce, WOOCOMMERCE_PATH } from '#surfaces/docs/downloads/woocommerce.ts';
import { packZip } from '#surfaces/docs/downloads/zip.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';

const run = promisify(execFile);
const CLIENTS = resolve(import.meta.dirname, '../../clients');
const { version } = JSON.parse(readFileSync(resolve(CLIENTS, '../package.json'), 'utf8'));
/** Files of the libraries that git tracks, without local builds. */
const TRACKED = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: CLIENTS,
  encoding: 'utf8',
})
  .trim()
  .split('\n');

let service: TestApp;
let directory: string;
beforeAll(async () => {
  service = await startTestApp();
  directory = await mkdtemp(join(tmpdir(), 'eps-archives-'));
});
afterAll(async () => {
  await service.close();
  await rm(directory, { recursive: true, force: true });
});

/** Unpacks an archive with the system's tools; returns texts by path. */
async function unpack(name: string, bytes: Buffer): Promise<Map<string, string>> {
  const folder = await mkdtemp(join(directory, 'unpacked-'));
  const archive = join(directory, name);
  await writeFile(archive, bytes);
  const isZip = name.endsWith('.zip');
  await (isZip
    ? run('unzip', ['-q', archive, '-d', folder])
    : run('tar', ['-xzf', archive, '-C', folder]));
  const files = globSync('**', { cwd: folder, withFileTypes: true }).filter(file => file.isFile());
  return new Map(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(folder.length + 1), readFileSync(path, 'utf8')];
    }),
  );
}

describe.each(LIBRARIES)('GET $path', library => {
  const { path, folder } = library;

  test('is every file of the library, in one folder', async () => {
    const { statusCode, headers, rawPayload } = await service.app.inject({ url: path });
    const ending = path.slice(path.indexOf('.', '/client.'.length) + 1);
    expect(statusCode).toBe(200);
    expect(headers).toMatchObject({
      'content-type': path.endsWith('.zip') ? 'application/zip' : 'application/gzip',
      'content-disposition': `attachment; filename="external-payments-${folder}-${version}.${ending}"`,
      'cache-control': 'public, no-cache',
    });
    const unpacked = await unpack(`${folder}.${ending}`, rawPayload);
    const top = path.endsWith('.zip') ? '' : `-${version}`;
    const expected = TRACKED.filter(file => file.startsWith(`${folder}/`)).map(file => [
      file.replace(folder, `external-payments-${folder}${top}`),
      readFileSync(join(CLIENTS, file), 'utf8'),
    ]);
    expect(expected.length).toBeGreaterThan(5);
    expect(unpacked).toEqual(new Map(expected as [string, string][]));
    const asked = { 'if-none-match': headers.etag };
    expect(await service.app.inject({ url: path, headers: asked })).toMatchObject({
      statusCode: 304,
      body: '',
    });
  });

  test('is the same bytes again', () => {
    expect(packLibrary(library).bytes.equals(packLibrary(library).bytes)).toBe(true);
  });

  test('names every field of a payment, of a creation, of an event and of their lists', () => {
    const text = TRACKED.filter(file => file.startsWith(`${folder}/`))
      .map(file => readFileSync(join(CLIENTS, file), 'utf8'))
      .join();
    for (const { properties } of [
      ...[PaymentSchema, CreatePaymentBodySchema, ListPaymentsQuerySchema],
      ...[RecordedEventSchema, EventDeliverySchema, ListEventsQuerySchema],
    ]) {
      const missing = Object.keys(properties).filter(
        name => !new RegExp(`\\b${name}\\b`).test(text),
      );
      expect(missing).toEqual([]);
    }
  });
});

describe('GET /client.woocommerce.zip', () => {
  test('is the plugin, with the PHP library in a namespace of its own', async () => {
    const { headers, rawPayload } = await service.app.inject({ url: WOOCOMMERCE_PATH });
    expect(headers).toMatchObject({
      'content-type': 'application/zip',
      'content-disposition': `attachment; filename="external-payments-woocommerce-${version}.zip"`,
    });
    expect(packWooCommerce().bytes.equals(rawPayload)).toBe(true);
    const unpacked = await unpack('woocommerce.zip', rawPayload);
    const plugin = TRACKED.filter(file => file.startsWith('woocommerce/'));
    const library = TRACKED.filter(file => file.startsWith('php/src/'));
    const paths = [...plugin, ...library].map(file =>
      file.replace('php/src', 'library').replace(/^(?:woocommerce\/)?/, 'external-payments/'),
    );
    expect([...unpacked.keys()].toSorted()).toEqual(paths.toSorted());
    for (const [path, text] of unpacked) {
      if (!path.startsWith('external-payments/library/')) continue;
      expect(text).toContain('\nnamespace ExternalPayments\\WooCommerce\\Library;\n');
      expect(text).not.toMatch(/(?<!ExternalPayments\\WooCommerce\\)\bPsr\\/);
    }
    const main = unpacked.get('external-payments/external-payments.php');
    expect(main).toContain(`\n * Version:              ${version}\n`);
    expect(main).toContain(`const VERSION = '${version}';`);
    expect(unpacked.get('external-payments/readme.txt')).toContain(`\nStable tag: ${version}\n`);
  });
});

test('the libraries have the service’s version', () => {
  const [, python] =
    /^version = "(.*)"$/m.exec(readFileSync(join(CLIENTS, 'python/pyproject.toml'), 'utf8')) ?? [];
  expect(python).toBe(version);
  const composer = JSON.parse(readFileSync(join(CLIENTS, 'php/composer.json'), 'utf8'));
  expect(composer.version).toBe(version);
});

describe('the archives', () => {
  const files = [
    { path: 'a/empty', bytes: Buffer.alloc(0) },
    { path: 'a/b/block', bytes: Buffer.alloc(512, 'x') },
    { path: 'a/text', bytes: Buffer.from('Grüße\n'.repeat(1000)) },
  ];

  test.each([
    ['a.zip', packZip],
    ['a.tar.gz', packTarGz],
  ] as const)('%s has files of any size', async (name, pack) => {
    const expected = files.map(({ path, bytes }) => [path, bytes.toString()] as const);
    expect(await unpack(name, pack(files))).toEqual(new Map(expected));
  });

  test('have no names that they cannot store', () => {
    for (const path of ['', 'ä', 'a b', 'a\n']) {
      const file = { path, bytes: Buffer.alloc(0) };
      expect(() => packZip([file])).toThrow(RangeError);
      expect(() => packTarGz([file])).toThrow(RangeError);
    }
    expect(() => packTarGz([{ path: 'a'.repeat(100), bytes: Buffer.alloc(0) }])).toThrow(
      RangeError,
    );
  });
});
