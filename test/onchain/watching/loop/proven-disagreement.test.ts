import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { NodeFailure } from '#chains/nodes/node.ts';
import type { ChainTransfer, WatchedAddress } from '#chains/transfer.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import { listOpenFindings } from '#storage/repositories/chains/findings.ts';
import { addMerchant } from '../../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../../helpers/app.ts';
import { addPaymentAt } from '../../../helpers/open-payment.ts';
import { stateOfPayment } from '../../../helpers/payments.ts';
import { ModelChain, type ModelTransaction } from '../model-chain.ts';
import { beginModel, FINAL_DEPTH, type ModelWatcher } from '../model-watcher.ts';

const MINUTE_MS = 60_000;
const CHAIN = 'eth-test';
const PLACE = { blockchainId: 'eth-usdc-test', address: 'A', tokenAmount: 5_000n };
const DOUBLE = { ...PLACE, tokenAmount: 2n * PLACE.tokenAmount };

let service: TestApp;
let merchant: Merchant;
let model: ModelChain;
let check: ModelChain;
let watcher: ModelWatcher;
let id: string;
/** The transaction that pays the payment. */
let sent: ModelTransaction;
/** What the block's receipts at each node prove; null for a node without them. */
let proven: Record<'primary' | 'check', readonly ChainTransfer[] | null | Error>;

beforeAll(async () => {
  service = await startTestApp();
  ({ merchant } = await addMerchant(service));
});
beforeEach(() => begin(PLACE));
afterAll(() => service.close());

/** A payment, a transfer for it that was seen in its block, and a check node that shows the same chain. */
async function begin(place: typeof PLACE): Promise<void> {
  ({ model, watcher } = await beginModel(service, CHAIN));
  const expires_at = new Date(service.clock.now + 15 * MINUTE_MS);
  ({ id } = await addPaymentAt(service, merchant, place, { expires_at }));
  await tick();
  sent = model.send(place);
  mine();
  await tick();
  expect(await status()).toBe('pending/completed');
  check = copyOfModel();
  watcher.check = check;
  proven = { primary: null, check: null };
  for (const [name, { adapter }] of Object.entries({ primary: model, check })) {
    Object.assign(adapter, {
      async proveTransfers(_node: unknown, _block: unknown, watch: readonly WatchedAddress[]) {
        const own = proven[name as keyof typeof proven];
        if (own instanceof Error) throw own;
        const addresses = watch.map(({ address }) => address);
        return own?.filter(({ address }) => addresses.includes(address)) ?? null;
      },
    });
  }
}

function mine(count = 1): void {
  service.clock.now += 1_000;
  for (let mined = 0; mined < count; mined++) model.mine();
}

async function tick(): Promise<void> {
  service.clock.now += 6_000;
  while ((await watcher.tick()) === 'more');
}

/** Adds the same blocks to both nodes, until the transfer is final. */
async function becomeFinal(): Promise<void> {
  mine(FINAL_DEPTH + 1);
  check.blocks.push(...model.blocks.slice(check.blocks.length));
  await tick();
  await tick();
}

const status = () => stateOfPayment(service.db, id);
const deposits = () => service.db.selectFrom('deposits').selectAll().execute();
const findings = () => listOpenFindings(service.db, 10);

/** Another node that shows the chain as it is now. */
function copyOfModel(): ModelChain {
  const copy = new ModelChain(service.clock, FINAL_DEPTH);
  const blocks = model.blocks.map(block => ({
    ...block,
    transactions: block.transactions.map(({ hash, transfers }) => ({ hash, transfers })),
  }));
  Object.assign(copy, { blocks });
  return copy;
}

/** The transaction as the check node shows it. */
function atCheck(): ModelTransaction {
  const [found] = [...check.transactions()].map(({ transaction }) => transaction);
  return found as ModelTransaction;
}

