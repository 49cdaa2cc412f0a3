import type { Unreadable } from '../adapter.ts';
import {
  LaggingNode,
  type Node,
  type NodeCall,
  ResponseTooLarge,
  RpcError,
} from '../nodes/node.ts';
import { inParts } from '../ranges.ts';
import { failure, toFields, toList } from '../responses.ts';
import type { Block } from '../transfer.ts';
import { findNamed, readEach, readOrFailure } from '../unreadable.ts';
import { hashOrNull } from './blocks.ts';
import type { Hit } from './hits.ts';
import { toAddressOrNull, toCount, toHash, toParameter } from './responses.ts';
import { addressTopic, readTransfer, TRANSFER } from './transfer-logs.ts';
import { type Watched, watchedTokens } from './watched.ts';

/** Most addresses in a query; with more of them, all transfers of the tokens are queried and filtered here. */
const TOPICS_MAXIMUM = 1_000;
/** Blocks of a query to a node whose limit is not known. */
const RANGE_AT_FIRST = 1_000;

/**
 * Errors of providers for a query that is too wide or takes too long; none has a code of its own. The guide on
 * chains lists them.
 */
const TOO_WIDE =
  /range|too (many|large|wide)|response size|returned more than|exceeds? (the )?(limit|max)|limit exceeded|block limit|limited to|maximum (is|allowed)|narrow|time(d )?[- ]?out/i;
/** Errors of nodes that lack a block or its state: another server may have it. */
const NOT_THERE =
  /header not found|unknown block|block not found|(can|could )not find block|BlockOutOfRange|beyond (the )?current head|into the future|unfinalized data|not (currently )?canonical|missing trie node|prun(ed|ing)|historical state|state (is )?(not |un)available|resource not found/i;

/** Parameters of `eth_getLogs` for transfers to watched addresses. */
function transferFilter({ tokens }: Watched) {
  const addresses = tokenAddresses(tokens);
  const recipients = addresses.length > TOPICS_MAXIMUM ? [] : [null, addresses.map(addressTopic)];
  return { address: [...tokens.keys()], topics: [TRANSFER, ...recipients] };
}

/** Every address that is watched for a token, once, in lower case. */
function tokenAddresses(tokens: Watched['tokens']): string[] {
  return [...new Set([...tokens.values()].flatMap(own => [...own.keys()]))];
}

/**
 * The transfers to watched addresses in a node's response to a query.
 * @param unreadable Gets the logs that cannot be read.
 * @throws NodeFailure for a log of a block that was not asked for.
 */
export function toHits(
  node: Node,
  value: unknown,
  asked: { readonly from: number; readonly to: number } | Pick<Block, 'height' | 'hash'>,
  watched: Watched,
  unreadable: Unreadable[],
): Hit[] {
  if (value instanceof RpcError) throw asNodeError(node, value);
  const logs = readEach(
    toList(node, value, 'the logs'),
    each => [toLog(node, each)],
    (each, detail) => {
      const ours = findNamed(each, watchedTokens(watched), ({ address }) =>
        address.slice(2).toLowerCase(),
      );
      const height = 'hash' in asked ? asked.height : heightOrNull(node, each);
      const transactionHash = hashOrNull(each, 'transactionHash');
      unreadable.push({ transactionHash, height, watched: ours, detail });
    },
  );
  return logs.flatMap(({ contract, recipient, isRemoved, ...place }) => {
    const fits =
      'hash' in asked
        ? place.blockHash === asked.hash
        : place.height >= asked.from && place.height <= asked.to;
    if (!fits) throw failure(node, `a log came of block ${place.height}, unasked`);
    // Above the limit of topics, most logs are transfers to addresses that are not watched.
    const own = watched.tokens.get(contract)?.get(recipient);
    if (own === undefined || isRemoved) return [];
    return [{ ...place, blockchainId: own.network.id, address: own.address, watched: own }];
  });
}

/** @throws NodeFailure */
function toLog(node: Node, value: unknown) {
  const log = toFields(node, value, 'a log');
  const topics = toList(node, log.topics, 'the topics of a log');
  const contract = toAddressOrNull(node, log.address, 'the contract of a log');
  if (contract === null) throw failure(node, 'a log is of no contract');
  return {
    height: toCount(node, log.blockNumber, 'the block of a log'),
    blockHash: toHash(node, log.blockHash, 'the block of a log'),
    transactionHash: toHash(node, log.transactionHash, 'the transaction of a log'),
    contract,
    recipient: `0x${toHash(node, topics[2], 'the recipient of a log').slice(-40)}`,
    tokenAmount: readTransfer(log)?.amount,
    isRemoved: log.removed === true,
  };
}

