import { createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CREATE_VECTOR, LIST_VECTOR } from '../signing/vector.ts';
import { type Environment, mpHere } from './mp.ts';

const { secret, timestamp, nonce, path, body, signature, keyId } = CREATE_VECTOR;
const SHOWN_ONCE = 'a-passphrase';
/** No database: an explanation does not need one. */
const ENV: Environment = {
  MP_KEY_ID: keyId,
  MP_SECRET: secret,
  MP_PASSPHRASE: SHOWN_ONCE,
  DATABASE_URL: 'not a database',
};
const SENT = ['--timestamp', timestamp, '--nonce', nonce];
const CREATE = ['explain', 'POST', path, '--body', body, ...SENT];
const CANONICAL = `${timestamp}\n${nonce}\nPOST\n${path}\n${body}`;

interface Explained {
  matches: boolean | null;
  explanation: string | null;
  findings: { component: string }[];
  notes: string[];
  canonicalRequest: string;
  sha256: string;
  expectedSignature: string;
  headers: Record<string, string>;
}

async function explain(args: readonly string[], env = ENV): Promise<[number, Explained]> {
  const { status, out, err } = await mpHere([...args, '--json'], env);
  expect(err).toBe('');
  expect(out).not.toContain(secret.slice(4));
  expect(out).not.toContain(SHOWN_ONCE);
  return [status, JSON.parse(out)];
}

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'eps-explain-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

test('a right signature matches', async () => {
  const { status, out, err } = await mpHere([...CREATE, '--signature', signature], ENV);
  expect({ status, err }).toEqual({ status: 0, err: '' });
  expect(out).toContain(
    `  ${timestamp}␊\n  ${nonce}␊\n  POST␊\n  /external/v1/payments/prompt␊\n  ${body}\n`,
  );
  expect(out).toContain('\nThe signature matches.\n');
  const list = ['explain', 'get', LIST_VECTOR.path, ...SENT, '--signature', LIST_VECTOR.signature];
  expect(await explain(list)).toMatchObject([0, { matches: true, findings: [] }]);
});

test('a different signature is explained, with status 1', async () => {
  const wrong = createHmac('sha256', secret)
    .update(CANONICAL.replace('/external/v1', ''))
    .digest('hex');
  const { status, out, err } = await mpHere([...CREATE, '--signature', wrong], ENV);
  expect({ status, err }).toEqual({ status: 1, err: '' });
  expect(out).toContain(`Expected signature  ${signature}\nGiven signature     ${wrong}\n`);
  expect(out).toContain(
    'it was made with the path without "/external/v1". Sign path and query exactly as they are sent',
  );
  expect(await explain([...CREATE, '--signature', wrong])).toMatchObject([
    1,
    { matches: false, findings: [{ component: 'path' }], expectedSignature: signature },
  ]);
});

test('of an address with the prefix of a proxy, the path is signed without it', async () => {
  const env = { ...ENV, MP_URL: 'https://pay.example.test/gateway' };
  const sent = ['explain', 'POST', env.MP_URL + path, '--body', body, ...SENT, '--signature'];
  expect(await explain([...sent, signature], env)).toMatchObject([0, { matches: true }]);
  const signed = CANONICAL.replace(path, `/gateway${path}`);
  const wrong = createHmac('sha256', secret).update(signed).digest('hex');
  for (const target of [env.MP_URL + path, `/gateway${path}`, path]) {
    const [status, { explanation }] = await explain([...sent.with(2, target), wrong], env);
    expect([status, explanation]).toEqual([1, expect.stringContaining('the prefix "/gateway"')]);
  }
});

test('without a signature it shows what one is made of', async () => {
  const [status, made] = await explain(CREATE);
  expect(status).toBe(0);
  expect(made).toMatchObject({
    matches: null,
    explanation: null,
    canonicalRequest: CANONICAL,
    expectedSignature: signature,
    headers: {
      'X-MP-KEY-ID': keyId,
      'X-MP-TIMESTAMP': timestamp,
      'X-MP-NONCE': nonce,
      'X-MP-SIGNATURE': signature,
      'Content-Type': 'application/json',
    },
  });
  const { out } = await mpHere(['explain', 'GET', '/external/v1/payments'], ENV);
  const [, now = ''] = /X-MP-TIMESTAMP: (\d+)\n/.exec(out) ?? [];
  const [, fresh = ''] = /X-MP-NONCE: ([0-9a-f-]{36})\n/.exec(out) ?? [];
  const expected = createHmac('sha256', secret)
    .update(`${now}\n${fresh}\nGET\n/external/v1/payments\n`)
    .digest('hex');
  expect(out).toContain(`  X-MP-SIGNATURE: ${expected}\n`);
  expect(out).not.toContain('Note:');
});