function transfer({ tokenAmount, address }: typeof PLACE = PLACE): ChainTransfer {
  const { hash: transactionHash } = sent;
  const place = { blockchainId: PLACE.blockchainId, transactionHash, position: 0 };
  return { ...place, address, tokenAmount, block: null, inputs: null, maturity: 1 };
}

const naming = (label: string) => [
  {
    kind: 'disagreement',
    detail: expect.stringContaining(`The receipts of the block prove that ${label} is wrong.`),
  },
];

test.each(['check', 'primary'] as const)(
  'a transfer that the check node leaves out becomes final by the receipts of the %s node',
  async prover => {
    Object.assign(atCheck(), { transfers: [] });
    proven[prover] = [{ ...transfer(DOUBLE), position: 1 }, transfer()];
    if (prover === 'primary') proven.check = new NodeFailure('they do not hash to the root');
    await becomeFinal();
    expect(await status()).toBe('successful/completed');
    expect(await findings()).toMatchObject(naming('check'));
  },
);

test('a transfer that the receipts do not show never becomes final, whoever shows it', async () => {
  Object.assign(atCheck(), { transfers: [] });
  proven.primary = [];
  await becomeFinal();
  expect(await status()).toBe('pending/completed');
  const [{ state, block_hash: hash } = {}] = await deposits();
  expect([state, hash]).toEqual(['seen', expect.any(String)]);
  expect(await findings()).toMatchObject(naming('primary'));
});

test('receipts prove nothing about the native asset', async () => {
  await begin({ ...PLACE, blockchainId: CHAIN });
  Object.assign(atCheck(), { transfers: [] });
  proven = { primary: [], check: [] };
  await becomeFinal();
  expect(await status()).toBe('pending/completed');
  const [{ detail = '' } = {}] = await findings();
  expect(detail).not.toContain('prove');
});

test('receipts do not prove that a transfer is final in another block than the one it was seen in', async () => {
  for (const node of [model, check]) {
    const [{ block } = {}] = [...node.transactions()];
    Object.assign(block ?? {}, { transactions: [] });
    node.mine([{ hash: sent.hash, transfers: node === model ? [] : [PLACE] }]);
  }
  Object.assign(check.tip, { hash: model.tip.hash });
  proven.check = [transfer()];
  await becomeFinal();
  expect(await status()).not.toMatch('successful');
});

test('a transfer that only the primary node leaves out becomes final as the receipts show it', async () => {
  Object.assign(sent, { transfers: [] });
  proven.check = [transfer()];
  await becomeFinal();
  expect(await status()).toBe('successful/completed');
  expect(await findings()).toMatchObject(naming('primary'));
});

test('an amount that the primary node made up is not corrected', async () => {
  Object.assign(sent, { transfers: [DOUBLE] });
  proven.check = [transfer()];
  await becomeFinal();
  expect(await status()).toBe('successful/completed');
  expect(await deposits()).toMatchObject([{ state: 'final', token_amount: '5000' }]);
  expect(await findings()).toMatchObject(naming('primary'));
});

test('where the receipts show what neither node shows, the deposit waits', async () => {
  Object.assign(atCheck(), { transfers: [] });
  proven.check = [transfer(DOUBLE)];
  await becomeFinal();
  expect(await status()).toBe('pending/completed');
  const [{ detail = '' } = {}] = await findings();
  expect(detail).not.toContain('prove');
});

test('receipts of a block that the check node does not have at that height prove nothing', async () => {
  const block = check.blocks.find(({ transactions }) => transactions.length > 0);
  Object.assign(block ?? {}, { hash: 'another', transactions: [] });
  proven.primary = [transfer()];
  await becomeFinal();
  expect(await status()).toBe('pending/completed');
  expect(await deposits()).toMatchObject([{ state: 'seen' }]);
});

test('without receipts the deposit waits until the nodes agree', async () => {
  Object.assign(atCheck(), { transfers: [] });
  await becomeFinal();
  expect(await status()).toBe('pending/completed');
  Object.assign(atCheck(), { transfers: [PLACE] });
  await tick();
  expect(await status()).toBe('successful/completed');
});
