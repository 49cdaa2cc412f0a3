import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ScanRequest } from '#chains/adapter.ts';
import { chainOf } from '#chains/chain-list.ts';
import { createEvmAdapter } from '#chains/evm/adapter.ts';
import { TRANSFER } from '#chains/evm/transfer-logs.ts';
import { LaggingNode, type Node, NodeFailure, RpcError } from '#chains/nodes/node.ts';
import type { ChainTransfer, WatchedAddress } from '#chains/transfer.ts';
import { alteredNode, replaceNth } from '../../helpers/altered-node.ts';
import { someAddress, USDC_TEST } from '../../helpers/evm.ts';
import { plainNode } from '../../helpers/plain-node.ts';
import { nonsense, RUNS } from '../nonsense.ts';

const word = (value: number | string) => `0x${String(value).replace(/^0x/, '').padStart(64, '0')}`;
const quantity = (value: number) => `0x${value.toString(16)}`;
const SHOPS = [1, 2, 3].map(someAddress);
const STRANGER = someAddress(9);
const FROM = 100;

interface Payment {
  readonly isToken: boolean;
  /** undefined for an address that is not watched. */
  readonly shop: number | undefined;
  readonly amount: number;
}

const payment: fc.Arbitrary<Payment> = fc.record({
  isToken: fc.boolean(),
  shop: fc.option(fc.nat(2), { nil: undefined }),
  amount: fc.integer({ min: 1, max: 1_000_000 }),
});
/** Blocks of payments, each with two unwatched ones in addition. */
const blocks = fc.array(fc.array(payment, { maxLength: 4 }), { minLength: 1, maxLength: 3 });

const hashOf = (height: number) => word(quantity(height));
const idOf = (height: number, index: number) => word(quantity(height * 1_000 + index + 1));
const strangers: Payment[] = [1, 2].map(amount => ({ isToken: false, shop: undefined, amount }));
const toOf = ({ shop }: Payment) => (shop === undefined ? STRANGER : (SHOPS[shop] ?? ''));

/** A node with these blocks. */
function nodeOf(chain: readonly (readonly Payment[])[]): Node {
  const whole = chain.map(payments => [...payments, ...strangers]);
  const all = whole.flatMap((payments, offset) =>
    payments.map((each, index) => ({
      each,
      height: FROM + offset,
      id: idOf(FROM + offset, index),
    })),
  );
  const logOf = ({ each, height, id }: (typeof all)[number]) => ({
    address: USDC_TEST.toLowerCase(),
    blockHash: hashOf(height),
    transactionHash: id,
    blockNumber: quantity(height),
    data: word(quantity(each.amount)),
    removed: false,
    topics: [TRANSFER, word(STRANGER), word(toOf(each).toLowerCase())],
  });
  const blockAt = (height: number, isWhole: unknown) => ({
    number: quantity(height),
    hash: hashOf(height),
    parentHash: hashOf(height - 1),
    timestamp: quantity(height),
    transactions: all
      .filter(each => each.height === height)
      .map(({ each, id }) =>
        isWhole === true
          ? {
              hash: id,
              from: STRANGER.toLowerCase(),
              blockNumber: quantity(height),
              to: each.isToken ? USDC_TEST.toLowerCase() : toOf(each).toLowerCase(),
              value: each.isToken ? '0x0' : quantity(each.amount),
            }
          : id,
      ),
  });
  const answer = (method: string, [first, second]: readonly unknown[]): unknown => {
    if (method === 'eth_call' || method === 'eth_getBalance') return '0x0';
    if (method === 'eth_getBlockByNumber') return blockAt(Number(first), second);
    if (method === 'eth_getTransactionReceipt') {
      const found = all.find(({ id }) => id === first);
      if (found === undefined) return null;
      return {
        transactionHash: first,
        blockHash: hashOf(found.height),
        status: '0x1',
        blockNumber: quantity(found.height),
        gasUsed: '0x5208',
        logs: found.each.isToken ? [logOf(found)] : [],
      };
    }
    if (method === 'eth_getTransactionByHash') {
      const at = all.find(({ id }) => id === first)?.height ?? 0;
      return blockAt(at, true).transactions.find(each => (each as { hash: string }).hash === first);
    }
    const { blockHash, fromBlock, toBlock, topics } = first as Record<string, unknown>;
    const recipients = (topics as [string, null, string[]])[2];
    return all
      .filter(
        ({ each, height }) =>
          each.isToken &&
          recipients.includes(word(toOf(each).toLowerCase())) &&
          (blockHash === hashOf(height) ||
            (height >= Number(fromBlock) && height <= Number(toBlock))),
      )
      .map(logOf);
  };
  return {
    ...plainNode('http://127.0.0.1:1'),
    call: async (method, params) => answer(method, params),
    batch: async calls => calls.map(({ method, params }) => answer(method, params)),
  };
}

