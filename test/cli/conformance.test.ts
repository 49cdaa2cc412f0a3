import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { answerOf } from '#cli/client/conformance-answer.ts';
import { compareAnswers, judgeRequest, judgeWebhook } from '#cli/client/conformance-judge.ts';
import { type RequestVector, SIGNING_VECTORS } from '#signing/vectors/index.ts';
import { mpHere } from './mp.ts';
import { answerStrangely, REQUEST_MISTAKES, WEBHOOK_MISTAKES } from './stranger.ts';

/** No database: the examples do not need one. */
const ENV = { DATABASE_URL: 'not a database' };
const { requests, webhooks } = SIGNING_VECTORS;
const [CREATION] = requests;
if (CREATION === undefined) throw new Error('there is no example');

const commandOf = (mistake = '') =>
  `${JSON.stringify(process.execPath)} ${join(import.meta.dirname, 'stranger.ts')} ${mistake}`;
const conformance = (...args: string[]) => mpHere(['conformance', ...args], ENV);

/** The errors found in an implementation with a mistake, by example. */
function judge(mistake?: string): Map<string, string[]> {
  const document = (given: object) => answerStrangely(given as RequestVector['given'], mistake);
  const judged = [
    ...requests.map(each => [each.name, judgeRequest(each, { ...document(each.given) })] as const),
    ...webhooks.map(each => [each.name, judgeWebhook(each, { ...document(each.given) })] as const),
  ];
  return new Map(judged.filter(([, mistakes]) => mistakes.length > 0));
}

test('an implementation by the guides passes', () => {
  expect(judge()).toEqual(new Map());
});

describe('a mistake is named, and every other example passes', () => {
  test.each(Object.keys(REQUEST_MISTAKES))('%s', mistake => {
    const wrong = judge(mistake);
    expect(wrong.size).toBeGreaterThan(0);
    for (const [name, mistakes] of wrong) {
      // Every method is a mistake of its own.
      const made = mistake.replace(
        'post',
        requests.find(each => each.name === name)?.given.method.toLowerCase() ?? '',
      );
      expect([name, mistakes.join(' ')]).toEqual([name, expect.stringContaining(`with ${made}`)]);
    }
  });

  test.each(Object.keys(WEBHOOK_MISTAKES))('%s', mistake => {
    const named = [...judge(mistake).values()].flat();
    expect(named).toContainEqual(expect.stringContaining(`The command ${mistake}`));
  });
});

describe('of the headers', () => {
  const { given, expected } = CREATION;

  test('each missing or different one is named', () => {
    const { 'X-MP-PASSPHRASE': _left, ...headers } = expected.headers;
    expect(judgeRequest(CREATION, { headers: { ...headers, 'X-MP-KEY-ID': 'mpk_1' } })).toEqual([
      `The header X-MP-KEY-ID is "mpk_1" in place of "${given.keyId}".`,
      'The header X-MP-PASSPHRASE is missing.',
    ]);
    const { 'X-MP-SIGNATURE': _signature, ...unsigned } = expected.headers;
    expect(judgeRequest(CREATION, { headers: unsigned })).toEqual([
      'The header X-MP-SIGNATURE is missing.',
    ]);
    for (const none of [{}, { headers: null }, { headers: 'x' }]) {
      expect(judgeRequest(CREATION, none)).toHaveLength(1);
    }
  });

  test('names are compared in any case', () => {
    const lower = Object.entries(expected.headers).map(([name, value]) => [
      name.toLowerCase(),
      value,
    ]);
    expect(judgeRequest(CREATION, { headers: Object.fromEntries(lower) })).toEqual([]);
  });

  test('another nonce is the only mistake, if it is signed as well', () => {
    const other = `The header X-MP-NONCE is "own" in place of "${given.nonce}".`;
    const own = answerStrangely({ ...given, nonce: 'own' });
    expect(judgeRequest(CREATION, { ...own })).toEqual([other]);
    const twice = answerStrangely({ ...given, nonce: 'own' }, 'the method "post"');
    expect(judgeRequest(CREATION, { ...twice })).toEqual([
      other,
      expect.stringContaining('with the method "post"'),
    ]);
  });

  test('another nonce that is signed, and not sent, shows when the same is signed again', () => {
    const sent = (nonce: string) => answerStrangely({ ...given, nonce }) as { headers: object };
    const signed = (nonce: string) => ({
      headers: { ...sent(nonce).headers, 'X-MP-NONCE': given.nonce },
    });
    const one = signed('one');
    expect(judgeRequest(CREATION, one)).toEqual([expect.stringContaining('none of the usual')]);
    expect(compareAnswers(one, signed('two'))).toContain('made with another nonce or timestamp');
    expect(compareAnswers(one, one)).toBeUndefined();
    expect(compareAnswers({ ...sent('one') }, { ...sent('two') })).toBeUndefined();
    expect(compareAnswers({}, {})).toBeUndefined();
  });
});

