import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createWatchList, type WatchList } from '#onchain/watching/watch-list.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import { releaseReservation } from '#storage/repositories/deposits/reservations.ts';
import { LATE_FOR_MS } from '#time/late-window.ts';
import { addMerchant } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addPaymentAt, forgetTransfers } from '../../helpers/open-payment.ts';

const SECOND_MS = 1_000;
const NETWORK = 'eth-usdt-test';
const SLOT = { blockchainId: NETWORK, address: 'A', tokenAmount: 5_000n };

let service: TestApp;
let merchant: Merchant;
let list: WatchList;

beforeAll(async () => {
  service = await startTestApp();
  ({ merchant } = await addMerchant(service));
});
beforeEach(async () => {
  await forgetTransfers(service.db);
  await setContract('0x1');
  list = createWatchList('eth-test');
});
afterAll(() => service.close());

const now = () => new Date(service.clock.now);
const read = async (own = list) =>
  (await own.read(service.db, now())).map(({ network, address }) => [address, network.contract]);

async function setContract(contract: string): Promise<void> {
  await sql`
    update networks set settled_by = 'chain', contract = ${contract} where id = ${NETWORK}`.execute(
    service.db,
  );
}

test('an address is watched for the current token of its network', async () => {
  await addPaymentAt(service, merchant, SLOT);
  expect(await read()).toEqual([['A', '0x1']]);
  await setContract('0x2');
  expect(await read()).toEqual([['A', '0x2']]);
});

test('a released address is watched for another day without a gap, also by a worker that has just started', async () => {
  const { id } = await addPaymentAt(service, merchant, SLOT);
  expect(await read()).toHaveLength(1);
  await releaseReservation(service.db, id, now());
  const other = createWatchList('eth-test');
  for (const each of [list, other]) expect(await read(each)).toHaveLength(1);
  // Released addresses are not read from the database at each look.
  for (let second = 0; second < 70; second += 10) {
    service.clock.now += 10 * SECOND_MS;
    expect(await read(other)).toHaveLength(1);
  }
  service.clock.now += LATE_FOR_MS - 80 * SECOND_MS;
  for (const each of [list, other]) expect(await read(each)).toHaveLength(1);
  service.clock.now += 200 * SECOND_MS;
  for (const each of [list, other]) expect(await read(each)).toEqual([]);
});