const chain = chainOf('eth-test');
const NATIVE = { id: 'eth-test', contract: null };
const USDC = { id: 'eth-usdc-test', contract: USDC_TEST };
const watchOn = (...networks: WatchedAddress['network'][]) =>
  networks.flatMap(network => SHOPS.map(address => ({ network, address })));

/** Each way in which blocks are read. */
const MODES = {
  'whole blocks': { watch: watchOn(NATIVE), isFinal: false },
  'blocks by hash': { watch: watchOn(USDC), isFinal: false },
  ranges: { watch: watchOn(USDC), isFinal: true },
  'whole blocks by range': { watch: watchOn(NATIVE, USDC), isFinal: true },
};

function scan(
  node: Node,
  { watch, isFinal }: (typeof MODES)['ranges'],
  count: number,
  weigh?: ScanRequest['weigh'],
) {
  const to = FROM + count - 1;
  const undoableFrom = isFinal ? to + 1 : FROM;
  const request: ScanRequest = { from: FROM, to, watch, undoableFrom, parentHash: null };
  return createEvmAdapter(chain).scan(node, { ...request, ...(weigh && { weigh }) });
}

const keys = (transfers: readonly ChainTransfer[]) =>
  transfers.map(each => `${each.blockchainId} ${each.transactionHash} ${each.tokenAmount}`).sort();

/** Which elements of a response may be corrupted, where they are, and what makes each unreadable. */
const SITES = {
  transaction: { method: 'eth_getBlockByNumber', list: 'transactions', field: 'value' },
  log: { method: 'eth_getLogs', list: null, field: 'blockHash' },
  receipt: { method: 'eth_getTransactionReceipt', list: undefined, field: 'logs' },
} as const;

/** The node with one element of its responses replaced. */
function spoil(
  node: Node,
  site: keyof typeof SITES,
  nth: number,
  replace: (element: unknown) => unknown,
) {
  const { method: of, list } = SITES[site];
  const counter = replaceNth(nth, replace);
  const altered = alteredNode(node, (method, params, result) => {
    if (method !== of || result === null) return result;
    if (list === undefined) return counter.change(result);
    if (list === null) return (result as unknown[]).map(counter.change);
    if (params[1] !== true) return result;
    const block = result as { transactions: unknown[] };
    return { ...block, transactions: block.transactions.map(counter.change) };
  });
  return { altered, counter };
}

test.each(Object.entries(MODES))(
  'in %s one unreadable element keeps no other from being credited',
  async (_, mode) => {
    const site = fc.constantFrom('transaction', 'log', 'receipt' as const);
    await fc.assert(
      fc.asyncProperty(blocks, site, fc.nat(), nonsense, async (drawn, where, nth, value) => {
        const node = nodeOf(drawn);
        const clean = await scan(node, mode, drawn.length);
        expect(clean.unreadable ?? []).toEqual([]);
        const count = spoil(node, where, -1, each => each);
        await scan(count.altered, mode, drawn.length);
        const { seen } = count.counter;
        fc.pre(seen > 0 && !(where === 'receipt' && value === null));
        let spoiled: Record<string, unknown> = {};
        const { altered } = spoil(node, where, nth % seen, each => {
          spoiled = each as typeof spoiled;
          return value;
        });
        const { transfers, unreadable = [] } = await scan(altered, mode, drawn.length);
        const own = spoiled.transactionHash ?? spoiled.hash;
        const network = where === 'transaction' ? 'eth-test' : undefined;
        const others = clean.transfers.filter(
          each =>
            each.transactionHash !== own || each.blockchainId !== (network ?? each.blockchainId),
        );
        expect(keys(transfers)).toEqual(keys(others));
        expect(unreadable).toHaveLength(1);
        // The others show whom the receipt's transaction may have paid.
        const paid = clean.transfers.filter(each => each.transactionHash === own);
        if (where === 'receipt') {
          expect(unreadable[0]).toMatchObject({
            transactionHash: own,
            watched: paid.map(({ address }) => ({ address })),
          });
        }
      }),
      RUNS,
    );
  },
);

