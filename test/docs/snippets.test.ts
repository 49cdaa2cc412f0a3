import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { webhookHeaders } from '../../src/webhooks/signature.ts';
import { addMerchant } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';

const run = promisify(execFile);

/** The programs by the names of their languages, what runs them, and what else they need. */
const PROGRAMS = [
  { name: 'Shell', file: 'payment.sh', command: 'sh', needs: ['curl', 'openssl'] },
  { name: 'Node.js', file: 'payment.mjs', command: process.execPath, needs: [] },
  { name: 'Python', file: 'payment.py', command: 'python3', needs: [] },
  { name: 'PHP', file: 'payment.php', command: 'php', needs: [] },
];

function isInstalled(command: string): boolean {
  try {
    execFileSync(command, [command === 'openssl' ? 'version' : '--version'], { stdio: 'ignore' });
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}

let service: TestApp;
let directory: string;
let origin: string;

beforeAll(async () => {
  service = await startTestApp();
  // The programs take the time from their machine.
  service.clock.now = Date.now();
  origin = await service.app.listen({ host: '127.0.0.1', port: 0 });
  directory = await mkdtemp(join(tmpdir(), 'eps-snippets-'));
});
afterAll(async () => {
  await service.close();
  await rm(directory, { recursive: true, force: true });
});

/** The program as a reader copies it: from below its language on the rendered page. */
async function copyFromPage(name: string): Promise<string> {
  const { body } = await service.app.inject({ url: '/docs/signing' });
  return copyFirst(body.split(`<div class="language"><p>${name}</p>`)[1] ?? '');
}

function copyFirst(below: string): string {
  const [, code = ''] = /<pre[^>]*><code[^>]*>([\s\S]*?)<\/code><\/pre>/.exec(below) ?? [];
  return code
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}

for (const { name, file, command, needs } of PROGRAMS) {
  const missing = [command, ...needs].filter(needed => !isInstalled(needed));
  const title = missing.length === 0 ? name : `${name}: ${missing.join(' and ')} is not installed`;

  describe.skipIf(missing.length > 0)(title, () => {
    test('creates a payment and reads it back, as it stands on the page', async () => {
      const shop = await addMerchant(service);
      const path = join(directory, file);
      await writeFile(path, await copyFromPage(name));
      const start = () =>
        run(command, [path], {
          timeout: 15_000,
          env: {
            PATH: process.env.PATH ?? '',
            MP_URL: origin,
            MP_KEY_ID: shop.keyId,
            MP_SECRET: shop.secret,
            MP_PASSPHRASE: shop.passphrase,
          },
        });
      const { stdout, stderr } = await start();
      expect(stderr).toBe('');
      // Once more: the idempotency key keeps it at one payment.
      await start();
      const payments = await service.db
        .selectFrom('payments')
        .select(['id', 'amount', 'customer_reference_id'])
        .where('merchant_id', '=', shop.merchant.id)
        .execute();
      expect(payments).toMatchObject([{ amount: 5000, customer_reference_id: 'order-1001' }]);
      const [read = ''] = stdout.trim().split('\n').slice(-1);
      expect(read).toContain(payments[0]?.id);
      expect(read).toContain('pending');
      expect(stdout).toContain('https://pay.example.test/checkout/');
    });

    test('ends with an error when it is refused', async () => {
      const path = join(directory, file);
      await writeFile(path, await copyFromPage(name));
      const env = { MP_KEY_ID: 'mpk_0', MP_SECRET: 'mps_0', MP_PASSPHRASE: 'p', MP_URL: origin };
      const failure = await run(command, [path], {
        timeout: 15_000,
        env: { PATH: process.env.PATH ?? '', ...env },
      }).catch(error => error);
      expect(failure.code).not.toBe(0);
      expect(`${failure.stdout}${failure.stderr}`).toContain('E2004');
    });
  });
}

const python = isInstalled('python3');

test.skipIf(!python)(
  python ? 'the Python that verifies webhooks takes ours and no other' : 'python3 is not installed',
  async () => {
    const { body } = await service.app.inject({ url: '/docs/webhooks' });
    const path = join(directory, 'webhook.py');
    await writeFile(
      path,
      `${copyFirst(body.split('<div class="language"><p>Python</p>')[1] ?? '')}

import json, sys
secret, headers, body = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3].encode()
verify(secret, headers, body)
try:
    verify(secret, headers, body + b" ")
except ValueError as refused:
    print(refused)
`,
    );
    const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;
    const timestamp = String(Math.floor(Date.now() / 1000));
    const message = { id: 'e', timestamp, body: '{"a":1}' };
    // As after a rotation: the second signature is the one that counts.
    const headers = webhookHeaders([secretOf(8), secretOf(7)], message);
    const argv = [path, secretOf(7), JSON.stringify(headers), message.body];
    const { stdout } = await run('python3', argv, { timeout: 15_000 });
    expect(stdout).toBe('no signature matches\n');
  },
);
