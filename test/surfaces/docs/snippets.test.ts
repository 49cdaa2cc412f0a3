import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setExampleAddresses } from '#accounts/example-addresses.ts';
import { addMerchant, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';

const run = promisify(execFile);

/** The body that each program and the quickstart's client send. */
const BODY = '{"amount":5000,"customerReferenceId":"order-1001"}';

/** The programs by language, with their interpreters and other requirements. */
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
  // The programs use their machine's time.
  service.clock.now = Date.now();
  origin = await service.app.listen({ host: '127.0.0.1', port: 0 });
  directory = await mkdtemp(join(tmpdir(), 'eps-snippets-'));
});
afterAll(async () => {
  await service.close();
  await rm(directory, { recursive: true, force: true });
});

/** The program as a reader copies it: from under its language on the rendered page. */
async function copyFromPage(name: string): Promise<string> {
  const { body } = await service.app.inject({ url: '/docs/signing' });
  const below = body.split(`<div class="language"><p>${name}</p>`)[1] ?? '';
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
    test('creates a payment and reads it back, unchanged from the page', async () => {
      const shop = await addMerchant(service);
      const path = join(directory, file);
      await writeFile(path, await copyFromPage(name));
      const start = () =>
        run(command, [path], {
          timeout: 40_000,
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
      // Again: the idempotency key keeps it at one payment.
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
      // Running several languages repeats one request: the bytes are the same.
      const { body_sha256: digest } = await service.db
        .selectFrom('idempotency_keys')
        .select('body_sha256')
        .where('account_id', '=', shop.merchant.id)
        .executeTakeFirstOrThrow();
      expect(digest.equals(createHash('sha256').update(BODY).digest())).toBe(true);
    });

    test('ends with an error when it is refused', async () => {
      const path = join(directory, file);
      await writeFile(path, await copyFromPage(name));
      const env = { MP_KEY_ID: 'mpk_0', MP_SECRET: 'mps_0', MP_PASSPHRASE: 'p', MP_URL: origin };
      const failure = await run(command, [path], {
        timeout: 40_000,
        env: { PATH: process.env.PATH ?? '', ...env },
      }).catch(error => error);
      expect(failure.code).not.toBe(0);
      expect(`${failure.stdout}${failure.stderr}`).toContain('E2004');
    });
  });
}

const shell = PROGRAMS.find(({ name }) => name === 'Shell');
const hasShell = shell?.needs.every(isInstalled);
test.skipIf(!hasShell)(
  'two more lines in a shell pay it, with the key of a test merchant',
  async () => {
    const shop = await addMerchant(service, { environment: 'test', addresses: {} });
    await setExampleAddresses(operatorOf(service), shop.merchant.id);
    const { body } = await service.app.inject({ url: '/docs/signing.md' });
    const [, lines] = /end of the shell's program [^\n]*:\n\n```sh\n(.*?)\n```/s.exec(body) ?? [];
    const { stdout, stderr } = await run('sh', ['-c', `${await copyFromPage('Shell')}\n${lines}`], {
      timeout: 40_000,
      env: {
        PATH: process.env.PATH ?? '',
        MP_URL: origin,
        MP_KEY_ID: shop.keyId,
        MP_SECRET: shop.secret,
        MP_PASSPHRASE: shop.passphrase,
      },
    });
    expect(stderr).toBe('');
    expect(stdout).toMatch(
      /"object":"simulation".*"status":"successful".*"type":"payment_prompt.successful"/s,
    );
  },
);