test('the secret alone suffices, and other given values are recognised', async () => {
  const signed = createHmac('sha256', SHOWN_ONCE).update(CANONICAL).digest('hex');
  const args = [...CREATE, '--signature', signed];
  const [, known] = await explain(args);
  expect(known.explanation).toContain('with the passphrase in place of the secret');
  const [, unknown] = await explain(args, { MP_SECRET: secret });
  expect(unknown.explanation).toContain('none of the usual mistakes explains it');
  expect(unknown.headers['X-MP-KEY-ID']).toBe('(your key ID)');
});

test('the demo keys sign if no secret is given, and each is named', async () => {
  const demo = Object.fromEntries(
    ['merchant', 'us', 'partner', 'linked'].map((role, index) => {
      return [role, { keyId, secret: `mps_${`${index}`.repeat(64)}`, passphrase: SHOWN_ONCE }];
    }),
  );
  await writeFile(join(directory, 'demo.json'), JSON.stringify(demo));
  const env = { DATA_DIRECTORY: directory };
  const signed = createHmac('sha256', demo.partner?.secret ?? '')
    .update(CANONICAL)
    .digest('hex');
  const args = [...CREATE, '--signature', signed];
  const [status, merchant] = await explain(args, env);
  expect(status).toBe(1);
  expect(merchant.explanation).toContain('with the secret of the demo key "partner"');
  expect(
    await explain([...args, '--as', 'partner'], { ...env, ...ENV, DATA_DIRECTORY: directory }),
  ).toMatchObject([0, { matches: true }]);

  const none = await mpHere(CREATE, { DATA_DIRECTORY: join(directory, 'none') });
  expect(none).toMatchObject({ status: 1, out: '' });
  expect(none.err).toContain('Otherwise set MP_SECRET.');
});

test('a whole URL is reduced to its path, and recognised if it was signed', async () => {
  const url = `https://pay.example.com${path}`;
  const args = ['explain', 'POST', url, '--body', body, ...SENT, '--signature'];
  expect(await explain([...args, signature])).toMatchObject([0, { canonicalRequest: CANONICAL }]);
  const signed = createHmac('sha256', secret).update(CANONICAL.replace(path, url)).digest('hex');
  const [, { explanation }] = await explain([...args, signed]);
  expect(explanation).toContain('with the whole URL in place of its path');
});

test('a body is read from a file unchanged', async () => {
  const file = join(directory, 'body.json');
  await writeFile(file, `${body}\n`);
  const args = ['explain', 'POST', path, '--body', `@${file}`, ...SENT, '--signature', signature];
  const [status, { explanation }] = await explain(args);
  expect(status).toBe(1);
  expect(explanation).toContain('the body without the blanks around it');
});

describe('notes mention', () => {
  const now = () => String(Math.floor(Date.now() / 1000));
  const list = (more: readonly string[], target = '/external/v1/payments') => {
    return ['explain', 'GET', target, '--timestamp', now(), '--nonce', 'n-1', ...more];
  };
  test.each<readonly [name: string, args: () => string[], note: RegExp]>([
    [
      'milliseconds',
      () => list(['--timestamp', `${now()}000`]),
      /E2003.*milliseconds; send seconds/,
    ],
    [
      'a timestamp out of the window',
      () => list(['--timestamp', timestamp]),
      /E2003.* at most 300/,
    ],
    ['a timestamp that is none', () => list(['--timestamp', 'today']), /E2002/],
    ['a nonce with a blank', () => list(['--nonce', 'a b']), /E2001.*visible ASCII/],
    ['a nonce too long', () => list(['--nonce', 'n'.repeat(256)]), /E2001/],
    ['a path that clients encode', () => list([], '/external/v1/payments?r=a b'), /r=a%20b: sign/],
    ['a body of a GET', () => list(['--body', '{}']), /without a body/],
  ])('%s', async (_name, args, note) => {
    const [status, { notes }] = await explain(args());
    expect(status).toBe(0);
    expect(notes).toEqual([expect.stringMatching(note)]);
    const { out } = await mpHere(args(), ENV);
    expect(out).toMatch(new RegExp(`\nNote: .*${note.source}`));
  });

  test('a value that is no secret', async () => {
    const [, { notes }] = await explain(list([]), { ...ENV, MP_SECRET: secret.slice(4) });
    expect(notes).toEqual([expect.stringContaining('MP_SECRET is no secret of an API key')]);
  });

  test('nothing if nothing is wrong', async () => {
    expect(await explain(list([]))).toMatchObject([0, { notes: [] }]);
  });
});
