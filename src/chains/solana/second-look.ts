import type { Scan, ScanRequest, Unreadable } from '../adapter.ts';
import { MissingItems } from '../missing-items.ts';
import { type Node, NodeFailure } from '../nodes/node.ts';
import type { Block } from '../transfer.ts';
import type { WatchedAccounts } from './accounts.ts';
import { readTransfers } from './read-transfers.ts';
import { FINALIZED, readBlockAt } from './responses.ts';
import { type Listed, type ListedSignature, listSignatures } from './signatures.ts';

/** Transactions that one look reads, unless one slot has more: this takes half a minute with the usual rate limit. */
const READ_MAXIMUM = 300;

/**
 * Lists the final transactions of addresses once more, whether or not their accounts have changed, and reads all of them,
 * from any node. It does not touch what the first looks remember.
 * @throws NodeFailure, RpcError.
 */
export async function scanAgain(
  node: Node,
  request: ScanRequest,
  accounts: WatchedAccounts,
): Promise<Scan> {
  const { from, to, watch } = request;
  const end = await readEnd(node, to);
  const unreadable: Unreadable[] = [];
  await accounts.findOthers(node, watch, unreadable);
  const listed: Listed = {
    signatures: new Map(),
    newer: new Set(),
    unreadable: [],
    refused: new Map(),
  };
  const range = { from, to, commitment: FINALIZED };
  await listSignatures(node, [...new Set(accounts.accountsOf(watch))], range, listed);
  for (const failure of listed.refused.values()) throw failure;
  const { own, last } = cut([...listed.signatures.values()]);
  const through = last === undefined ? end : await readEnd(node, last);
  const found = await readTransfers(node, own, through, request, new MissingItems());
  for (const { account, detail } of listed.unreadable) {
    const watched = accounts.ownersOf(new Set([account]), watch);
    unreadable.push({ transactionHash: null, height: null, watched, detail });
  }
  const details = new Map([
    ...found.left.map(
      ({ signature }) => [signature, 'The node lists it and does not have it.'] as const,
    ),
    ...found.unreadable,
  ]);
  for (const [signature, detail] of details) {
    const watched = accounts.ownersOf(
      listed.signatures.get(signature)?.accounts ?? new Set(),
      watch,
    );
    unreadable.push({ transactionHash: signature, height: null, watched, detail });
  }
  return { through, transfers: found.transfers, dust: found.dust, unreadable };
}

/** The block at the end of a range. If its slot has none, the block before stands in, with the height of the slot. */
async function readEnd(node: Node, slot: number): Promise<Block> {
  const block = await readBlockAt(node, slot);
  if (block === null) throw new NodeFailure(`${node.label} has no block of slot ${slot}`);
  return { ...block, height: slot };
}

/** The earliest ones, and the slot up to which they are complete; undefined if none is left for the next look. */
function cut(listed: readonly ListedSignature[]) {
  const ordered = listed.toSorted((one, other) => one.slot - other.slot);
  const next = ordered[READ_MAXIMUM]?.slot;
  if (next === undefined) return { own: listed, last: undefined };
  const before = ordered.filter(({ slot }) => slot < next);
  const last = before.at(-1)?.slot ?? next;
  return { own: listed.filter(({ slot }) => slot <= last), last };
}
