import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertReservation } from '#storage/repositories/deposits/reservations.ts';
import { addMerchant } from '../helpers/accounts.ts';
import { addPayment } from '../helpers/payments.ts';
import { sendTrx, TronNode } from '../helpers/tron.ts';
import { mpHere, type Operated, startOperated } from './mp.ts';

const CHAIN = 'tron-test';
const ADDRESS = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';

let service: Operated;
let tron: TronNode;
let stop: () => Promise<void>;

beforeAll(async () => {
  service = await startOperated();
  tron = new TronNode(service.clock);
  stop = await tron.start();
});
afterAll(async () => {
  await stop();
  await service.close();
});

test('an audit reports what the ledger lacks, and is recorded', async () => {
  const { db, clock } = service;
  await service.ask('node', 'add', CHAIN, '--url', tron.url);
  const { merchant } = await addMerchant(service, { addresses: {} });
  const owner = ['--merchant', merchant.id, '--blockchain', CHAIN];
  await service.ask('address', 'set', ...owner, '--address', ADDRESS);
  const now = new Date(clock() - 60_000);
  const { id } = await addPayment(db, merchant, { created_at: now });
  const slot = { blockchainId: CHAIN, address: ADDRESS, tokenAmount: 5_000_000n };
  expect(await insertReservation(db, id, slot, now)).toBe(true);
  const range = ['--from', String(tron.height), '--to', String(tron.height + 1)];
  const sent = sendTrx(ADDRESS, 5_000_000);
  tron.pool.push(sent);
  tron.mine(40);

  const { out } = await mpHere(['network', 'audit', CHAIN, ...range], service.env);
  expect(out).toMatch(/role +primary/);
  expect(out).toMatch(new RegExp(`missing +${sent.id} +0 +${ADDRESS} +5000000`));
  expect(out).toContain('Each is a finding now: mp finding list');
  expect(await service.ask('network', 'audit', CHAIN, ...range)).toMatchObject({
    blockchainId: CHAIN,
    role: 'primary',
    transfers: 1,
    differences: [{ kind: 'missing', transactionHash: sent.id, amount: '5000000' }],
  });
  expect(await service.ask('finding', 'list')).toMatchObject([
    { kind: 'ledger_difference', transactionHash: sent.id },
  ]);
  const [entry] = await service.ask<object[]>('audit', '--object', CHAIN, '--limit', '1');
  expect(entry).toMatchObject({ action: 'network.audit', detail: { differences: 1 } });

  const before = ['--from', '1', '--to', '5'];
  const clean = await mpHere(['network', 'audit', CHAIN, ...before], service.env);
  expect(clean.out).toContain('Chain and ledger agree.');
});
