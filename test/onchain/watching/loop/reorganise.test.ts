import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '#crypto/new-id.ts';
import { findChain, updateChain } from '#storage/repositories/chains/chains.ts';
import { addFinding, listOpenFindings } from '#storage/repositories/chains/findings.ts';
import { addMerchant } from '../../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../../helpers/app.ts';
import { addPaymentAt } from '../../../helpers/open-payment.ts';
import { beginModel, createModelWatcher } from '../model-watcher.ts';

const CHAIN = 'eth-test';
const MINUTE_MS = 60_000;

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

test('findings in undone blocks are checked again before payments expire', async () => {
  const { db, clock } = service;
  const { model } = await beginModel(service, CHAIN);
  /** Heights at which balances were read. */
  const read: number[] = [];
  Object.assign(model.adapter, {
    holdings: {
      async read(_node: unknown, { height }: { height: number }, watch: readonly unknown[]) {
        read.push(height);
        return { height, balances: watch.map(() => 0n) };
      },
      readMoved: async (...[, , watch]: [unknown, unknown, readonly unknown[]]) =>
        watch.map(() => ({ arrived: 0n, left: 0n })),
    },
  });
  const watcher = createModelWatcher({ db, clock, model, chain: CHAIN });
  const { merchant } = await addMerchant(service);
  const slot = { blockchainId: CHAIN, address: 'A', tokenAmount: 5_000n };
  const expires_at = new Date(clock.now + 15 * MINUTE_MS);
  await addPaymentAt(service, merchant, slot, { expires_at });
  for (let blocks = 0; blocks < 4; blocks++) {
    await watcher.tick();
    model.mine([]);
  }
  await watcher.tick();

  const { height: tip } = model.tip;
  await updateChain(db, CHAIN, { expires_until: new Date(clock.now) });
  for (const height of [tip - 2, tip - 1, tip]) {
    const kind = height === tip ? 'unreadable' : 'unexplained_inflow';
    const found = { kind, blockchainId: CHAIN, address: 'A', amount: 5_000n };
    const where = { height, sinceHeight: height - 2, detail: 'It rose.' };
    await addFinding(db, { id: newId(), chain: CHAIN, ...found, ...where }, new Date(clock.now));
  }
  model.reorganise(2, () => true);
  read.length = 0;
  expect(await watcher.tick()).toBe('more');
  expect(await listOpenFindings(db, 10)).toMatchObject([{ height: tip - 2 }]);
  expect((await findChain(db, CHAIN))?.expires_until).toBeNull();
  while (read.length === 0) {
    expect((await findChain(db, CHAIN))?.expires_until).toBeNull();
    clock.now += 10_000;
    model.mine([]);
    await watcher.tick();
  }
  expect((await findChain(db, CHAIN))?.expires_until).not.toBeNull();
  expect(Math.min(...read)).toBe(tip - 2);
});

test('without such a finding, payments still expire', async () => {
  const { db, clock } = service;
  const { model } = await beginModel(service, CHAIN);
  const watcher = createModelWatcher({ db, clock, model, chain: CHAIN });
  const slot = { blockchainId: CHAIN, address: 'B', tokenAmount: 5_000n };
  const { merchant } = await addMerchant(service);
  await addPaymentAt(service, merchant, slot);
  await watcher.tick();
  model.mine([]);
  await watcher.tick();
  const expiresUntil = new Date(clock.now);
  await updateChain(db, CHAIN, { expires_until: expiresUntil });
  model.reorganise(1, () => true);
  expect(await watcher.tick()).toBe('more');
  expect((await findChain(db, CHAIN))?.expires_until).toEqual(expiresUntil);
});

test('a balance that was compared at a final block is kept, however far back the ring knows the chain', async () => {
  const { db, clock } = service;
  const chain = 'tron-test';
  const { model } = await beginModel(service, chain);
  Object.assign(model.adapter, {
    holdings: {
      read: async (_node: unknown, _block: unknown, watch: readonly unknown[]) => ({
        height: model.finalHeight,
        balances: watch.map(() => 7n),
      }),
      readMoved: async (...[, , watch]: [unknown, unknown, readonly unknown[]]) =>
        watch.map(() => ({ arrived: 0n, left: 0n })),
    },
  });
  const watcher = createModelWatcher({ db, clock, model, chain });
  const { merchant } = await addMerchant(service);
  const slot = { blockchainId: chain, address: 'A', tokenAmount: 5_000n };
  const expires_at = new Date(clock.now + 15 * MINUTE_MS);
  await addPaymentAt(service, merchant, slot, { expires_at });
  const tick = async () => {
    while ((await watcher.tick()) === 'more');
  };
  await tick();
  // Ranges of three blocks, of which the ring keeps the last only: one of them ends right below the final block.
  for (let mined = 0; mined < 8; mined++) model.mine([]);
  await tick();
  await db.deleteFrom('held_balances').execute();
  await tick();
  const held = await db.selectFrom('held_balances').selectAll().execute();
  expect(held).toMatchObject([{ height: model.finalHeight }]);
  const height = model.finalHeight ?? 0;
  const found = { chain, blockchainId: chain, address: 'A', detail: 'It rose.' };
  // A worker that stops before it has recorded the final block leaves a finding above the recorded one.
  const kinds = {
    unexplained_inflow: { height: height + 1, sinceHeight: height - 2 },
    unreadable: { height },
  };
  for (const [kind, where] of Object.entries(kinds)) {
    await addFinding(db, { id: newId(), kind, ...found, ...where }, new Date(clock.now));
  }
  model.reorganise(3, () => true);
  await tick();
  expect(await db.selectFrom('held_balances').selectAll().execute()).toEqual(held);
  for (const kind of Object.keys(kinds)) {
    expect(await listOpenFindings(db, 10, { chain, kind }), kind).toHaveLength(1);
  }
});