function heightOrNull(node: Node, log: unknown): number | null {
  const height = readOrFailure(() =>
    toCount(node, toFields(node, log, 'a log').blockNumber, 'the block of a log'),
  );
  return typeof height === 'number' ? height : null;
}

/** If the range is at least this wide, a query that takes too long is no failure. */
const SLOW_RANGE = 20;

/** How many blocks each node takes in one query: halved after a refusal, raised by a quarter after a success. */
export interface LogRanges {
  of(node: Node): number;
  /** @param asked Blocks of the refused query, which may be fewer than the current width. */
  refused(node: Node, asked: number): void;
  accepted(node: Node): void;
}

export function createLogRanges(): LogRanges {
  const ranges = new Map<string, number>();
  const widest = ({ abilities }: Node) => abilities.logRange ?? RANGE_AT_FIRST;
  const of = (node: Node) => ranges.get(node.id) ?? widest(node);
  return {
    of,
    refused: (node, asked) =>
      void ranges.set(node.id, Math.max(1, Math.floor(Math.min(of(node), asked) / 2))),
    accepted: node => void ranges.set(node.id, Math.min(widest(node), Math.ceil(of(node) * 1.25))),
  };
}

/** Whether a query asked for too much: the node refused it, took too long, or returned more than may be parsed. */
export function isTooWide(error: unknown): boolean {
  if (error instanceof ResponseTooLarge) return true;
  return (
    error instanceof RpcError && !NOT_THERE.test(error.message) && TOO_WIDE.test(error.message)
  );
}

/** A LaggingNode if another server may have what is missing; otherwise the error itself. */
export function asNodeError(node: Node, error: RpcError): Error {
  if (!NOT_THERE.test(error.message)) return error;
  return new LaggingNode(`${node.label}: ${error.message}`, { cause: error });
}

/** Query for one range of heights. */
export function rangeQuery(watched: Watched, from: number, to: number): NodeCall {
  return queryOf(transferFilter(watched), { from, to });
}

/** Query by any filter for one range of heights. */
export function queryOf(
  filter: { readonly address: readonly string[]; readonly topics: readonly unknown[] },
  { from, to }: { readonly from: number; readonly to: number },
): NodeCall {
  return {
    method: 'eth_getLogs',
    // If a query for a few blocks takes too long, it fails, so that another node is asked.
    mayBeTooLarge: true,
    mayTakeTooLong: to - from >= SLOW_RANGE,
    params: [{ ...filter, fromBlock: toParameter(from), toBlock: toParameter(to) }],
  };
}

/** Query for one block, which a node that does not know the block has to refuse. */
export function blockQuery(watched: Watched, blockHash: string): NodeCall {
  const params = [{ ...transferFilter(watched), blockHash }];
  return { method: 'eth_getLogs', params, mayBeTooLarge: true };
}

/**
 * The transfers of a block. If all transfers of the tokens are too many for a response, they are queried for
 * some of the addresses at a time.
 * @param response The response to a query for this block.
 */
export async function hitsOfBlock(
  node: Node,
  response: unknown,
  block: Pick<Block, 'height' | 'hash'>,
  watched: Watched,
  unreadable: Unreadable[],
): Promise<Hit[]> {
  const parts = isTooWide(response) ? divide(watched) : [];
  if (parts.length < 2) return toHits(node, response, block, watched, unreadable);
  const responses = await node.batch(parts.map(part => blockQuery(part, block.hash)));
  return parts.flatMap((part, index) => toHits(node, responses[index], block, part, unreadable));
}

/** Divides the watched addresses of the same tokens into as many at a time as a query can name. */
function divide({ tokens, native }: Watched): Watched[] {
  const addresses = tokenAddresses(tokens);
  return inParts(addresses, TOPICS_MAXIMUM).map(together => {
    const part = new Set(together);
    const own = [...tokens].map(
      ([contract, all]) =>
        [contract, new Map([...all].filter(([address]) => part.has(address)))] as const,
    );
    return { tokens: new Map(own), native };
  });
}
