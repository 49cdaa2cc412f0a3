import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSession } from '#accounts/people/panel-sessions.ts';
import { connect } from '#storage/database/connection.ts';
import { createWriteGate } from '#storage/database/write-gate.ts';
import { addMerchant } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addMerchantUser } from '../../helpers/panel.ts';

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

test('a session stays readable while writes are refused, and still expires', async () => {
  const { merchant } = await addMerchant(service);
  const { cookie } = await addMerchantUser(service, merchant.id, 'admin');
  const token = cookie.split('=')[1] ?? '';
  const db = connect({
    url: service.databaseUrl,
    poolSize: 1,
    applicationName: 'test-refused',
    onIdleError: () => undefined,
    gate: createWriteGate({ writes: [() => 'the database was restored'] }),
  });
  const openAfter = (minutes: number) =>
    openSession(db, token, {
      now: new Date(service.clock.now + minutes * 60_000),
      admitsDemo: false,
      isRefresh: false,
    });
  try {
    expect(await openAfter(2)).toMatchObject({ isComplete: true });
    expect(await openAfter(59)).toMatchObject({ isComplete: true });
    expect(await openAfter(61)).toBeUndefined();
  } finally {
    await db.destroy();
  }
});