test.each(['transaction', 'log', 'receipt'] as const)(
  'a %s with one unreadable field is a finding that names it, and whom it may have paid',
  async site => {
    const paid = { isToken: site !== 'transaction', shop: 1, amount: 5 };
    const node = nodeOf([[paid, { ...paid, shop: 2 }]]);
    const { altered } = spoil(node, site, 0, each => ({
      ...(each as object),
      [SITES[site].field]: 'nonsense',
    }));
    const mode = site === 'transaction' ? MODES['whole blocks'] : MODES['blocks by hash'];
    const { transfers, unreadable } = await scan(altered, mode, 1);
    expect(transfers).toMatchObject([{ address: SHOPS[2], tokenAmount: 5n }]);
    const watched = [{ address: SHOPS[1] }];
    const transactionHash = idOf(FROM, 0);
    expect(unreadable).toMatchObject([{ transactionHash, height: FROM, watched }]);
  },
);

test('receipts that cannot be read stop neither look while another one can', async () => {
  const [first, second] = [idOf(FROM, 0), idOf(FROM, 1)];
  const paid = (shop: number) => ({ isToken: true, shop, amount: 5 });
  const node = nodeOf([[paid(0), paid(1), paid(2)]]);
  const altered = (unread: readonly unknown[]) =>
    alteredNode(node, (method, [hash], result) =>
      method === 'eth_getTransactionReceipt' && unread.includes(hash) ? { logs: 1 } : result,
    );
  const { watch } = MODES['blocks by hash'];
  const range = { from: FROM, to: FROM, undoableFrom: FROM, parentHash: null };
  // The first requests cannot be read, and what has been read is not requested again.
  const weigh: ScanRequest['weigh'] = async arrivals =>
    arrivals.map(({ address }) => (address === SHOPS[2] ? 'other' : 'awaited'));
  const adapter = createEvmAdapter(chain);
  const request: ScanRequest = { ...range, watch, weigh };
  for (let look = 0; look < 2; look++) {
    const { transfers, unreadable } = await adapter.scan(altered([first, second]), request);
    expect(transfers).toMatchObject([{ address: SHOPS[2] }]);
    expect(unreadable).toMatchObject([{ transactionHash: first }, { transactionHash: second }]);
  }
  const none = altered([first, second, idOf(FROM, 2)]);
  await expect(createEvmAdapter(chain).scan(none, request)).rejects.toThrow(NodeFailure);
});

/** The node without some receipts, in one of the ways in which they may be missing. */
const withoutReceipts = (node: Node, missing: readonly string[], instead: unknown) =>
  alteredNode(node, (method, [hash], result) =>
    method === 'eth_getTransactionReceipt' && missing.includes(String(hash)) ? instead : result,
  );

test.each<[string, unknown]>([
  ['null', null],
  ['refused', new RpcError(-32_000, 'transaction indexing is in progress')],
])(
  'a receipt that stays %s is asked for again, and then a finding that stops no other',
  async (_, instead) => {
    const paid = (shop: number) => ({ isToken: true, shop, amount: 5 });
    const whole = nodeOf([[paid(0), paid(1)], [paid(2)]]);
    const missing = idOf(FROM, 0);
    const node = withoutReceipts(whole, [missing], instead);
    const adapter = createEvmAdapter(chain);
    const taken: string[] = [];
    const request: ScanRequest = {
      from: FROM,
      to: FROM + 1,
      undoableFrom: FROM,
      parentHash: null,
      watch: MODES['blocks by hash'].watch,
      weigh: async arrivals => arrivals.map(() => 'awaited'),
      takeAwaited: async transfers => void taken.push(...transfers.map(({ address }) => address)),
    };
    for (let look = 1; look <= 2; look++) {
      await expect(adapter.scan(node, request)).rejects.toThrow(LaggingNode);
      expect(taken.splice(0)).toEqual([SHOPS[1], SHOPS[2]]);
    }
    const { transfers, unreadable } = await adapter.scan(node, request);
    expect(transfers.map(({ address }) => address)).toEqual([SHOPS[1], SHOPS[2]]);
    const watched = [{ address: SHOPS[0] }];
    expect(unreadable).toMatchObject([{ transactionHash: missing, height: FROM, watched }]);
    // The second look at the blocks does not wait again, and reads the receipt once it exists.
    expect((await adapter.scan(node, request)).unreadable).toHaveLength(1);
    const healed = await adapter.scan(whole, request);
    expect(healed.unreadable).toEqual([]);
    expect(healed.transfers).toHaveLength(3);
  },
);