test('a webhook’s result is yes or no', () => {
  const [webhook] = webhooks;
  if (webhook === undefined) throw new Error('there is no example');
  for (const document of [{}, { valid: 'true' }, { valid: 1 }]) {
    expect(judgeWebhook(webhook, document)).toHaveLength(1);
  }
});

describe('mp conformance', () => {
  test('runs the command for each example, and prints the errors', async () => {
    const args = ['--command', commandOf("'the path without its query'"), '--only', 'requests'];
    const { status, out, err } = await conformance(...args);
    expect({ status, err }).toEqual({ status: 1, err: '' });
    const wrong = requests.filter(({ given }) => given.path.includes('?')).map(({ name }) => name);
    expect([...out.matchAll(/^WRONG {2}(.+)$/gm)].map(([, name]) => name)).toEqual(wrong);
    const lines = out.match(/^ {7}The .* with the path without its query\. Sign path and query/gm);
    expect(lines).toHaveLength(wrong.length);
    const right = requests.length - wrong.length;
    expect(out.match(/^right {2}/gm)).toHaveLength(right);
    expect(out).toContain(`\n${right} of ${requests.length} are right.\n`);
  });

  test('runs it again where it is wrong, which shows a nonce of its own', async () => {
    const random = '$(od -An -N8 -tx1 /dev/urandom | tr -d " ")';
    const command = `printf '{"headers":{"X-MP-SIGNATURE":"%s"}}' ${random}`;
    const { out } = await conformance('--command', command, '--only', 'requests', '--json');
    const { examples } = JSON.parse(out);
    expect(examples).toHaveLength(requests.length);
    for (const { mistakes } of examples) {
      expect(mistakes).toEqual([expect.stringContaining('another nonce or timestamp')]);
    }
  });

  test('prints what the command said on lines of their own', async () => {
    const command = 'printf "Traceback:\\r\\n  no secret\\n" >&2; exit 1';
    const { out } = await conformance('--command', command, '--only', 'webhooks');
    expect(out).toContain('       The command ended with 1. Traceback:\n         no secret\n');
    expect(out).not.toContain('\\');
  });

  test('reports what a command without a result did', async () => {
    const only = ['--only', 'webhooks'];
    const printed = async (command: string) => {
      const { status, out } = await conformance('--command', command, ...only, '--json');
      expect(status).toBe(1);
      const { conforms, examples } = JSON.parse(out);
      expect(conforms).toBe(false);
      expect(examples).toHaveLength(webhooks.length);
      const mistakes = new Set(examples.flatMap((each: { mistakes: string[] }) => each.mistakes));
      return [...mistakes].join();
    };
    expect(await printed('echo no file >&2; exit 3')).toBe('The command ended with 3. no file');
    expect(await printed('echo []')).toBe('The command printed no JSON object: []');
    expect(await printed('true')).toBe('The command printed no JSON object: nothing');
    expect(await printed('kill -9 $$')).toBe('The command ended with SIGKILL.');
  });

  test('reports a command whose output never ends', async () => {
    expect(await conformance('--command', 'yes')).toEqual({
      status: 1,
      out: '',
      err: 'The command prints without an end.\n',
    });
  });

  test('gives up a command that takes too long', async () => {
    const answer = answerOf('sleep 600', {}, { env: ENV, timeoutMs: 100 });
    await expect(answer).rejects.toThrow('The command did not end within 0.1 seconds.');
  });

  test('on Ctrl-C ends the command’s process, and starts no other', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const program = `require('node:net').connect(${port}, '127.0.0.1')`;
    const controller = new AbortController();
    const { signal } = controller;
    const command = `${JSON.stringify(process.execPath)} -e "${program}" & wait`;
    const answer = expect(answerOf(command, {}, { env: ENV, signal })).rejects;
    const [connection] = await once(server, 'connection');
    const ended = once(
      connection.on('error', () => undefined),
      'close',
    );
    controller.abort();
    await answer.toThrow('Interrupted.');
    await ended;
    await expect(answerOf('true', {}, { env: ENV, signal })).rejects.toThrow('Interrupted.');
    server.close();
  });
});
