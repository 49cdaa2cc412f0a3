import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { DRAIN_MS } from '#http/graceful-close.ts';
import type { MerchantWithKey } from '../helpers/accounts.ts';
import { cloneDatabase, type TestDatabase } from '../helpers/database.ts';
import { readResponses, render } from '../helpers/raw-http.ts';
import { SOON } from '../helpers/soon.ts';
import { watchStalls } from '../helpers/stalls.ts';
import { openAccounts } from './accounts.ts';
import { type ServiceProcess, serviceEnvironment, sign, startReplica } from './service-process.ts';

/** How a replica that is told to stop treats connections that still come. */

const LIST = '/external/v1/payments';
/** How long after the signal connections are still opened; a balancer that checks once a second notices earlier. */
const ASKED_MS = DRAIN_MS - 500;
/** What is sent up to this long after the signal must get a response; a timer may fire a millisecond early. */
const SERVED_MS = DRAIN_MS - 10;

const masterKey = randomBytes(32);
let database: TestDatabase;
let shop: MerchantWithKey;
let replica: ServiceProcess;
let signalledAt = Number.POSITIVE_INFINITY;
const stalls = watchStalls();

beforeAll(async () => {
  database = await cloneDatabase();
  ({ shop } = await openAccounts(database.db, masterKey));
  replica = await startReplica(serviceEnvironment(database.url, masterKey));
});
afterAll(async () => {
  stalls.stop();
  await replica.stop('SIGKILL');
  await database.drop();
});

const dial = (count: number) =>
  Array.from({ length: count }, () => connect(replica.port, '127.0.0.1'));

interface Outcome {
  /** The status, or how the connection ended without one. */
  readonly outcome: number | string;
  /** Whether the replica's host had all of the request before the replica stopped accepting. */
  readonly inTime: boolean;
}

/** Requests a list. */
async function ask(socket: Socket): Promise<Outcome> {
  const isInTime = () => performance.now() < signalledAt + SERVED_MS;
  try {
    if (socket.connecting) await once(socket, 'connect');
  } catch {
    return { outcome: 'refused', inTime: isInTime() };
  }
  const { headers } = sign(shop, LIST);
  socket.write(render({ method: 'GET', target: LIST, headers: Object.entries(headers) }));
  const inTime = isInTime();
  const closed = { answers: [], end: 'closed' } as const;
  const { answers, end } = socket.destroyed ? closed : await readResponses(socket, 1);
  return { outcome: answers[0]?.statusCode ?? end, inTime };
}

test('SIGTERM cuts no connection until a balancer that checks each second turns away', async () => {
  const silent = dial(40);
  await Promise.all(silent.map(socket => once(socket, 'connect')));

  // These may not even be accepted when the signal arrives. In total they are fewer than a key may have in flight,
  // however slow the machine is.
  const justBefore = dial(85).map(ask);
  const began = stalls.now();
  signalledAt = performance.now();
  const stopped = replica.stop();
  const answers = [...justBefore, ...dial(40).map(ask)];
  // The first check may come before the signal has reached it.
  await vi.waitUntil(async () => (await fetch(`${replica.url}/readyz`)).status === 503, SOON);
  while (performance.now() - signalledAt < ASKED_MS) {
    await sleep(50);
    answers.push(...dial(1).map(ask), ...silent.splice(-1).map(ask));
  }
  answers.push(...silent.map(ask));

  const all = await Promise.all(answers);
  expect(all.filter(({ inTime, outcome }) => inTime && outcome !== 200)).toEqual([]);
  // At least those that came with the signal.
  expect(all.filter(({ outcome }) => outcome === 200).length).toBeGreaterThanOrEqual(125);
  expect(await stopped).toBe(0);
  expect(performance.now() - signalledAt).toBeGreaterThan(DRAIN_MS);
  expect(stalls.now() - began).toBeLessThan(DRAIN_MS + 5_000);
});