test('a node that has none of several receipts is lagging, and delays the chain only for a while', async () => {
  const paid = (shop: number) => ({ isToken: true, shop, amount: 5 });
  const both = [idOf(FROM, 0), idOf(FROM, 1)];
  const node = withoutReceipts(nodeOf([[paid(0), paid(1)]]), both, null);
  const adapter = createEvmAdapter(chain);
  const range = { from: FROM, to: FROM, undoableFrom: FROM, parentHash: null };
  const request = { ...range, watch: MODES['blocks by hash'].watch };
  for (let look = 1; look < 10; look++) {
    await expect(adapter.scan(node, request)).rejects.toThrow(LaggingNode);
  }
  expect((await adapter.scan(node, request)).unreadable).toMatchObject(
    both.map(transactionHash => ({ transactionHash })),
  );
});

test('a block in the middle of a range that stays missing is a finding for each payment in it', async () => {
  const paid = (shop: number) => ({ isToken: true, shop, amount: 5 });
  const whole = nodeOf([[paid(0)], [paid(1)], [paid(2)]]);
  const node = alteredNode(whole, (method, [height], result) =>
    method === 'eth_getBlockByNumber' && Number(height) === FROM + 1 ? null : result,
  );
  const adapter = createEvmAdapter(chain);
  const to = FROM + 2;
  const { watch } = MODES.ranges;
  const request = { from: FROM, to, undoableFrom: to + 1, parentHash: null, watch };
  const look = () => adapter.scan(node, request);
  await expect(look()).rejects.toThrow(LaggingNode);
  await expect(look()).rejects.toThrow(LaggingNode);
  const { transfers, unreadable } = await look();
  expect(transfers.map(({ address }) => address)).toEqual([SHOPS[0], SHOPS[2]]);
  expect(unreadable).toMatchObject([{ transactionHash: idOf(FROM + 1, 0), height: FROM + 1 }]);
});

test('balance changes are explained without a receipt that stays missing', async () => {
  const paid = (shop: number) => ({ isToken: false, shop, amount: 5 });
  const node = withoutReceipts(nodeOf([[paid(0), paid(1)]]), [idOf(FROM, 0)], null);
  const { internal } = createEvmAdapter(chain);
  const look = () => internal?.readMovements(node, FROM, SHOPS);
  await expect(look()).rejects.toThrow(LaggingNode);
  await expect(look()).rejects.toThrow(LaggingNode);
  expect(await look()).toEqual([{ address: SHOPS[1], amount: 5n }]);
});

test('a log without an amount is never dust: its receipt shows it, or it is a finding', async () => {
  const paid = { isToken: true, shop: 1, amount: 5 };
  const node = nodeOf([[paid, { ...paid, amount: 1 }, { ...paid, shop: 2 }]]);
  const noAmount = (each: unknown) => ({ ...(each as object), data: '0x' });
  const { altered } = spoil(node, 'log', 0, noAmount);
  const weighed: bigint[] = [];
  const weigh: ScanRequest['weigh'] = async arrivals => {
    weighed.push(...arrivals.map(({ tokenAmount }) => tokenAmount));
    return arrivals.map(({ tokenAmount }) => (tokenAmount === 1n ? 'dust' : 'awaited'));
  };
  const told = await scan(altered, MODES['blocks by hash'], 1, weigh);
  expect(weighed).toEqual([1n, 5n]);
  expect(told.transfers.map(({ address }) => address)).toEqual([SHOPS[2], SHOPS[1]]);
  expect(told.dust).toMatchObject([{ address: SHOPS[1], tokenAmount: 1n }]);
  expect(told.unreadable).toEqual([]);

  const withoutReceipt = alteredNode(altered, (method, [hash], result) =>
    method === 'eth_getTransactionReceipt' && hash === idOf(FROM, 0) ? { logs: 1 } : result,
  );
  const { transfers, dust, unreadable } = await scan(
    withoutReceipt,
    MODES['blocks by hash'],
    1,
    weigh,
  );
  expect(transfers.map(({ address }) => address)).toEqual([SHOPS[2]]);
  expect(dust).toMatchObject([{ address: SHOPS[1], tokenAmount: 1n }]);
  const finding = {
    transactionHash: idOf(FROM, 0),
    height: FROM,
    watched: [{ address: SHOPS[1] }],
  };
  expect(unreadable).toMatchObject([finding]);
});

