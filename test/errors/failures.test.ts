import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addMerchant, type MerchantWithKey } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { expectRefusal } from '../helpers/refusal.ts';
import { send } from '../helpers/signed-request.ts';

const LIST = '/external/v1/payments';
const CREATE = '/external/v1/payments/prompt';
const SAFE_MESSAGE = 'Something went wrong on our side. Please try again later.';

let service: TestApp;
let shop: MerchantWithKey;
beforeAll(async () => {
  service = await startTestApp();
  shop = await addMerchant(service);
});
afterAll(() => service.close());

const list = () => send(service, shop, { path: LIST });
const create = (body: object = { amount: 5000 }, headers = {}) =>
  send(service, shop, { path: CREATE, body, headers });
/** The log entry of a failure. */
function failureOf(requestId: string) {
  const lines = service.logs.filter(({ reqId, level }) => reqId === requestId && level === 'error');
  expect(lines).toEqual([expect.objectContaining({ msg: 'request failed' })]);
  return lines[0]?.err as Record<string, string>;
}

describe('an unexpected failure is an E5001 without details, which are in the log', () => {
  test.each([
    ['of a read', 'payments', list],
    ['of a creation', 'payments', create],
    [
      'of a creation with a key',
      'payments',
      () => create({ amount: 50 }, { 'idempotency-key': 'k' }),
    ],
    ['of authentication', 'api_keys', list],
  ])('%s', async (_name, table, request) => {
    await sql`alter table ${sql.table(table)} rename to elsewhere`.execute(service.db);
    const answer = await request().finally(() =>
      sql`alter table elsewhere rename to ${sql.table(table)}`.execute(service.db),
    );
    const { message, requestId } = expectRefusal(answer, 'E5001');
    expect(message).toBe(SAFE_MESSAGE);
    expect(JSON.stringify([answer.headers, answer.body])).not.toMatch(
      /relation|exist|elsewhere|select|insert|42P01|\.ts|node_modules| {4}at /,
    );
    const failure = failureOf(requestId);
    expect(failure).toMatchObject({ code: '42P01', stack: expect.stringContaining('.ts') });
    expect(failure.message).toContain(`relation "${table}" does not exist`);
  });

  test('of a secret that no master key can open', async () => {
    const lost = await addMerchant(service);
    await service.db
      .updateTable('api_keys')
      .set({ master_key_version: 1 })
      .where('id', '=', lost.keyId)
      .execute();
    const { requestId } = expectRefusal(await send(service, lost, { path: LIST }), 'E5001');
    expect(failureOf(requestId).message).toContain('master key version 1');
  });

  test("without the row's content in the log", async () => {
    await sql`alter table payments add constraint no_luck check (amount <> 1313)`.execute(
      service.db,
    );
    const body = { amount: 1313, note: 'a private note', customerReferenceId: 'a reference' };
    const { requestId } = expectRefusal(await create(body), 'E5001');
    expect(failureOf(requestId)).toMatchObject({ code: '23514', constraint: 'no_luck' });
    expect(JSON.stringify(service.logs)).not.toMatch(/a private note|a reference/);
  });
});
