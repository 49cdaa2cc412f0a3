import type { Scan, ScanRequest, Unreadable } from '../adapter.ts';
import type { MissingItems } from '../missing-items.ts';
import { type Node, NodeFailure } from '../nodes/node.ts';
import type { Block } from '../transfer.ts';
import type { WatchedAccounts } from './accounts.ts';
import { readTransfers } from './read-transfers.ts';
import { CONFIRMED, readBlockAt } from './responses.ts';
import { type Listed, listSignatures } from './signatures.ts';

/** Slots before a range whose signatures are listed again, since a list may lag: two minutes. */
const LISTED_AGAIN = 300;

/**
 * Lists the transactions of accounts that have changed, and reads them.
 * @param newest The newest block, if it was read already.
 * @throws NodeFailure, RpcError; the next scan then lists the same changes again.
 */
export async function scanAccounts(
  node: Node,
  request: ScanRequest,
  accounts: WatchedAccounts,
  { newest, misses }: { readonly newest: Block | undefined; readonly misses: MissingItems },
): Promise<Scan> {
  const { from, to, watch } = request;
  const through = newest?.height === to ? newest : await readBlockAt(node, to);
  if (through === null) throw new NodeFailure(`${node.label} has no block of slot ${to}`);
  if (watch.length === 0) return { through, transfers: [] };
  accounts.begin(request, through.time);
  try {
    const unreadable: Unreadable[] = [];
    const changed = await accounts.findChanged(node, watch, to, unreadable);
    const listed: Listed = {
      signatures: new Map(),
      newer: new Set(),
      refused: new Map(),
      unreadable: [],
    };
    const range = { from: Math.max(0, from - LISTED_AGAIN), to, commitment: CONFIRMED };
    await listSignatures(node, changed, range, listed);
    for (const { account, detail } of listed.unreadable) {
      const watched = accounts.ownersOf(new Set([account]), watch);
      unreadable.push({ transactionHash: null, height: null, watched, detail });
    }
    const unread = [...listed.signatures.values()].filter(each => !accounts.hasRead(each));
    const found = await readTransfers(node, unread, through, request, misses);
    for (const [signature, detail] of found.unreadable) {
      const own = listed.signatures.get(signature)?.accounts ?? new Set();
      const watched = accounts.ownersOf(own, watch);
      unreadable.push({ transactionHash: signature, height: null, watched, detail });
    }
    const left = new Set(found.left.flatMap(each => [...each.accounts]));
    const again = new Map(misses.count([...listed.refused], ([account]) => account, true));
    for (const [account, { message: detail }] of listed.refused) {
      if (again.has(account)) left.add(account);
      else {
        const watched = accounts.ownersOf(new Set([account]), watch);
        unreadable.push({ transactionHash: null, height: null, watched, detail });
      }
    }
    for (const { signature } of found.left) listed.signatures.delete(signature);
    accounts.noteRead(request, listed.signatures.values());
    accounts.listAgain([...listed.newer, ...left]);
    return { through, transfers: found.transfers, dust: found.dust, unreadable };
  } catch (error) {
    accounts.noticeAgain();
    throw error;
  }
}