test.each<[string, unknown?]>([
  ['eth_getTransactionReceipt'],
  ['eth_getTransactionByHash'],
  ['eth_getTransactionReceipt', null],
  ['eth_getTransactionReceipt', new RpcError(-32_000, 'internal error')],
  ['eth_getTransactionByHash', new RpcError(-32_000, 'internal error')],
])(
  'a look-up whose %s cannot be read keeps no other from being told (%s)',
  async (method, instead) => {
    const paid = { isToken: true, shop: 1, amount: 5 };
    const [first, second] = [idOf(FROM, 0), idOf(FROM, 1)];
    const node = alteredNode(nodeOf([[paid, { ...paid, shop: 2 }]]), (asked, [hash], result) =>
      asked !== method || hash !== first
        ? result
        : instead === undefined
          ? { ...(result as object), hash: 1, logs: 1 }
          : instead,
    );
    const reports = await createEvmAdapter(chain).lookUpAll?.(
      node,
      [first, second].map(transactionHash => ({
        transactionHash,
        watch: MODES.ranges.watch,
        inputs: null,
        blockHash: null,
      })),
    );
    expect(reports).toMatchObject([
      { status: 'unreadable' },
      { status: 'included', transfers: [{ address: SHOPS[2] }] },
    ]);
  },
);

test('a block in the middle of a range that cannot be read is a finding for each payment in it', async () => {
  const paid = (shop: number) => ({ isToken: true, shop, amount: 5 });
  const node = alteredNode(nodeOf([[paid(0)], [paid(1)], [paid(2)]]), (method, [height], result) =>
    method === 'eth_getBlockByNumber' && Number(height) === FROM + 1 ? 'nonsense' : result,
  );
  const { transfers, unreadable, through } = await scan(node, MODES.ranges, 3);
  expect(transfers.map(({ address }) => address)).toEqual([SHOPS[0], SHOPS[2]]);
  const watched = [{ address: SHOPS[1] }];
  const found = { transactionHash: idOf(FROM + 1, 0), height: FROM + 1, watched };
  expect(unreadable).toMatchObject([found]);
  expect(through.height).toBe(FROM + 2);
});

test('a balance that cannot be read keeps no other from being reported', async () => {
  const { internal } = createEvmAdapter(chain);
  const query = { height: FROM, hash: null, addresses: SHOPS };
  const nodeThat = (odd: readonly unknown[]) =>
    alteredNode(nodeOf([[]]), (method, params) => {
      if (method === 'eth_call') return new RpcError(-32_000, 'invalid argument 0: missing to');
      return odd[SHOPS.indexOf(String(params[0]))] ?? '0x5';
    });
  expect(await internal?.readBalances(nodeThat([]), query)).toEqual([5n, 5n, 5n]);
  const odd = nodeThat([undefined, 'nonsense']);
  expect(await internal?.readBalances(odd, query)).toEqual([5n, null, 5n]);
  const read = internal?.readBalances(nodeThat(['nonsense', 7, {}]), query);
  await expect(read).rejects.toThrow(NodeFailure);
});

test('a receipt that lacks the transfer of its log does not count as one without transfers', async () => {
  const node = nodeOf([[{ isToken: true, shop: 1, amount: 5 }]]);
  for (const logs of [[], [{}], [{ topics: [], address: USDC_TEST, data: '0x' }]]) {
    const { altered } = spoil(node, 'receipt', 0, each => ({ ...(each as object), logs }));
    const { transfers, unreadable } = await scan(altered, MODES.ranges, 1);
    expect(transfers).toEqual([]);
    expect(unreadable).toMatchObject([{ watched: [{ address: SHOPS[1] }] }]);
  }
});

test('a response that is no list is a fault of the node, and so is one without any readable element', async () => {
  const node = nodeOf([
    [
      { isToken: true, shop: 1, amount: 5 },
      { isToken: true, shop: 2, amount: 6 },
    ],
  ]);
  for (const wrong of [null, {}, 'nonsense', 42, [null, null], [{}, {}]]) {
    const logs = alteredNode(node, (method, _, result) =>
      method === 'eth_getLogs' ? wrong : result,
    );
    await expect(scan(logs, MODES['blocks by hash'], 1)).rejects.toThrow(NodeFailure);
    const whole = alteredNode(node, (method, params, result) =>
      method === 'eth_getBlockByNumber' && params[1] === true
        ? { ...(result as object), transactions: wrong }
        : result,
    );
    await expect(scan(whole, MODES['whole blocks'], 1)).rejects.toThrow(NodeFailure);
  }
});
