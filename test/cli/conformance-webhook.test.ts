import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { freePort } from '../helpers/redis-server.ts';
import { mpHere } from './mp.ts';
import { answerStrangely, WEBHOOK_MISTAKES } from './stranger.ts';

const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const ENV = { DATABASE_URL: 'not a database', WEBHOOK_SECRET };
/** What a receiver cannot get wrong with a single secret. */
const OF_SEVERAL_SECRETS = 'tries the first secret alone';

type Answer = (body: string, headers: IncomingHttpHeaders, rawHeaders: string[]) => number;

let server: Server;
let url: string;
let answer: Answer;
let received: string[];

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const body = (await buffer(request)).toString();
    const { id } = JSON.parse(body);
    received.push(id);
    response.writeHead(answer(body, request.headers, request.rawHeaders)).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
});
beforeEach(() => {
  received = [];
});
afterAll(() => {
  server.close();
});

/** A receiver by somebody who knows only the guides, with one mistake. */
function verifying(mistake?: string): Answer {
  return (body, _headers, raw) => {
    const pairs = raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1]]] : []));
    const { valid } = answerStrangely(
      {
        kind: 'webhook',
        secrets: [WEBHOOK_SECRET],
        headers: Object.fromEntries(pairs),
        body,
        now: Math.floor(Date.now() / 1000),
        toleranceSeconds: 300,
      },
      mistake,
    ) as { valid: boolean };
    return valid ? 204 : 400;
  };
}

async function judge(receiver: Answer) {
  answer = receiver;
  const { status, out, err } = await mpHere(['conformance', '--webhook', url, '--json'], ENV);
  expect(err).toBe('');
  const { conforms, examples } = JSON.parse(out);
  expect(status).toBe(conforms ? 0 : 1);
  const wrong = examples.filter(({ mistakes }: { mistakes: string[] }) => mistakes.length > 0);
  return new Map<string, string>(
    wrong.map(({ name, mistakes }: { name: string; mistakes: string[] }) => [
      name,
      mistakes.join(),
    ]),
  );
}

test('a receiver by the guides conforms, and gets each webhook but one once', async () => {
  expect(await judge(verifying())).toEqual(new Map());
  expect(received.length).toBeGreaterThan(15);
  expect(new Set(received).size).toBe(received.length - 1);
  for (const id of received) expect(id).toMatch(/^00000000-0000-8000-8000-[0-9a-f]{12}$/);
});

test.each(Object.keys(WEBHOOK_MISTAKES).filter(name => name !== OF_SEVERAL_SECRETS))(
  'a receiver that makes a mistake is told: %s',
  async mistake => {
    const told = [...(await judge(verifying(mistake))).values()];
    expect(told).toContainEqual(expect.stringContaining(`The receiver ${mistake}`));
  },
);

test('a receiver that takes everything, nothing, or nothing twice, and one that fails or redirects', async () => {
  const everything = await judge(() => 200);
  expect(everything.get('a changed body')).toBe(
    'The receiver accepts a body that was changed (HTTP 200).',
  );
  expect(everything.get('a signature by another secret')).toContain('accepts');
  expect(everything.has('a webhook')).toBe(false);
  expect((await judge(() => 400)).has('a changed body')).toBe(false);

  const had = new Set<string>();
  const once = await judge((body, ...more) => {
    const { id } = JSON.parse(body);
    const isNew = !had.has(id);
    had.add(id);
    return isNew ? verifying()(body, ...more) : 409;
  });
  expect([...once.keys()]).toEqual(['the same webhook again']);

  expect((await judge(() => 500)).get('a webhook')).toBe('The receiver fails (HTTP 500).');
  expect((await judge(() => 302)).get('a webhook')).toContain('redirects');
});

test('it says what is missing, and where nothing answers', async () => {
  const nowhere = `http://127.0.0.1:${await freePort()}/`;
  const refused = async (args: string[], env = {}) => {
    const { status, err } = await mpHere(['conformance', ...args], { ...ENV, ...env });
    return [status, err];
  };
  expect(await refused(['--webhook', nowhere])).toEqual([
    1,
    expect.stringMatching(/gives no answer: connect ECONNREFUSED/),
  ]);
  expect(await refused(['--webhook', url], { WEBHOOK_SECRET: '' })).toEqual([
    1,
    expect.stringMatching(/^WEBHOOK_SECRET must be set/),
  ]);
  expect(await refused(['--webhook', 'shop'])).toEqual([
    1,
    expect.stringMatching(/URL is refused/),
  ]);
  const both = ['--webhook', url, '--command', 'true'];
  for (const args of [[], both]) expect((await refused(args))[0]).toBe(2);
});
