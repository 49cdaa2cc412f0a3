import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKeyring } from '#crypto/keyring.ts';
import { connect } from '#storage/database/connection.ts';
import { mpHere } from '../cli/mp.ts';
import { addMerchant, type MerchantWithKey } from '../helpers/accounts.ts';
import { SOON } from '../helpers/soon.ts';
import { call, type ServiceProcess, serviceEnvironment, startReplica } from './service-process.ts';
import { EMBEDDED_MISSING, hasEmbedded, type Pair, startPair } from './standby.ts';

/** A primary whose manager has failed: its standby is promoted while it keeps running. */

const LIST = '/external/v1/payments';
const missing = !hasEmbedded();

describe.skipIf(missing)(missing ? EMBEDDED_MISSING : 'a primary that was replaced', () => {
  const masterKey = randomBytes(32);
  const clock = Object.assign(() => Date.now(), { now: 0 });
  const started: ServiceProcess[] = [];
  let pair: Pair;
  let urls: string;
  let shop: MerchantWithKey;

  const env = (durability: 'replicated' | 'server') =>
    serviceEnvironment(urls, masterKey, { DATABASE_DURABILITY: durability });

  beforeAll(async () => {
    pair = await startPair();
    urls = pair.primaryUrl.replace('@', `@${new URL(pair.standbyUrl).host},`);
    expect(await mpHere(['migrate'], env('server'))).toMatchObject({ status: 0, err: '' });
    const db = connect({
      url: pair.primaryUrl,
      poolSize: 2,
      applicationName: 'test',
      onIdleError: () => undefined,
    });
    shop = await addMerchant({ db, clock, keyring: createKeyring([masterKey]) });
    await db.destroy();
    for (const durability of ['server', 'replicated'] as const) {
      started.push(await startReplica(env(durability)));
    }
  });
  afterAll(async () => {
    await Promise.all(started.map(it => it.stop('SIGKILL')));
    await pair?.stop();
  });

  test('is left, although it still responds', async () => {
    const [plain, safe] = started as [ServiceProcess, ServiceProcess];
    const statuses = async () =>
      Promise.all([plain, safe].map(async it => (await call(it, shop, { path: LIST })).status));
    expect(await statuses()).toEqual([200, 200]);
    const standby = new pg.Client({ connectionString: pair.standbyUrl });
    await standby.connect();
    await standby.query('select pg_promote()');
    await standby.end();
    // The command looks for the primary, and finds the new one.
    const revoked = await mpHere(['key', 'revoke', shop.keyId], env('server'));
    expect(revoked).toMatchObject({ status: 0, err: '' });
    // With one server's durability the primary is looked for every 20 seconds. Otherwise nothing without a standby is
    // read.
    await expect.poll(statuses, { ...SOON, interval: 200, timeout: 40_000 }).toEqual([401, 503]);
  });
});
