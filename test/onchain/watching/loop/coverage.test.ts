import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { chainOf } from '#chains/chain-list.ts';
import { expirePayments } from '#onchain/settlement/expire-on-chain.ts';
import { coveredUntil, sweptUntil } from '#onchain/watching/loop/coverage.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import { findChain } from '#storage/repositories/chains/chains.ts';
import { addMerchant } from '../../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../../helpers/app.ts';
import { addPaymentAt } from '../../../helpers/open-payment.ts';
import { stateOfPayment } from '../../../helpers/payments.ts';
import type { ModelChain } from '../model-chain.ts';
import { beginModel, type ModelWatcher } from '../model-watcher.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const CHAIN = 'eth-test';
const { secondLookAfterMs, staleHeadMs } = chainOf(CHAIN);

describe('the time up to which blocks cover a chain', () => {
  const POLLED = new Date('2026-07-01T12:00:00Z');
  const ago = (ms: number) => new Date(POLLED.getTime() - ms);
  const block = (height: number, time: Date) => ({ height, hash: 'b', parentHash: 'a', time });
  const tip = block(100, ago(70 * SECOND_MS));

  test.each([
    ['is that of the last one', 90, tip, tip.time],
    ['is no later than the poll', 90, block(100, ago(-MINUTE_MS)), POLLED],
    ['goes on while the newest one is final', 100, tip, POLLED],
    ['goes on no longer than a node may stand still', 100, block(100, ago(5 * MINUTE_MS)), 'quiet'],
    ['is that of an earlier one while there are more', 100, block(99, tip.time), tip.time],
  ])('%s', (_, finalHeight, reached, until) => {
    const expected =
      until === 'quiet' ? new Date(reached.time.getTime() + staleHeadMs) : (until as Date);
    const heads = { tip, finalHeight };
    expect(coveredUntil(chainOf(CHAIN), heads, POLLED, reached)).toEqual(expected);
    // The time covered by two looks stays behind the poll, since the second look may lack the latest transfers.
    const latest = ago(secondLookAfterMs);
    expect(sweptUntil(chainOf(CHAIN), heads, POLLED, reached)).toEqual(
      expected < latest ? expected : latest,
    );
  });

  test('is that of the poll where each poll shows everything', () => {
    const heads = { tip, finalHeight: null };
    for (const id of ['btc', 'sol'] as const)
      expect(coveredUntil(chainOf(id), heads, POLLED, tip)).toEqual(POLLED);
  });
});

describe('a payment that nobody paid', () => {
  let service: TestApp;
  let merchant: Merchant;
  let model: ModelChain;
  let watcher: ModelWatcher;
  let id: string;
  let end: number;

  beforeAll(async () => {
    service = await startTestApp();
    ({ merchant } = await addMerchant(service));
  });
  /** Its end lies between the newest block and the next one. */
  beforeEach(async () => {
    ({ model, watcher } = await beginModel(service, CHAIN));
    end = service.clock.now + 5 * MINUTE_MS;
    const slot = { blockchainId: CHAIN, address: 'A', tokenAmount: 5_000n };
    ({ id } = await addPaymentAt(service, merchant, slot, { expires_at: new Date(end) }));
    await look(MINUTE_MS);
    await mine(end - 5 * SECOND_MS);
    await look(secondLookAfterMs);
  });
  afterAll(() => service.close());

  async function look(laterMs: number): Promise<void> {
    service.clock.now += laterMs;
    while ((await watcher.tick()) === 'more');
    await expirePayments(service.db, new Date(service.clock.now), 100);
  }

  async function mine(at: number): Promise<void> {
    service.clock.now = at;
    model.mine();
    await look(0);
  }

  const status = () => stateOfPayment(service.db, id);
  const chain = async () => {
    const state = await findChain(service.db, CHAIN);
    return [state?.watched_until?.getTime(), state?.expires_until?.getTime()];
  };

  test('waits for a block after its end, however much time passes without one', async () => {
    for (let minute = 0; minute < 3; minute++) await look(MINUTE_MS);
    expect(await status()).toBe('pending/pending');
    expect(await chain()).toEqual([end - 5 * SECOND_MS, end - 5 * SECOND_MS]);
  });

  test('waits until blocks up to its end have been looked at twice', async () => {
    await mine(end);
    // Whether the network is offered depends on the first look.
    expect(await chain()).toEqual([end, end - 5 * SECOND_MS]);
    await look(secondLookAfterMs - 1);
    expect(await status()).toBe('pending/pending');
    await look(1);
    expect(await status()).toBe('expired/expired');
  });

  test('does not go back before its end when a node shows a block with an earlier time', async () => {
    await mine(end);
    await look(secondLookAfterMs);
    const before = await chain();
    service.clock.now += SECOND_MS;
    model.mine();
    Object.assign(model.tip, { time: new Date(end - MINUTE_MS) });
    const slot = { blockchainId: CHAIN, address: 'B', tokenAmount: 7_000n };
    await addPaymentAt(service, merchant, slot);
    await look(SECOND_MS);
    await look(secondLookAfterMs);
    expect(before).toEqual([end, end]);
    expect(await chain()).toEqual(before);
  });
});
