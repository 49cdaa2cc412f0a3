import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { stat, utimes } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import Fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CLIENT_COMMANDS } from '#cli/client/commands.ts';
import { buildIfStale } from '#surfaces/docs/client-package/build.ts';
import { packageFile, readClientPackage } from '#surfaces/docs/client-package/package-file.ts';
import { registerClientPackage } from '#surfaces/docs/client-package/serve.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';

const { version, dependencies } = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
);

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

/** Files of a tar archive (POSIX ustar) by path. */
function filesOf(archive: Buffer): Map<string, string> {
  const tar = gunzipSync(archive);
  const files = new Map<string, string>();
  for (let offset = 0; tar[offset] !== 0 && offset < tar.length; ) {
    const name = tar.toString('latin1', offset, offset + 100).replace(/\0.*$/s, '');
    const size = Number.parseInt(tar.toString('latin1', offset + 124, offset + 135), 8);
    files.set(name, tar.toString('utf8', offset + 512, offset + 512 + size));
    offset += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
}

describe('GET /client.tgz', () => {
  test('is the package whose integrity the documentation shows', async () => {
    const { statusCode, headers, rawPayload } = await service.app.inject({ url: '/client.tgz' });
    expect(statusCode).toBe(200);
    const integrity = `sha512-${createHash('sha512').update(rawPayload).digest('base64')}`;
    expect(headers).toMatchObject({
      'content-type': 'application/gzip',
      'content-length': String(rawPayload.length),
      'content-disposition': `attachment; filename="external-payments-client-${version}.tgz"`,
      'cache-control': 'public, no-cache',
      etag: `"${integrity}"`,
    });
    const [client, quickstart] = await Promise.all(
      ['client', 'quickstart'].map(async slug => {
        return (await service.app.inject({ url: `/docs/${slug}.md` })).body;
      }),
    );
    expect(client).toContain(`| ${version} | \`${integrity}\` |`);
    expect(quickstart).toContain(`version ${version}, with the integrity \`${integrity}\``);
    for (const page of [client, quickstart])
      expect(page).toContain('\nnpm install https://pay.example.test/client.tgz\n');
  });

  test('is not sent again to a client that has it', async () => {
    const { headers } = await service.app.inject({ url: '/client.tgz' });
    const asked = { 'if-none-match': headers.etag };
    const again = await service.app.inject({ url: '/client.tgz', headers: asked });
    expect(again).toMatchObject({ statusCode: 304, body: '' });
    expect(again.headers.etag).toBe(headers.etag);
    const other = { 'if-none-match': '"sha512-AAAA"' };
    expect((await service.app.inject({ url: '/client.tgz', headers: other })).statusCode).toBe(200);
  });
});

test('a service that has no package says so', async () => {
  const app = Fastify();
  registerClientPackage(app, undefined);
  let refused: unknown;
  app.addHook('onError', async (_request, _reply, error) => {
    refused = error;
  });
  await app.inject({ url: '/client.tgz' });
  expect(refused).toMatchObject({ errorCode: 'E3001' });
});

describe('the package', () => {
  const files = filesOf(readClientPackage()?.bytes ?? Buffer.alloc(0));

  test('needs no other package and no file beyond its own', () => {
    const manifest = JSON.parse(files.get('package/package.json') ?? '{}');
    expect(manifest).toMatchObject({ name: 'external-payments-client', version, type: 'module' });
    expect(Object.keys(manifest).filter(key => /dependencies|scripts/i.test(key))).toEqual([]);
    const imports = [...files].flatMap(([file, text]) =>
      file.endsWith('.md')
        ? []
        : [...text.matchAll(/ (?:from |import\()'([^']+)'/g)].map(([, target = '']) => ({
            file,
            target,
          })),
    );
    expect(imports.length).toBeGreaterThan(20);
    // Only `mp mcp` imports its SDK, and says how to install it.
    const isElsewhere = (target: string) => /^node:|^@modelcontextprotocol\/server/.test(target);
    for (const { file, target } of imports.filter(({ target }) => !isElsewhere(target))) {
      const path = new URL(target, `file:///${file}`).pathname.slice(1);
      // Types may come from a file that no program imports.
      const found = [path, path.replace(/\.js$/, '.d.ts')].some(candidate => files.has(candidate));
      expect({ file, target, found }).toEqual({ file, target, found: true });
    }
    for (const name of Object.keys(dependencies)) {
      const users = [...files].filter(([, text]) => text.includes(`'${name}'`));
      expect(users.map(([file]) => file)).toEqual([]);
    }
  });

  test('has a README and a program', () => {
    const { bin } = JSON.parse(files.get('package/package.json') ?? '{}');
    expect(files.get(`package/${bin.mp}`)).toMatch(/^#!\/usr\/bin\/env node\n/);
    const readme = files.get('package/README.md') ?? '';
    for (const name of Object.keys(CLIENT_COMMANDS))
      expect(readme).toContain(`npx --no mp ${name}`);
  });

  test('describes each field in its types', () => {
    const types = files.get('package/schemas.d.ts') ?? '';
    expect(types).toContain('/** USD cents. */\n    amount: number;');
    expect(types).toContain('settlementModel: "split" | "direct" | null;');
    expect(types).toContain('data: Array<PaymentObject>;');
    expect(types).not.toMatch(/: (any|unknown)\b/);
  });

  test('is rebuilt when a source is newer, with the same bytes', async () => {
    const file = packageFile(version);
    const before = readClientPackage();
    await utimes(file, 0, 0);
    await buildIfStale();
    expect(readClientPackage()?.integrity).toBe(before?.integrity);
    const { mtimeMs } = await stat(file);
    expect(mtimeMs).toBeGreaterThan(0);
    await buildIfStale();
    expect((await stat(file)).mtimeMs).toBe(mtimeMs);
  });
});
