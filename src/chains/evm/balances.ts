import type { BalanceQuery } from '../internal-transfers.ts';
import { type Node, type NodeCall, NodeFailure, RpcError } from '../nodes/node.ts';
import { inParts } from '../ranges.ts';
import { failure } from '../responses.ts';
import type { WatchedAddress } from '../transfer.ts';
import { readOrFailure } from '../unreadable.ts';
import {
  type BalanceProgram,
  NATIVE_BALANCES,
  TOKEN_BALANCES,
  UNREADABLE_BALANCE,
} from './balance-programs.ts';
import { asNodeError } from './log-query.ts';
import { toAmount, toParameter } from './responses.ts';
import { addressTopic } from './transfer-logs.ts';

const WORD_DIGITS = 64;

/**
 * Native balances at one block, in the order of the addresses; null for one that cannot be read.
 * @throws NodeFailure, also if the node's chain has no block of this hash or the node lacks its state;
 * RpcError for any other refusal.
 */
export function readBalances(
  node: Node,
  { height, hash, addresses }: BalanceQuery,
): Promise<readonly (bigint | null)[]> {
  const place = hash === null ? toParameter(height) : placeOf(hash);
  return readAll(
    node,
    place,
    NATIVE_BALANCES,
    addresses.map(each => ({
      input: each.slice(2),
      call: { method: 'eth_getBalance', params: [each, place] },
    })),
  );
}

/**
 * Balances of tokens at the block of a hash, in the order of the watched addresses; null for one that cannot be read.
 * @throws As `readBalances`.
 */
export async function readTokenBalances(
  node: Node,
  hash: string,
  watch: readonly WatchedAddress[],
): Promise<readonly (bigint | null)[]> {
  const place = placeOf(hash);
  const balances = await readAll(
    node,
    place,
    TOKEN_BALANCES,
    watch.map(({ network, address }) => {
      const data = `${BALANCE_OF}${addressTopic(address).slice(2)}`;
      return {
        input: `${network.contract?.slice(2)}${address.slice(2)}`,
        call: { method: 'eth_call', params: [{ to: network.contract, data }, place] },
      };
    }),
  );
  return balances.map(balance => (balance === UNREADABLE_BALANCE ? null : balance));
}

/** Selector of `balanceOf(address)`. */
const BALANCE_OF = '0x70a08231';

function placeOf(blockHash: string) {
  return { blockHash, requireCanonical: true as const };
}

/** One balance to read: as input of the program, and as a call of its own. */
interface Asked {
  /** Hex digits. */
  readonly input: string;
  readonly call: NodeCall;
}

async function readAll(
  node: Node,
  place: unknown,
  { code, perCall }: BalanceProgram,
  asked: readonly Asked[],
): Promise<readonly (bigint | null)[]> {
  const groups = inParts(asked, perCall);
  const responses = await node.batch(
    groups.map(group => {
      const data = `0x${code}${group.map(({ input }) => input).join('')}`.toLowerCase();
      return { method: 'eth_call', params: [{ data }, place] };
    }),
  );
  const balances: (bigint | null)[] = [];
  for (const [index, group] of groups.entries()) {
    const response = responses[index];
    // Some providers refuse a call without a contract: they are asked for each balance.
    const isRefused = response instanceof RpcError && asNodeError(node, response) === response;
    balances.push(
      ...(isRefused ? await readOneByOne(node, group) : toBalances(node, response, group.length)),
    );
  }
  return balances;
}

async function readOneByOne(node: Node, asked: readonly Asked[]): Promise<(bigint | null)[]> {
  const responses = await node.batch(asked.map(({ call }) => call));
  const balances = responses.map(response => {
    if (response instanceof RpcError) throw asNodeError(node, response);
    return readOrFailure(() => toBalance(node, response));
  });
  const [first] = balances;
  // If no balance can be read, the node is at fault.
  if (first instanceof NodeFailure && balances.every(each => each instanceof NodeFailure)) {
    throw first;
  }
  return balances.map(each => (each instanceof NodeFailure ? null : each));
}

/** A quantity of `eth_getBalance`, or the word that a contract returns. */
function toBalance(node: Node, response: unknown): bigint {
  const isWord = typeof response === 'string' && /^0x[0-9a-f]{64}$/i.test(response);
  return isWord ? BigInt(response) : toAmount(node, response, 'a balance');
}

function toBalances(node: Node, response: unknown, count: number): bigint[] {
  if (response instanceof RpcError) throw asNodeError(node, response);
  const isWords = typeof response === 'string' && /^0x[0-9a-f]*$/i.test(response);
  if (!isWords || response.length !== 2 + count * WORD_DIGITS) {
    throw failure(node, `${count} balances came as something else`);
  }
  return Array.from({ length: count }, (_, index) => {
    const start = 2 + index * WORD_DIGITS;
    return BigInt(`0x${response.slice(start, start + WORD_DIGITS)}`);
  });
}
