import type { Holdings } from '../holdings.ts';
import { type Node, RpcError } from '../nodes/node.ts';
import { inParts } from '../ranges.ts';
import { toFields, toList } from '../responses.ts';
import type { WatchedAddress } from '../transfer.ts';
import { readTokenBalances } from './balances.ts';
import { asNodeError, isTooWide, type LogRanges, queryOf } from './log-query.ts';
import { addressTopic, readTransfer, TRANSFER } from './transfer-logs.ts';

/** Addresses of one query: nodes accept a thousand as a topic. */
const ADDRESSES_PER_QUERY = 1_000;

/** Sums of what arrived and what left, by contract and address in lower case. */
type Sums = ReadonlyMap<string, { arrived: bigint; left: bigint }>;
type Filter = Parameters<typeof queryOf>[0];
type Range = Parameters<typeof queryOf>[1];

/**
 * Token balances of addresses, and what moved them according to the tokens' logs. Balances of the native asset are
 * compared with whole blocks instead; see `internal.ts`.
 */
export function createHoldings(ranges: LogRanges): Holdings {
  return {
    async read(node, { height, hash }, watch) {
      return { height, balances: await readTokenBalances(node, hash, watch) };
    },

    async readMoved(node, { from, to }, watch) {
      const sums: Sums = new Map(watch.map(each => [keyOf(each), { arrived: 0n, left: 0n }]));
      const range = { from: from + 1, to };
      for (const own of inParts(watch, ADDRESSES_PER_QUERY)) {
        const address = [...new Set(own.map(({ network }) => `${network.contract}`))];
        const topics = [...new Set(own.map(each => addressTopic(each.address)))];
        await addLogs(
          node,
          ranges,
          { address, topics: [TRANSFER, null, topics] },
          range,
          sums,
          'to',
        );
        await addLogs(node, ranges, { address, topics: [TRANSFER, topics] }, range, sums, 'from');
      }
      return watch.map(each => sums.get(keyOf(each)) ?? { arrived: 0n, left: 0n });
    },
  };
}

function keyOf({ network, address }: WatchedAddress): string {
  return `${network.contract} ${address}`.toLowerCase();
}

/**
 * Adds the transfers that a node shows in a range, in as many queries as necessary.
 * @param side Which of its two addresses a transfer is counted for.
 * @throws NodeFailure, RpcError.
 */
async function addLogs(
  node: Node,
  ranges: LogRanges,
  filter: Filter,
  { from, to }: Range,
  sums: Sums,
  side: 'to' | 'from',
): Promise<void> {
  let next = from;
  while (next <= to) {
    const last = Math.min(to, next + ranges.of(node) - 1);
    const [logs] = await node.batch([queryOf(filter, { from: next, to: last })]);
    if (isTooWide(logs) && last > next) {
      ranges.refused(node, last - next + 1);
      continue;
    }
    if (logs instanceof RpcError) throw asNodeError(node, logs);
    for (const each of toList(node, logs, 'the logs')) {
      const log = toFields(node, each, 'a log');
      const transfer = log.removed === true ? undefined : readTransfer(log);
      const sum = transfer && sums.get(`${transfer.contract} ${transfer[side]}`);
      if (sum === undefined || transfer?.amount === undefined) continue;
      if (side === 'to') sum.arrived += transfer.amount;
      else sum.left += transfer.amount;
    }
    next = last + 1;
  }
}
