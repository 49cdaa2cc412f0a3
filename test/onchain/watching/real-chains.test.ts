import { randomBytes } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setAddress, setWallet } from '#accounts/deposit-addresses.ts';
import { stockWallets } from '#accounts/wallets.ts';
import { walletAddress } from '#chains/bitcoin/wallet-addresses.ts';
import { type ChainId, chainOf } from '#chains/chain-list.ts';
import { associatedAccount } from '#chains/solana/programs.ts';
import { solanaReference } from '#chains/solana-reference.ts';
import { expirePayments } from '#onchain/settlement/expire-on-chain.ts';
import { selectNetwork } from '#onchain/settlement/select-network.ts';
import { auditNetwork } from '#onchain/watching/audit/audit-network.ts';
import { configureNetwork } from '#onchain/watching/operate/configure-network.ts';
import { addNode } from '#onchain/watching/operate/manage-nodes.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { findChain } from '#storage/repositories/chains/chains.ts';
import { listOpenFindings } from '#storage/repositories/chains/findings.ts';
import { listPaymentDeposits } from '#storage/repositories/deposits/deposits.ts';
import { listResponses } from '#storage/repositories/deposits/evidence.ts';
import { updateOpenPayment } from '#storage/repositories/payments/moves.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import type { Loop } from '#worker/loop.ts';
import { watchChainLoop } from '#worker/watch-chains.ts';
import { sign } from '../../chains/bitcoin/spend.ts';
import { addMerchant, operatorOf } from '../../helpers/accounts.ts';
import { ANVIL_MISSING, type Anvil, hasAnvil, startAnvil } from '../../helpers/anvil.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import {
  BITCOIND,
  BITCOIND_MISSING,
  type Bitcoind,
  startBitcoind,
} from '../../helpers/bitcoind.ts';
import { addPayment, stateOfPayment } from '../../helpers/payments.ts';
import { plainNode } from '../../helpers/plain-node.ts';
import { sendLamports, sendTokens } from '../../helpers/solana-message.ts';
import { newWallet, SolanaNode, USDC, type Wallet } from '../../helpers/solana-node.ts';
import { sendTrc10, sendTokens as sendTrc20, sendTrx, TronNode } from '../../helpers/tron.ts';

/** Version bytes of tprv and tpub (BIP-32). */
const TEST_VERSIONS = { private: 0x04358394, public: 0x043587cf };

const LOG = pino({ level: 'silent' });

const MINUTE_MS = 60_000;

let service: TestApp;
let merchant: Merchant;
let loop: Loop;

beforeAll(async () => {
  service = await startTestApp();
  ({ merchant } = await addMerchant(service, { addresses: {} }));
});
afterAll(() => service.close());

/** Adds a node of a chain as an operator does, and the merchant's address on it. */
async function watch(chain: ChainId, url: string, address: string): Promise<Loop> {
  const { keyring, clock } = service;
  clock.now = Date.now();
  const tools = { keyring, isProduction: false };
  await addNode(operatorOf(service), tools, { chain, url, requestsPerSecond: 1_000 });
  await setAddress(operatorOf(service), { merchantId: merchant.id }, chain, address);
  return resume(chain);
}

/** The loop of a process that has just started. */
function resume(chain: ChainId): Loop {
  const { db, keyring, clock } = service;
  const watching = { db, clock, keyring, logger: LOG, isProduction: false, watchIntervalMs: null };
  return watchChainLoop(watching, chainOf(chain));
}

/** One look at the chain. */
async function look(): Promise<void> {
  service.clock.now = Date.now();
  await loop.run(AbortSignal.timeout(15_000), () => undefined);
}

/** A look late enough to be the second one at the scanned blocks. */
async function lookAgain(): Promise<void> {
  service.clock.now = Date.now() + MINUTE_MS;
  await loop.run(AbortSignal.timeout(15_000), () => undefined);
}

/** A payment of this many cents for which the customer has chosen the network. */
async function ask(chain: string, cents = 1_000, of = merchant): Promise<Payment> {
  const { db, rates, clock } = service;
  clock.now = Date.now();
  const now = new Date(clock.now);
  const payment = await addPayment(db, of, {
    amount: cents,
    created_at: now,
    offered_blockchain_ids: [chain],
  });
  const choice = { payment, blockchainId: chain, offering: 'watched' } as const;
  return selectNetwork(db, rates, choice, now);
}

