import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { sql } from 'kysely';
import { register } from 'prom-client';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import {
  type AnsweredRequest,
  RequestRecorder,
  ROWS_MAXIMUM,
  UNVERIFIED_MAXIMUM,
} from '#accounts/requests/recorder.ts';
import { createKeyring } from '#crypto/keyring.ts';
import { connect } from '#storage/database/connection.ts';
import { addMerchant, addPartner } from '../../helpers/accounts.ts';
import { cloneDatabase, type TestDatabase } from '../../helpers/database.ts';
import { SOON } from '../../helpers/soon.ts';

const NOW = Date.UTC(2026, 4, 17, 12, 0, 30);
const clock = Object.assign(() => NOW, { now: NOW });
const MINUTE_MS = 60_000;
const FOUND = {
  matches: false,
  readable: true,
  findings: [{ component: 'path', made: 'the path without its query', remedy: 'Sign the query.' }],
};

let database: TestDatabase;
let owners: { keyId: string; accountId: string }[];

beforeAll(async () => {
  database = await cloneDatabase();
  const service = { db: database.db, clock, keyring: createKeyring([randomBytes(32)]) };
  const [shop, partner] = [await addMerchant(service), await addPartner(service)];
  owners = [
    { keyId: shop.keyId, accountId: shop.merchant.id },
    { keyId: partner.keyId, accountId: partner.partner.id },
  ];
});
afterAll(() => database.drop());
beforeEach(() => database.db.deleteFrom('request_log').execute());

function answered(changes: Partial<AnsweredRequest> = {}): AnsweredRequest {
  return {
    id: uuidv7(),
    at: new Date(NOW),
    keyId: owners[0]?.keyId ?? '',
    method: 'GET',
    target: '/external/v1/payments',
    status: 400,
    errorCode: 'E1001',
    param: null,
    milliseconds: 3,
    address: '192.0.2.1',
    replayed: false,
    paymentId: null,
    ...changes,
  };
}

const rows = () => database.db.selectFrom('request_log').selectAll().orderBy('id').execute();
const failures: unknown[] = [];
const record = (db = database.db) => new RequestRecorder(db, error => failures.push(error));
const wrong = (changes: Partial<AnsweredRequest> = {}) =>
  ({ ...answered({ status: 401, ...changes }), errorCode: 'E2007' }) as const;

async function countDropped(): Promise<number> {
  const metric = await register.getSingleMetric('eps_request_log_dropped_total')?.get();
  return metric?.values[0]?.value ?? 0;
}

test('stores the details of a request', async () => {
  const recorder = record();
  const paymentId = uuidv7();
  const created = answered({
    method: 'POST',
    status: 201,
    errorCode: null,
    replayed: true,
    paymentId,
  });
  const failed = answered({
    keyId: owners[1]?.keyId ?? '',
    param: 'a "b" \\ c\u2028',
    status: 409,
  });
  recorder.add(created);
  recorder.add(failed);
  await recorder.flush();
  expect(await rows()).toEqual([
    {
      id: created.id,
      at: created.at,
      account_id: owners[0]?.accountId,
      requests: 1,
      key_id: created.keyId,
      verified: true,
      method: 'POST',
      target: created.target,
      status: 201,
      error_code: null,
      param: null,
      milliseconds: 3,
      address: '192.0.2.1',
      replayed: true,
      payment_id: paymentId,
      explanation: null,
    },
    expect.objectContaining({
      id: failed.id,
      account_id: owners[1]?.accountId,
      error_code: 'E1001',
      status: 409,
      param: failed.param,
    }),
  ]);
});

