import { type Node, NodeFailure } from '../../nodes/node.ts';
import type { Block, Scan, ScanRequest, Unreadable, WatchedAddress } from '../adapter.ts';
import { readEach } from '../unreadable.ts';
import type { WatchedAccounts } from './accounts.ts';
import { readBlockAt, readBlocksAt } from './answers.ts';
import { type Listed, listSignatures, readTransactions } from './signatures.ts';
import { type SolanaTransaction, transfersOf } from './transfers.ts';

/** Slots before a range whose signatures are listed again, since a list may lag: two minutes. */
const LISTED_AGAIN = 300;
/** Slots that are listed of an address whose payment ends: an hour, as long as a customer may take. */
const LISTED_AT_THE_END = 9_000;
/**
 * Lists the transactions of accounts that have changed, and reads them.
 * @param newest The newest block, where it need not be asked for.
 * @throws NodeFailure, RpcError; what was noticed is then noticed again.
 */
export async function scanAccounts(
  node: Node,
  { from, to, watch, ending = [] }: ScanRequest,
  accounts: WatchedAccounts,
  newest: Block | undefined,
): Promise<Scan> {
  const through = newest?.height === to ? newest : await readBlockAt(node, to);
  if (through === null) throw new NodeFailure(`${node.label} has no block of slot ${to}`);
  if (watch.length === 0) return { through, transfers: [] };
  try {
    const unreadable: Unreadable[] = [];
    const changed = await accounts.findChanged(node, watch, to, unreadable);
    const listed: Listed = { signatures: new Map(), unreadable: [] };
    await listSignatures(node, changed, { from: Math.max(0, from - LISTED_AGAIN), to }, listed);
    const last = accounts.accountsOf(watch.filter(({ address }) => ending.includes(address)));
    const hour = { from: Math.max(0, to - LISTED_AT_THE_END), to };
    await listSignatures(node, last, hour, listed);
    for (const { account, detail } of listed.unreadable) {
      const watched = accounts.ownersOf(new Set([account]), watch);
      unreadable.push({ transactionHash: null, height: null, watched, detail });
    }
    const unread = [...listed.signatures.keys()].filter(each => !accounts.hasRead(each));
    const found = await readTransfers(node, unread, through, watch);
    for (const [signature, detail] of found.unreadable) {
      const own = listed.signatures.get(signature) ?? new Set();
      const watched = accounts.ownersOf(own, watch);
      unreadable.push({ transactionHash: signature, height: null, watched, detail });
    }
    accounts.noteRead([...listed.signatures.keys()]);
    return { through, transfers: found.transfers, unreadable };
  } catch (error) {
    // What was noticed is not recorded, so it has to be noticed again.
    accounts.reset();
    throw error;
  }
}

/** What transactions brought to the watched addresses, and what is wrong with those that cannot be read. */
async function readTransfers(
  node: Node,
  signatures: readonly string[],
  through: Block,
  watch: readonly WatchedAddress[],
) {
  const read = await readTransactions(node, signatures);
  const unreadable = new Map(read.unreadable);
  const onUnreadable = ({ signature }: SolanaTransaction, detail: string) =>
    unreadable.set(signature, detail);
  const hits = readEach(
    read.transactions,
    each => (transfersOf(node, each, through, watch).length > 0 ? [each] : []),
    onUnreadable,
  );
  const blocks = await readBlocksAt(
    node,
    hits.map(({ slot }) => slot),
  );
  const transfers = readEach(
    hits,
    transaction => {
      const block = blocks.get(transaction.slot);
      if (block === undefined || block instanceof NodeFailure) {
        throw block ?? new NodeFailure(`${node.label} has no block of slot ${transaction.slot}`);
      }
      const { height, hash, time } = block;
      return transfersOf(node, transaction, { height, hash, time }, watch);
    },
    onUnreadable,
  );
  return { transfers, unreadable };
}
