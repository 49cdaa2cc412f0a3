import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setNetwork } from '#accounts/networks.ts';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import type { ObservedTransfer } from '#onchain/settlement/observed-transfer.ts';
import type { LookUpQuestion, TransactionOnChain } from '#onchain/watching/look-up/look-up.ts';
import { updateChain } from '#storage/repositories/chains/chains.ts';
import { ADDRESSES, addMerchant, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { type OpenedCheckout, openCheckout } from '../../helpers/checkout.ts';
import { expectRefusal } from '../../helpers/refusal.ts';
import { seeTransfer } from '../../helpers/see-transfer.ts';
import { watchNetworks } from '../../helpers/watch-networks.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

let service: TestApp;
/** The chain's answer, and the questions it was asked. */
let answer: TransactionOnChain | null = null;
let asked: LookUpQuestion[] = [];

beforeAll(async () => {
  service = await startTestApp({
    env: { SIMULATION: 'off' },
    lookUps: {
      async ask(question) {
        asked.push(question);
        return answer;
      },
      close: () => Promise.resolve(),
    },
  });
});
afterAll(() => service?.close());

const at = (offsetMs: number) => new Date(service.clock() + offsetMs);

beforeEach(async () => {
  asked = [];
  answer = null;
  await watchNetworks(service.db, ['btc', 'eth', 'eth-usdc', 'eth-usdt'], at(0));
});

/** A checkout at its own addresses, where nothing is ambiguous. */
async function open(body: Record<string, unknown> = {}): Promise<OpenedCheckout> {
  const eth = `0x${randomBytes(20).toString('hex')}`;
  const addresses = { btc: ADDRESSES.btc, eth };
  return openCheckout(service, await addMerchant(service, { addresses }), body);
}

async function read(checkout: OpenedCheckout, url?: string): Promise<string> {
  const response = await checkout.get(url);
  expect(response.statusCode, response.body).toBe(200);
  expect(response.body).not.toMatch(/undefined|\[object|\bNaN\b/);
  return response.body;
}

const revisionOf = async (checkout: OpenedCheckout) =>
  (await checkout.get(`${checkout.path}/status`)).json().revision as string;

const see = (
  checkout: OpenedCheckout,
  height: number | null,
  transfer: Partial<ObservedTransfer> = {},
) => seeTransfer(service, checkout, height, transfer);

const headAt = (height: number) => updateChain(service.db, 'eth', { head_height: height });

describe('a chain whose watcher', () => {
  test('lags by no more than its limit can be chosen', async () => {
    await watchNetworks(service.db, ['eth'], at(-3 * MINUTE));
    const checkout = await open();
    expect(await read(checkout)).toContain('name="network" value="eth">');
    await checkout.pick('eth');
  });

  test.each([
    ['lags by more', () => watchNetworks(service.db, ['eth'], at(-3 * MINUTE - 1))],
    ['is halted', () => updateChain(service.db, 'eth', { halted: 'a fork below the ring' })],
    ['has not begun', () => updateChain(service.db, 'eth', { watched_until: null })],
  ])('%s is shown, but cannot be chosen', async (_name, fallBehind) => {
    const checkout = await open();
    await fallBehind();
    const page = await read(checkout);
    expect(page).toContain('name="network" value="eth" disabled>');
    expect(page).toContain('<span class="hint">not available just now</span>');
    const json = { accept: 'application/json' };
    expectRefusal(await checkout.post('network', { network: 'eth' }, json), 'E5002');
    expect(await checkout.payment()).toMatchObject({ blockchain_id: null });
  });

  test('falls behind after the choice says so, and that a transfer sent in time counts', async () => {
    const checkout = await open();
    await checkout.pick('eth');
    const before = await revisionOf(checkout);
    expect(await read(checkout)).not.toContain('id="delay"');
    await watchNetworks(service.db, ['eth'], at(-4 * MINUTE));
    expect(await revisionOf(checkout)).not.toBe(before);
    expect(await read(checkout)).toContain(
      'Transfers on Ethereum Mainnet are seen with a delay just now. Yours counts if it was sent in time.',
    );
    // Choosing the same network again changes nothing, so it is not refused.
    await checkout.pick('eth');

    const start = service.clock.now;
    service.clock.now = (await checkout.payment()).expires_at.getTime();
    const overdue = await read(checkout);
    await watchNetworks(service.db, ['eth'], at(0));
    const current = await read(checkout);
    service.clock.now = start;
    expect(overdue).toContain('this payment is still being checked: yours counts if it was sent');
    expect(current).toContain('We are checking for a payment that came at the last moment.');
  });
});

describe('a transfer that is seen', () => {
  test('shows its blocks out of those that the payment needs', async () => {
    const checkout = await open({ amount: 99_999 });
    await checkout.pick('eth');
    await headAt(100);
    await see(checkout, 100);
    const first = await revisionOf(checkout);
    expect(await read(checkout)).toContain('Blocks: 1 of 12.');
    await headAt(104);
    expect(await read(checkout)).toContain('Blocks: 5 of 12.');
    expect(await revisionOf(checkout)).not.toBe(first);
    await headAt(1_000);
    expect(await read(checkout)).toContain('Blocks: 12 of 12.');
  });

  test('of a larger payment waits for the finality of the network, in words', async () => {
    const checkout = await open({ amount: 100_000 });
    await checkout.pick('eth');
    await headAt(100);
    await see(checkout, 100);
    const first = await revisionOf(checkout);
    const text = 'In a block, waiting for the network’s finality, usually about 15\u00a0minutes.';
    expect(await read(checkout)).toContain(text);
    await headAt(120);
    expect(await revisionOf(checkout)).toBe(first);
  });

  test('follows the rule that an operator has set', async () => {
    const rule = (finality: string | null) =>
      service.db.updateTable('networks').set({ finality }).where('id', '=', 'eth').execute();
    const checkout = await open();
    await checkout.pick('eth');
    await rule('1@6000,final');
    await see(checkout, 100);
    expect(await read(checkout)).toContain('Blocks: 1 of 1.');
    await rule(null);
  });

  test('in no block yet says so', async () => {
    const checkout = await open();
    await checkout.pick('eth');
    await see(checkout, null);
    expect(await read(checkout)).toContain('Seen, waiting for a block.');
  });
});

describe('a transfer of too little', () => {
  test('asks for nothing more until it is final, then for the exact rest', async () => {
    const checkout = await open();
    await checkout.pick('eth');
    const { token_amount: asked, expires_at: expiresAt, address } = await checkout.payment();
    const tokenAmount = 10_000_000_000_000_000n;
    const transactionHash = await see(checkout, 100, { tokenAmount });
    const awaited = await read(checkout);
    expect(awaited).toContain('Please send nothing more now');
    expect(awaited).not.toContain(address);
    expect(awaited).not.toContain('Pay another way');
    const first = await revisionOf(checkout);

    await see(checkout, 100, { transactionHash, tokenAmount, finality: 'final' });
    const page = await read(checkout);
    expect(await revisionOf(checkout)).not.toBe(first);
    const amount = page.match(/id="copy-amount" data-copy="([\d.]+)"/)?.[1] ?? '';
    const rest = BigInt(amount.replace('.', '').padEnd(19, '0'));
    expect(rest).toBeGreaterThanOrEqual(BigInt(asked ?? 0) - tokenAmount);
    expect(rest).toBeLessThan(BigInt(asked ?? 0) - tokenAmount + tokenAmount / 10n);
    expect(page).toContain(`Send exactly ${amount}\u00a0ETH more`);
    expect(page).toContain('<dt>Received</dt><dd><bdi>0.01\u00a0ETH</bdi></dd>');
    expect(page).toContain(`<dt>Still due</dt><dd><bdi>${amount}\u00a0ETH</bdi></dd>`);
    expect(page).toContain(`<title>Send ${amount}\u00a0ETH`);
    expect(page).toContain(`href="ethereum:${address}@1?value=${rest}"`);
    expect(page).toContain(`data-countdown="${expiresAt.toISOString()}"`);

    await see(checkout, 101, { tokenAmount: rest });
    expect(await read(checkout)).toContain('Payment seen');
  });
});

describe('a block explorer', () => {
  test('is linked where the operator names one, and nowhere else', async () => {
    const checkout = await open();
    await checkout.pick('eth');
    const hash = await see(checkout, 100);
    const look = `${checkout.path}?transaction=${hash}`;
    expect(await read(checkout, look)).not.toContain('class="explorer"');
    const explorer = 'https://explorer.example/tx/{hash}?a=1&b=2';
    await setNetwork(operatorOf(service), 'eth', { explorer });
    const link = `href="https://explorer.example/tx/${hash}?a=1&amp;b=2" target="_blank" rel="noreferrer noopener">See it on explorer.example`;
    expect((await read(checkout)).split(link)).toHaveLength(2);
    expect((await read(checkout, look)).split(link)).toHaveLength(3);
    const { address, token_amount: amount } = await checkout.payment();
    await observeTransfer(
      service.db,
      {
        blockchainId: 'eth',
        transactionHash: hash,
        position: 0,
        address: address ?? '',
        tokenAmount: BigInt(amount ?? 0),
        blockHeight: 100,
        blockHash: null,
        occurredAt: at(0),
        source: 'chain',
        finality: 'final',
      },
      at(0),
    );
    expect(await read(checkout)).toContain(link);
    await setNetwork(operatorOf(service), 'eth', { explorer: null });
    expect(await read(checkout)).not.toContain('explorer.example');
  });
});

describe('“Already sent it?”', () => {
  const HASH = `0x${'ab'.repeat(32)}`;
  const found = (given: Partial<TransactionOnChain> = {}): TransactionOnChain => ({
    verdict: 'included',
    confirmations: 3,
    required: 12,
    occurredAt: at(0),
    transfers: [],
    ...given,
  });

  /** The answer shown on the page of a checkout on Ethereum. */
  async function lookUp(
    chain: (checkout: OpenedCheckout) => Promise<TransactionOnChain | null>,
  ): Promise<string> {
    const checkout = await open();
    await checkout.pick('eth');
    answer = await chain(checkout);
    const page = await read(
      checkout,
      `${checkout.path}?transaction=${HASH.toUpperCase().replace('0X', '0x')}`,
    );
    return page.match(/id="look-up-answer" role="status">(.*?)<\/p>/)?.[1] ?? '';
  }
  const transferOf = async (checkout: OpenedCheckout, share = 100n) => {
    const { address, token_amount: amount } = await checkout.payment();
    return {
      blockchainId: 'eth',
      position: 0,
      address: address ?? '',
      tokenAmount: (BigInt(amount ?? 0) * share) / 100n,
      depositId: null,
      paymentId: null,
      outcome: null,
      state: null,
      isOtherwise: false,
    };
  };

  test('asks for the payment’s address on every settled network of the chain', async () => {
    const text = await lookUp(async () => null);
    expect(text).toContain('We have not seen this transaction on Ethereum Mainnet yet.');
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ transactionHash: HASH, cents: 5000 });
    expect(asked[0]?.watch.map(({ network }) => network.id)).toEqual([
      'eth',
      'eth-usdc',
      'eth-usdt',
    ]);
    expect(new Set(asked[0]?.watch.map(({ address }) => address)).size).toBe(1);
  });

  test.each<[string, Partial<TransactionOnChain>, string]>([
    ['not found', { verdict: 'unknown' }, 'Ethereum Mainnet does not know this transaction.'],
    ['failed', { verdict: 'failed' }, 'This transaction failed on Ethereum Mainnet'],
    ['replaced', { verdict: 'replaced' }, 'Another transaction has taken the place'],
    [
      'another token',
      { verdict: 'other_asset' },
      'has sent something else to this payment’s address than ETH on Ethereum Mainnet',
    ],
    ['another address', { verdict: 'other_address' }, 'has sent nothing to this payment’s address'],
    ['not traceable', { verdict: 'untraceable' }, 'Word of it has gone to Shop'],
  ])('tells of a transaction: %s', async (_name, given, text) => {
    expect(await lookUp(async () => found(given))).toContain(text);
  });

  test('shows its blocks', async () => {
    const text = await lookUp(async checkout => found({ transfers: [await transferOf(checkout)] }));
    expect(text).toContain(
      'pays this payment’s address. Blocks: 3 of 12. It will be counted shortly',
    );
  });

  test('says that it waits in the mempool', async () => {
    const waits = { verdict: 'pending', confirmations: 0, occurredAt: null } as const;
    for (const share of [[], [100n]]) {
      const text = await lookUp(async checkout => {
        const transfers = await Promise.all(share.map(each => transferOf(checkout, each)));
        return found({ ...waits, transfers });
      });
      expect(text).toContain('knows this transaction, which is waiting for a block.');
    }
  });

  test('says that it was too little, too late or too early', async () => {
    const little = await lookUp(async checkout =>
      found({ transfers: [await transferOf(checkout, 99n)] }),
    );
    expect(little).toContain('less than the amount asked for');
    const late = await lookUp(async checkout => {
      const { expires_at: expiresAt } = await checkout.payment();
      const transfers = [await transferOf(checkout)];
      return found({ occurredAt: new Date(expiresAt.getTime() + 1), transfers });
    });
    expect(late).toContain('it arrived too late');
    const early = await lookUp(async checkout =>
      found({ occurredAt: at(-MINUTE), transfers: [await transferOf(checkout)] }),
    );
    expect(early).toContain('older than this payment');
  });

  test('does not ask the chain about what the ledger knows, and shows its blocks all the same', async () => {
    const checkout = await open();
    await checkout.pick('eth');
    await headAt(102);
    const hash = await see(checkout, 100);
    const page = await read(checkout, `${checkout.path}?transaction=${hash}`);
    expect(page).toContain('We have seen this transaction on Ethereum Mainnet. Blocks: 3 of 12.');
    expect(asked).toEqual([]);
  });
});
