import { type Node, NodeFailure, RpcError } from '../../nodes/node.ts';
import type { BalanceQuery } from '../internal-transfers.ts';
import { inParts } from '../ranges.ts';
import { failure } from '../responses.ts';
import { readOrFailure } from '../unreadable.ts';
import { asNodeError } from './log-query.ts';
import { toAmount, toParameter } from './responses.ts';

/**
 * Addresses of one call. The response of a creation counts as the code of a contract, of which 24,576 bytes
 * are allowed (EIP-170): 768 balances of 32 bytes each.
 */
const ADDRESSES_PER_CALL = 700;

const WORD_DIGITS = 64;

/**
 * Reads the balances of the addresses that follow it, 20 bytes each, and returns them as words. Runs as the
 * creation of a contract that no transaction makes, so nothing has to be deployed. It uses no instruction
 * that is younger than Ethereum itself.
 */
const PROGRAM = [
  // The next balance goes to memory from 32 on; the first address is behind the program.
  '6020', //   00 PUSH1 32        to
  '6027', //   02 PUSH1 39        to from
  // Copies an address to memory from 12 to 32, which makes it a word: what is before stays 0.
  '5b', //     04 JUMPDEST        to from
  '6014', //   05 PUSH1 20        to from 20
  '81', //     07 DUP2            to from 20 from
  '600c', //   08 PUSH1 12        to from 20 from 12
  '39', //     0a CODECOPY        to from
  '6000', //   0b PUSH1 0         to from 0
  '51', //     0d MLOAD           to from address
  '31', //     0e BALANCE         to from balance
  '82', //     0f DUP3            to from balance to
  '52', //     10 MSTORE          to from
  '6014', //   11 PUSH1 20        to from 20
  '01', //     13 ADD             to from+20
  '90', //     14 SWAP1           from+20 to
  '6020', //   15 PUSH1 32        from+20 to 32
  '01', //     17 ADD             from+20 to+32
  '90', //     18 SWAP1           to from
  // Goes on until the end of the code.
  '38', //     19 CODESIZE        to from size
  '81', //     1a DUP2            to from size from
  '10', //     1b LT              to from (from < size)
  '6004', //   1c PUSH1 4         to from (from < size) 4
  '57', //     1e JUMPI           to from
  '50', //     1f POP             to
  '6020', //   20 PUSH1 32        to 32
  '90', //     22 SWAP1           32 to
  '03', //     23 SUB             to-32
  '6020', //   24 PUSH1 32        to-32 32
  'f3', //     26 RETURN
].join('');

/**
 * Balances at one block, in the order of the addresses; null for one that cannot be read.
 * @throws NodeFailure, also where the node's chain has no block of this hash or the node not its state;
 * RpcError for any other refusal.
 */
export async function readBalances(
  node: Node,
  { height, hash, addresses }: BalanceQuery,
): Promise<readonly (bigint | null)[]> {
  const block =
    hash === null ? toParameter(height) : { blockHash: hash, requireCanonical: true as const };
  const groups = inParts(addresses, ADDRESSES_PER_CALL);
  const responses = await node.batch(
    groups.map(group => ({ method: 'eth_call', params: [{ data: toData(group) }, block] })),
  );
  const balances: (bigint | null)[] = [];
  for (const [index, group] of groups.entries()) {
    const response = responses[index];
    // Some providers refuse a call without a contract: they are asked for each address.
    const isRefused = response instanceof RpcError && asNodeError(node, response) === response;
    balances.push(
      ...(isRefused
        ? await readOneByOne(node, group, block)
        : toBalances(node, response, group.length)),
    );
  }
  return balances;
}

async function readOneByOne(
  node: Node,
  addresses: readonly string[],
  block: unknown,
): Promise<(bigint | null)[]> {
  const responses = await node.batch(
    addresses.map(address => ({ method: 'eth_getBalance', params: [address, block] })),
  );
  const balances = responses.map(response => {
    if (response instanceof RpcError) throw asNodeError(node, response);
    return readOrFailure(() => toAmount(node, response, 'a balance'));
  });
  const [first] = balances;
  // Where no balance can be read, the node is at fault.
  if (first instanceof NodeFailure && balances.every(each => each instanceof NodeFailure)) {
    throw first;
  }
  return balances.map(each => (each instanceof NodeFailure ? null : each));
}

function toData(addresses: readonly string[]): string {
  return `0x${PROGRAM}${addresses.map(address => address.slice(2)).join('')}`.toLowerCase();
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