/** Methods whose responses were stored when a payment's deposit became final. */
async function responsesTo({ id }: Payment): Promise<string[]> {
  const kept = await listResponses(service.db, await listPaymentDeposits(service.db, id));
  return kept.flatMap(({ answers }) =>
    JSON.parse(answers).map(({ method }: { method: string }) => method),
  );
}

/** Audits the blocks with final deposits of a network. */
async function audit(networkId: string) {
  const { db, keyring } = service;
  const { from, to } = await db
    .selectFrom('deposits')
    .where('blockchain_id', '=', networkId)
    .where('state', '=', 'final')
    .select(({ fn }) => [
      fn.min<number>('block_height').as('from'),
      fn.max<number>('block_height').as('to'),
    ])
    .executeTakeFirstOrThrow();
  const tools = { keyring, isProduction: false };
  return auditNetwork({ ...operatorOf(service), db }, tools, networkId, { from, to });
}

const AGREES = { transfers: expect.any(Number), differences: [] };

const statusOf = ({ id }: Payment) => stateOfPayment(service.db, id);

describe.skipIf(!hasAnvil)(`Ethereum (${hasAnvil ? 'anvil' : ANVIL_MISSING})`, () => {
  const CHAIN = 'eth-test';
  let anvil: Anvil;
  let payer: string;

  beforeAll(async () => {
    anvil = await startAnvil();
    const [from, to] = await anvil.rpc('eth_accounts');
    payer = from;
    await anvil.rpc('anvil_mine', ['0x8']);
    loop = await watch(CHAIN, anvil.url, to);
    await look();
  });
  afterAll(async () => {
    await loop.end?.();
    await anvil.stop();
  });

  const send = async (payment: Payment, value = BigInt(payment.token_amount ?? 0)) =>
    anvil.rpc('eth_sendTransaction', [
      { from: payer, to: payment.address, value: `0x${value.toString(16)}` },
    ]);
  const mine = (blocks = 1) => anvil.rpc('anvil_mine', [`0x${blocks.toString(16)}`]);

  test('a payment is detected in a block, and successful after twelve', async () => {
    const payment = await ask(CHAIN);
    const hash = await send(payment);
    await look();
    expect(await statusOf(payment)).toBe('pending/pending');
    await mine();
    await look();
    expect(await statusOf(payment)).toBe('pending/completed');
    expect((await findPayment(service.db, payment.id))?.transaction_hash).toBe(hash);
    await mine(12);
    await look();
    expect(await statusOf(payment)).toBe('successful/completed');
    expect(await responsesTo(payment)).toEqual([
      'eth_getTransactionReceipt',
      'eth_getTransactionByHash',
    ]);
  });

  test('a customer who comes back from another network is asked for the same amount, and pays it', async () => {
    const { db, rates, clock } = service;
    await setAddress(
      operatorOf(service),
      { merchantId: merchant.id },
      'btc',
      'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    );
    clock.now = Date.now();
    const payment = await addPayment(db, merchant, {
      amount: 4_444,
      created_at: new Date(clock.now),
      offered_blockchain_ids: [CHAIN, 'btc'],
    });
    const choose = (blockchainId: string) =>
      selectNetwork(
        db,
        rates,
        { payment, blockchainId, offering: 'simulated' },
        new Date(Date.now()),
      );
    const first = await choose(CHAIN);
    await choose('btc');
    expect((await choose(CHAIN)).token_amount).toBe(first.token_amount);
    // On the other network again, the customer may still pay what was asked for first.
    await choose('btc');
    await send(first);
    await mine(13);
    await look();
    expect(await statusOf(payment)).toBe('successful/completed');
    expect(await findPayment(db, payment.id)).toMatchObject({ blockchain_id: CHAIN });
  });

  test('a cut amount of a second payer pays the second payment', async () => {
    const [first, second] = [await ask(CHAIN, 123_400), await ask(CHAIN, 123_400)];
    const asked = BigInt(second.token_amount ?? 0);
    await send(second, asked - (asked % 10n ** 12n));
    await mine(80);
    await look();
    await look();
    expect(await statusOf(second)).toBe('successful/completed');
    expect(await statusOf(first)).toBe('pending/pending');
    await send(first);
    await mine(80);
    await look();
    await look();
    expect(await statusOf(first)).toBe('successful/completed');
  });

  test('a reorganisation reverses it, until it is in a block again', async () => {
    const payment = await ask(CHAIN, 2_000);
    await send(payment);
    await mine();
    await look();
    expect(await statusOf(payment)).toBe('pending/completed');
    await anvil.rpc('anvil_reorg', [1, []]);
    await mine();
    await look();
    expect(await statusOf(payment)).toBe('pending/pending');
    await send(payment);
    await mine();
    await look();
    expect(await statusOf(payment)).toBe('pending/completed');
    await mine(12);
    await look();
    expect(await statusOf(payment)).toBe('successful/completed');
    const states = (await listPaymentDeposits(service.db, payment.id)).map(({ state }) => state);
    expect(states).toEqual(['final']);
  });

  test('an audit agrees with what was recorded', async () => {
    const found = await audit(CHAIN);
    expect(found).toMatchObject(AGREES);
    expect(found.transfers).toBeGreaterThan(0);
  });
});

describe.skipIf(BITCOIND === undefined)(`Bitcoin (${BITCOIND ?? BITCOIND_MISSING})`, () => {
  const CHAIN = 'btc-test';
  let bitcoind: Bitcoind;

  beforeAll(async () => {
    bitcoind = await startBitcoind();
    loop = await watch(CHAIN, bitcoind.url, await bitcoind.rpc('getnewaddress'));
    await look();
  });
  afterAll(async () => {
    await loop.end?.();
    await bitcoind.stop();
  });
  beforeEach(look);

  const send = (payment: Payment, satoshi = Number(payment.token_amount)) =>
    bitcoind.rpc('sendtoaddress', payment.address, (satoshi / 1e8).toFixed(8));

  test('a payment is detected in the mempool, and successful in a block', async () => {
    const payment = await ask(CHAIN);
    const hash = await send(payment);
    await look();
    expect(await statusOf(payment)).toBe('pending/completed');
    expect((await findPayment(service.db, payment.id))?.transaction_hash).toBe(hash);
    await bitcoind.mine(1);
    await look();
    expect(await statusOf(payment)).toBe('successful/completed');
    expect(await responsesTo(payment)).toContain('getrawtransaction');
  });

  test('an underpayment is completed by the exact rest', async () => {
    const payment = await ask(CHAIN, 5_000);
    await send(payment, Math.floor(Number(payment.token_amount) / 2));
    await look();
    expect(await statusOf(payment)).toBe('pending/pending');
    await bitcoind.mine(6);
    await look();
    const reserved = await service.db
      .selectFrom('reservations')
      .select('token_amount')
      .where('payment_id', '=', payment.id)
      .where('rest_of', 'is not', null)
      .executeTakeFirstOrThrow();
    const rest = Number(reserved.token_amount);
    const hash = await send(payment, rest);
    await look();
    expect(await statusOf(payment)).toBe('pending/completed');
    await bitcoind.mine(6);
    await look();
    expect(await statusOf(payment)).toBe('successful/completed');
    expect((await findPayment(service.db, payment.id))?.transaction_hash).toBe(hash);
  });

  test('a cut amount of a second payer pays the second payment', async () => {
    const [first, second] = [await ask(CHAIN, 500_000), await ask(CHAIN, 500_000)];
    const sent = Number(second.token_amount) - (Number(second.token_amount) % 100);
    await send(second, sent);
    await look();
    expect(await statusOf(second)).toBe('pending/completed');
    await bitcoind.mine(6);
    await look();
    expect(await statusOf(second)).toBe('successful/completed');
    expect(await listPaymentDeposits(service.db, second.id)).toMatchObject([
      { outcome: 'tolerated', token_amount: String(sent) },
    ]);
    expect(await statusOf(first)).toBe('pending/pending');
    await send(first);
    await bitcoind.mine(6);
    await look();
    expect(await statusOf(first)).toBe('successful/completed');
  });

  test('a rest that no wallet could send is raised to the least that can be sent', async () => {
    const payment = await ask(CHAIN, 4_567);
    await send(payment, 45_600);
    await bitcoind.mine(6);
    await look();
    const { token_amount: rest } = await service.db
      .selectFrom('reservations')
      .select('token_amount')
      .where('payment_id', '=', payment.id)
      .where('rest_of', 'is not', null)
      .executeTakeFirstOrThrow();
    // P2WPKH: twice 294 satoshi.
    expect(Number(rest)).toBeGreaterThanOrEqual(588);
    await send(payment, Number(rest));
    await bitcoind.mine(6);
    await look();
    expect(await statusOf(payment)).toBe('successful/completed');
  });

  test('a payment of a thousand dollars waits for two blocks', async () => {
    const payment = await ask(CHAIN, 100_000);
    await send(payment);
    await bitcoind.mine(1);
    await look();
    expect(await statusOf(payment)).toBe('pending/completed');
    await bitcoind.mine(1);
    await look();
    expect(await statusOf(payment)).toBe('successful/completed');
  });

  test('a wallet that looks at 20 addresses finds whatever payments were sent to it', async () => {
    const { rpc } = bitcoind;
    // Only the public key of a new wallet is given; its own node is asked at the end.
    const account = HDKey.fromMasterSeed(randomBytes(32), TEST_VERSIONS).derive("m/84'/1'/0'");
    const key = account.publicExtendedKey;
    const style = { kind: 'wpkh', prefix: 'bcrt' } as const;
    const next = walletAddress(style, account.deriveChild(0), 0);
    const { merchant: shop } = await addMerchant(service, { addresses: {} });
    const operator = { ...operatorOf(service), keyring: service.keyring };
    await setWallet(operator, { merchantId: shop.id }, CHAIN, { key, next });
    const settle = async () => {
      await bitcoind.mine(6);
      await look();
      await stockWallets(service.db, service.keyring, 20);
    };
    const payments: Payment[] = [];
    for (let count = 0; count < 30; count += 1) payments.push(await ask(CHAIN, 5_000, shop));
    const last = payments[17];
    if (last === undefined) throw new Error('there are 30 payments');
    // The last one within reach is paid: 18 more come into reach.
    let received = Number(last.token_amount);
    await send(last);
    await settle();
    expect(await statusOf(last)).toBe('successful/completed');
    const [parts, much, cut, bumped] = [
      await ask(CHAIN, 6_000, shop),
      await ask(CHAIN, 6_100, shop),
      await ask(CHAIN, 6_200, shop),
      await ask(CHAIN, 6_300, shop),
    ];
    const wholeOf = (payment: Payment) => Number(payment.token_amount);
    const third = Math.floor(wholeOf(parts) / 3);
    for (const part of [third, third, wholeOf(parts) - 2 * third]) await send(parts, part);
    await send(much, 2 * wholeOf(much));
    const cutTo = wholeOf(cut) - (wholeOf(cut) % 100);
    await send(cut, cutTo);
    const replaced = await send(bumped);
    await look();
    const { txid } = await rpc('bumpfee', replaced);
    await look();
    await settle();
    for (const payment of [parts, much, cut, bumped]) {
      expect(await statusOf(payment)).toBe('successful/completed');
    }
    expect((await findPayment(service.db, bumped.id))?.transaction_hash).toBe(txid);
    received += wholeOf(parts) + 2 * wholeOf(much) + cutTo + wholeOf(bumped);

    const { checksum } = await rpc('getdescriptorinfo', `wpkh(${key}/0/*)`);
    await rpc('createwallet', 'shop', true, true);
    try {
      const url = `${bitcoind.url}/wallet/shop`;
      const desc = `wpkh(${key}/0/*)#${checksum}`;
      const descriptor = { desc, timestamp: 0, active: true, range: [0, 19], next_index: 0 };
      await plainNode(url).call('importdescriptors', [[descriptor]], { timeoutMs: 30_000 });
      const balances = await plainNode(url).call('getbalances', [], { timeoutMs: 30_000 });
      expect(balances).toMatchObject({ mine: { trusted: received / 1e8 } });
    } finally {
      await rpc('unloadwallet', 'shop');
    }
  });

  test('an audit agrees with what was recorded', async () => {
    const found = await audit(CHAIN);
    expect(found).toMatchObject(AGREES);
    expect(found.transfers).toBeGreaterThan(0);
  });

  test('a block that spends the inputs of an unconfirmed ancestor reverses its descendants', async () => {
    const { rpc } = bitcoind;
    const [child, grandchild] = [await ask(CHAIN, 2_100), await ask(CHAIN, 2_200)];
    const own: string = await rpc('getnewaddress');
    const parent: string = await rpc('sendtoaddress', own, 1);
    const { details } = await rpc('gettransaction', parent);
    const { vout } = details.find(({ category }: { category: string }) => category === 'receive');
    /** A transaction that pays a payment from an output of one bitcoin, and leaves the rest as its second output. */
    const spend = async (txid: string, index: number, whole: number, payment: Payment) => {
      const paid = Number(payment.token_amount) / 1e8;
      const rest = (whole - paid - 0.0001).toFixed(8);
      const outputs = [{ [payment.address ?? '']: paid.toFixed(8) }, { [own]: rest }];
      const raw = await rpc('createrawtransaction', [{ txid, vout: index }], outputs);
      const id: string = await rpc('sendrawtransaction', await sign(bitcoind, raw));
      return { id, rest: Number(rest) };
    };
    const first = await spend(parent, vout, 1, child);
    await spend(first.id, 1, first.rest, grandchild);
    await look();
    expect(await Promise.all([child, grandchild].map(statusOf))).toEqual([
      ...['pending/completed', 'pending/completed'],
    ]);
    // Another process takes over, which has not seen any of them.
    await loop.end?.();
    loop = resume(CHAIN);
    // A transaction with the parent's inputs pays the first payment once more, whose amount has to be free.
    const { vin } = await rpc('getrawtransaction', parent, true);
    const coins = vin.map(({ txid, vout }: { txid: string; vout: number }) => ({ txid, vout }));
    const paid = (Number(child.token_amount) / 1e8).toFixed(8);
    const raw = await rpc('createrawtransaction', coins, [{ [child.address ?? '']: paid }]);
    const conflict = await sign(bitcoind, raw);
    const { txid: replacement } = await rpc('decoderawtransaction', conflict);
    await rpc('generateblock', own, [conflict]);
    await look();
    expect(await Promise.all([child, grandchild].map(statusOf))).toEqual([
      ...['successful/completed', 'pending/pending'],
    ]);
    expect(await listPaymentDeposits(service.db, child.id)).toMatchObject([
      { transaction_hash: replacement, outcome: 'exact', state: 'final' },
    ]);
  });
});

describe('Tron (a node in the shapes of java-tron)', () => {
  const CHAIN = 'tron-test';
  const TOKEN = 'tron-usdt-test';
  const CONTRACT = 'TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf';
  const ADDRESS = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';
  let tron: TronNode;
  let stop: () => Promise<void>;

  beforeAll(async () => {
    tron = new TronNode(Date.now);
    stop = await tron.start();
    loop = await watch(CHAIN, tron.url, ADDRESS);
    const operator = operatorOf(service);
    const tools = { keyring: service.keyring, isProduction: false };
    const db = service.db;
    await configureNetwork({ ...operator, db }, tools, TOKEN, { contract: CONTRACT });
    await setAddress(operator, { merchantId: merchant.id }, TOKEN, ADDRESS);
    await look();
  });
  afterAll(async () => {
    await loop.end?.();
    await stop();
  });

  const amountOf = ({ token_amount: amount }: Payment) => BigInt(amount ?? 0);
  const pay = (network: string, payment: Payment) =>
    tron.pool.push(
      network === TOKEN
        ? sendTrc20({ contract: CONTRACT, to: ADDRESS, amount: amountOf(payment) })
        : sendTrx(ADDRESS, Number(amountOf(payment))),
    );

  test.each([CHAIN, TOKEN])('a payment on %s is detected, and successful when solid', async id => {
    const payment = await ask(id);
    pay(id, payment);
    tron.mine();
    await look();
    expect(await statusOf(payment)).toBe('pending/completed');
    tron.mine(19);
    await look();
    expect(await statusOf(payment)).toBe('successful/completed');
    expect(await responsesTo(payment)).toContain('/wallet/gettransactioninfobyid');
  });

  test('a reversed transfer counts once in its next block', async () => {
    const payment = await ask(CHAIN, 2_000);
    pay(CHAIN, payment);
    tron.mine();
    await look();
    tron.reorganise(2);
    await look();
    await look();
    expect(await statusOf(payment)).toBe('pending/completed');
    tron.mine(20);
    await look();
    expect(await statusOf(payment)).toBe('successful/completed');
    expect(await listPaymentDeposits(service.db, payment.id)).toMatchObject([{ state: 'final' }]);
  });

  test('logs that a backend leaves out at the tip are found once they are solid', async () => {
    const payment = await ask(TOKEN, 3_000);
    pay(TOKEN, payment);
    tron.hidesLogs = true;
    tron.mine();
    await look();
    expect(await statusOf(payment)).toBe('pending/pending');
    tron.hidesLogs = false;
    tron.mine(19);
    await look();
    await lookAgain();
    await lookAgain();
    expect(await statusOf(payment)).toBe('successful/completed');
  });

  test('worthless look-alikes pay nothing', async () => {
    const payment = await ask(CHAIN, 4_000);
    tron.pool.push(sendTrc10(ADDRESS, Number(amountOf(payment))));
    tron.pool.push(sendTrx(ADDRESS, Number(amountOf(payment)), 'OUT_OF_ENERGY'));
    tron.mine(20);
    await look();
    expect(await statusOf(payment)).toBe('pending/pending');
  });

  test('an audit agrees with what was recorded', async () => {
    const found = await audit(CHAIN);
    expect(found).toMatchObject(AGREES);
    expect(found.transfers).toBeGreaterThan(0);
    expect(await audit(TOKEN)).toMatchObject(AGREES);
  });
});

describe('Solana (litesvm)', () => {
  const CHAIN = 'sol-dev';
  const TOKEN = 'sol-usdc-dev';
  let solana: SolanaNode;
  let stop: () => Promise<void>;
  let wallet: Wallet;
  let own: string;
  let sender: Wallet;
  let senderTokens: string;

  beforeAll(async () => {
    solana = new SolanaNode(service.clock);
    stop = await solana.start();
    wallet = newWallet();
    own = wallet.address;
    sender = newWallet();
    solana.airdrop(sender.address, 1_000_000_000_000n);
    senderTokens = solana.fund(sender.address, 1_000_000_000_000n);
    solana.fund(own, 0n);
    loop = await watch(CHAIN, solana.url, own);
    await setAddress(operatorOf(service), { merchantId: merchant.id }, TOKEN, own);
    await look();
  });
  afterAll(async () => {
    await loop.end?.();
    await stop();
  });

  const amountOf = ({ token_amount: amount }: Payment) => BigInt(amount ?? 0);
  const pay = (network: string, payment: Payment, amount = amountOf(payment)) =>
    network === TOKEN
      ? solana.send(
          [sendTokens(senderTokens, associatedAccount(own, USDC), sender.address, amount)],
          [sender],
        )
      : solana.send(
          [sendLamports(sender.address, own, amount, [solanaReference(payment.id)])],
          [sender],
        );

  /** @returns Up to when payments may expire, in milliseconds since the epoch. */
  const lookAt = async (time: number) => {
    service.clock.now = time;
    await loop.run(AbortSignal.timeout(15_000), () => undefined);
    return (await findChain(service.db, CHAIN))?.expires_until?.getTime() ?? 0;
  };

  test.each([CHAIN, TOKEN])('a payment on %s is detected, and successful when final', async id => {
    const payment = await ask(id);
    await look();
    const hash = pay(id, payment);
    await look();
    expect(await statusOf(payment)).toBe('pending/completed');
    expect((await findPayment(service.db, payment.id))?.transaction_hash).toBe(hash);
    solana.mine(33);
    await look();
    expect(await statusOf(payment)).toBe('successful/completed');
    expect(await responsesTo(payment)).toContain('getTransaction');
  });

  test('a payment is successful only once the server that shows it has finalized it', async () => {
    const payment = await ask(CHAIN, 1_500);
    await look();
    pay(CHAIN, payment);
    solana.isFinalElsewhere = true;
    await look();
    await look();
    expect(await statusOf(payment)).toBe('pending/completed');
    solana.isFinalElsewhere = false;
    solana.mine(33);
    await look();
    expect(await statusOf(payment)).toBe('successful/completed');
  });

  test('a transfer whose block a fork has undone is reversed', async () => {
    const payment = await ask(CHAIN, 2_000);
    await look();
    pay(CHAIN, payment);
    await look();
    expect(await statusOf(payment)).toBe('pending/completed');
    solana.undo(1);
    solana.mine(3);
    await look();
    await look();
    expect(await statusOf(payment)).toBe('pending/pending');
  });

  test('funds that come and leave between two looks pay, although the payment ends meanwhile', async () => {
    const payment = await ask(CHAIN, 5_000);
    await look();
    const end = new Date(service.clock.now + 2_000);
    await updateOpenPayment(service.db, payment.id, { expires_at: end });
    pay(CHAIN, payment);
    // Swept at once: the balance is unchanged.
    solana.send([sendLamports(wallet.address, sender.address, amountOf(payment))], [wallet]);
    // A list of confirmed signatures may lag, whenever it is requested.
    solana.hidesNewest = true;
    expect(await lookAt(end.getTime())).toBeLessThan(end.getTime());
    solana.hidesNewest = false;
    solana.mine();
    expect(await lookAt(end.getTime() + 3_000)).toBeLessThan(end.getTime());
    solana.mine(33);
    expect(await lookAt(end.getTime() + 29_000)).toBeLessThan(end.getTime());
    expect(await statusOf(payment)).toBe('pending/pending');
    solana.mine();
    expect(await lookAt(end.getTime() + 33_000)).toBe(end.getTime() + 3_000);
    expect(await statusOf(payment)).toBe('pending/completed');
    await look();
    expect(await statusOf(payment)).toBe('successful/completed');
  });

  test('a transfer that the only node leaves out holds the payment with a finding', async () => {
    const payment = await ask(CHAIN, 6_000);
    await look();
    solana.hidden = pay(CHAIN, payment);
    await look();
    // The previous test has moved the clock ahead.
    const end = new Date(service.clock.now + 60_000);
    await updateOpenPayment(service.db, payment.id, { expires_at: end });
    for (const seconds of [3, 20, 34, 40]) {
      solana.mine(33);
      await lookAt(end.getTime() + seconds * 1_000);
    }
    await expirePayments(service.db, new Date(service.clock.now), 10);
    expect(await statusOf(payment)).toBe('pending/pending');
    const finding = { kind: 'unexplained_inflow', address: own, amount: String(amountOf(payment)) };
    expect(await listOpenFindings(service.db, 10)).toMatchObject([finding]);
    // As soon as the node shows it, it is credited, and the finding is resolved.
    solana.hidden = undefined;
    for (let seconds = 100; seconds < 110; seconds += 3) {
      solana.mine();
      await lookAt(end.getTime() + seconds * 1_000);
    }
    expect(await statusOf(payment)).toBe('successful/completed');
    expect(await listOpenFindings(service.db, 10)).toEqual([]);
  });

  test('the reference decides which payment a transfer is for where the amount does not', async () => {
    const [one, other] = [await ask(CHAIN, 3_000), await ask(CHAIN, 3_000)];
    await look();
    const more = (amountOf(other) * 101n) / 100n;
    pay(CHAIN, other, more);
    await look();
    expect(await statusOf(other)).toBe('pending/completed');
    expect(await statusOf(one)).toBe('pending/pending');
    solana.mine(33);
    await look();
    expect(await statusOf(other)).toBe('successful/completed');
  });

  test('an audit agrees with what was recorded', async () => {
    const found = await audit(CHAIN);
    expect(found).toMatchObject(AGREES);
    expect(found.transfers).toBeGreaterThan(0);
    expect(await audit(TOKEN)).toMatchObject(AGREES);
  });
});