test('whatever comes, and whenever it is written, each request is in the log once', async () => {
  const minute = fc.integer({ min: 0, max: 2 });
  const owner = fc.nat(1);
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('verified' as const), owner, minute }) },
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('wrong' as const),
        owner,
        minute,
        found: fc.boolean(),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('unknown key' as const) }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('write' as const), waits: fc.boolean() }),
    },
  );
  const steps = fc.array(fc.tuple(step, fc.nat(1)), { minLength: 1, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(steps, async played => {
      await database.db.deleteFrom('request_log').execute();
      // Two processes.
      const recorders = [record(), record()];
      const verified = new Set<string>();
      const counts = new Map<string, number>();
      for (const [each, which] of played) {
        const recorder = recorders[which] ?? record();
        if (each.kind === 'write') {
          const written = recorder.flush();
          if (each.waits) await written;
        } else if (each.kind === 'unknown key') {
          recorder.add(answered({ keyId: `mpk_${'0'.repeat(24)}` }));
        } else {
          const { keyId = '' } = owners[each.owner] ?? {};
          const at = new Date(NOW + each.minute * MINUTE_MS);
          if (each.kind === 'verified') {
            const request = answered({ keyId, at });
            recorder.add(request);
            verified.add(request.id);
          } else {
            recorder.count(wrong({ keyId, at }), each.found ? FOUND : null);
            const place = `${keyId} ${each.minute}`;
            counts.set(place, (counts.get(place) ?? 0) + 1);
          }
        }
      }
      await Promise.all(recorders.map(recorder => recorder.flush()));
      const kept = await rows();
      const ids = kept.filter(row => row.verified).map(({ id }) => id);
      expect(ids.toSorted()).toEqual([...verified].toSorted());
      const counted = kept
        .filter(row => !row.verified)
        .map(({ key_id: keyId, at, requests }) => {
          const since = at.getTime() - (NOW - (NOW % MINUTE_MS));
          return [`${keyId} ${since / MINUTE_MS}`, requests];
        });
      expect(Object.fromEntries(counted)).toEqual(Object.fromEntries(counts));
      expect(failures).toEqual([]);
    }),
    { numRuns: 40 },
  );
});

test('a minute shows its first request, or the first that is explained', async () => {
  const [first, second, third] = [wrong(), wrong({ target: '/b' }), wrong({ target: '/c' })];
  const shown = async () => {
    const [row] = await rows();
    return { id: row?.id, target: row?.target, requests: row?.requests };
  };
  const recorder = record();
  recorder.count(first);
  await recorder.flush();
  expect(await shown()).toEqual({ id: first.id, target: first.target, requests: 1 });
  recorder.count(third);
  recorder.count(second, FOUND);
  await recorder.flush();
  expect(await shown()).toEqual({ id: second.id, target: '/b', requests: 3 });
  recorder.count(third, { ...FOUND, findings: [] });
  await recorder.flush();
  expect(await shown()).toEqual({ id: second.id, target: '/b', requests: 4 });
  const [{ explanation } = {}] = await rows();
  expect(explanation).toEqual(FOUND);
});

test('what does not fit is dropped and counted, and unverified requests get only a part', async () => {
  const recorder = record();
  const before = await countDropped();
  for (let n = 0; n < UNVERIFIED_MAXIMUM + 3; n++) {
    recorder.count(wrong({ keyId: `mpk_${String(n).padStart(24, '0')}` }));
  }
  expect(await countDropped()).toBe(before + 3);
  for (let n = 0; n < ROWS_MAXIMUM - UNVERIFIED_MAXIMUM + 2; n++) recorder.add(answered());
  expect(await countDropped()).toBe(before + 5);
  await recorder.flush();
  expect(await rows()).toHaveLength(ROWS_MAXIMUM - UNVERIFIED_MAXIMUM);
  await recorder.flush();
});

test('memory is bounded while the database does not respond', async () => {
  const recorder = record();
  const before = await countDropped();
  let held = 0;
  await database.db.transaction().execute(async tx => {
    await sql`lock table request_log in exclusive mode`.execute(tx);
    for (; held < ROWS_MAXIMUM - 10; held++) recorder.add(answered());
    void recorder.flush();
    await vi.waitUntil(() => isWaitingForLock(), SOON);
    for (let n = 0; n < 15; n++) recorder.add(answered());
    expect(await countDropped()).toBe(before + 5);
  });
  await recorder.flush();
  expect(await rows()).toHaveLength(ROWS_MAXIMUM);
});

async function isWaitingForLock(): Promise<boolean> {
  const { rows: waiting } = await sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
    database.db,
  );
  return waiting.length > 0;
}

test('what cannot be written is dropped and counted', async () => {
  const gone = connect({
    url: 'postgres://127.0.0.1:1/gone',
    poolSize: 1,
    applicationName: 'gone',
    onIdleError: () => undefined,
  });
  const before = await countDropped();
  const recorder = record(gone);
  recorder.add(answered());
  recorder.count(wrong());
  recorder.count(wrong());
  await recorder.flush();
  expect(await countDropped()).toBe(before + 3);
  expect(failures.splice(0)).toHaveLength(1);
  await gone.destroy();
});

test('writes by itself within a second, without waiting for the end', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const recorder = record();
  recorder.add(answered());
  const written = vi.spyOn(recorder, 'flush');
  vi.advanceTimersByTime(1_000);
  vi.useRealTimers();
  await vi.waitUntil(async () => (await rows()).length === 1, SOON);
  expect(written).not.toHaveBeenCalled();
});
