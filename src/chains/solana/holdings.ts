import type { Unreadable } from '../adapter.ts';
import type { Held, Holdings, Moved } from '../holdings.ts';
import type { MissingItems } from '../missing-items.ts';
import { LaggingNode, type Node, NodeFailure } from '../nodes/node.ts';
import { inParts } from '../ranges.ts';
import { failure, toFields, toList } from '../responses.ts';
import type { WatchedAddress } from '../transfer.ts';
import { readOrFailure } from '../unreadable.ts';
import { ACCOUNTS_PER_CALL, AMOUNT, type WatchedAccounts } from './accounts.ts';
import { readInParts } from './parts.ts';
import { FINALIZED, orThrow, toValue } from './responses.ts';
import { type Listed, type ListedSignature, listSignatures } from './signatures.ts';
import { gainOf, type SolanaTransaction, toLamports } from './transfers.ts';

/** Owners of one read: even if some have two accounts, they fit into one call, whose balances are of one slot. */
const OWNERS_TOGETHER = 50;
/** Attempts to read the accounts of several calls at one slot. */
const TRIES = 3;
/** Transactions that one look reads to explain balances: this takes half a minute with the usual rate limit. */
export const EXPLAINED_MAXIMUM = 300;

/**
 * Balances of owners at the finalized slot, and what moved them according to a node's lists of signatures. Nothing on
 * the chain proves such a list. Failed transactions are not read: their fees only lower the balance.
 */
export function createHoldings(accounts: WatchedAccounts, misses: MissingItems): Holdings {
  return {
    together: OWNERS_TOGETHER,
    isSecondLook: true,
    read: (node, { height }, watch) => readHeld(node, accounts, height, watch),
    readMoved: (node, range, watch) => readMoved(node, { accounts, misses }, range, watch),
  };
}

/** Lamports and the tokens' amount. */
type Amounts = Readonly<Record<'lamports' | 'tokens', bigint>>;

async function readHeld(
  node: Node,
  accounts: WatchedAccounts,
  slot: number,
  watch: readonly WatchedAddress[],
): Promise<Held> {
  const unreadable: Unreadable[] = [];
  await accounts.findOthers(node, watch, unreadable);
  // If an account is unknown, its owner seems to hold less now, and to be paid once it becomes known.
  if (watch.some(each => accounts.isRefused(each))) {
    throw new LaggingNode(`${node.label} does not tell which token accounts an owner has`);
  }
  const unread = new Set(unreadable.flatMap(({ watched }) => watched));
  const own = watch.map(each => accounts.accountsOf([each]));
  // Anyone can make token accounts for an owner. An owner with more than one call takes is not read.
  const readable = own.filter(each => each.length <= ACCOUNTS_PER_CALL);
  const { height, held } = await readAtOneSlot(node, [...new Set(readable.flat())], slot);
  const balances = watch.map((watched, index) => {
    const { contract } = watched.network;
    if (unread.has(watched)) return null;
    let sum = 0n;
    for (const account of own[index] ?? []) {
      const amounts = held.get(account);
      if (amounts === undefined) return null;
      sum += contract === null ? amounts.lamports : amounts.tokens;
    }
    return sum;
  });
  return { height, balances };
}

interface HeldAtSlot {
  readonly height: number;
  /** By account, without accounts that cannot be read. */
  readonly held: ReadonlyMap<string, Amounts>;
}

/** @throws NodeFailure, also if the node moves on to another slot between the calls every time. */
async function readAtOneSlot(
  node: Node,
  accounts: readonly string[],
  slot: number,
): Promise<HeldAtSlot> {
  const parts = inParts(accounts, ACCOUNTS_PER_CALL);
  const options = { ...FINALIZED, encoding: 'base64', dataSlice: AMOUNT, minContextSlot: slot };
  if (parts.length === 0) return { height: slot, held: new Map() };
  for (let tries = 0; tries < TRIES; tries++) {
    const responses = await node.batch(
      parts.map(part => ({ method: 'getMultipleAccounts', params: [part, options] })),
    );
    const held = new Map<string, Amounts>();
    const slots = new Set<number>();
    for (const [index, part] of parts.entries()) {
      const { slot: own, value } = toValue(node, orThrow(node, responses[index]), 'accounts');
      const list = toList(node, value, 'accounts');
      if (list.length !== part.length) throw failure(node, 'accounts are missing');
      slots.add(own);
      for (const [place, account] of part.entries()) {
        const amounts = readOrFailure(() => toAmounts(node, list[place]));
        if (!(amounts instanceof NodeFailure)) held.set(account, amounts);
      }
    }
    const [height = 0] = slots;
    if (height < slot) throw new LaggingNode(`${node.label} shows accounts of slot ${height}`);
    if (slots.size === 1) return { height, held };
  }
  throw new LaggingNode(`${node.label} shows accounts of different slots`);
}

/** An account that does not exist holds nothing. */
function toAmounts(node: Node, account: unknown): Amounts {
  if (account === null) return { lamports: 0n, tokens: 0n };
  const { lamports, data } = toFields(node, account, 'an account');
  const bytes = Buffer.from(String(toList(node, data, 'the data of an account')[0]), 'base64');
  const tokens = bytes.length === AMOUNT.length ? bytes.readBigUInt64LE() : 0n;
  return { lamports: toLamports(node, lamports), tokens };
}

async function readMoved(
  node: Node,
  { accounts, misses }: { readonly accounts: WatchedAccounts; readonly misses: MissingItems },
  { from, to }: { readonly from: number; readonly to: number },
  watch: readonly WatchedAddress[],
): Promise<readonly (Moved | null)[]> {
  const listed: Listed = {
    signatures: new Map(),
    newer: new Set(),
    unreadable: [],
    refused: new Map(),
  };
  const range = { from: from + 1, to, commitment: FINALIZED };
  await listSignatures(node, [...new Set(accounts.accountsOf(watch))], range, listed);
  const unread = new Set<WatchedAddress>();
  const leave = (own: Iterable<string>) => {
    for (const watched of accounts.ownersOf(new Set(own), watch)) unread.add(watched);
  };
  leave(listed.unreadable.map(({ account }) => account));
  giveUp([...listed.refused.keys()]);
  const { chosen, left } = choose([...listed.signatures.values()]);
  leave(left);
  const waiting = new Map(chosen.map(each => [each.signature, each]));
  const sums = watch.map(() => ({ arrived: 0n, left: 0n }));
  for await (const { transactions } of readInParts(node, chosen)) {
    for (const transaction of transactions) {
      if (add(transaction)) waiting.delete(transaction.signature);
    }
  }
  giveUp([...waiting.keys()], signature => waiting.get(signature)?.accounts);
  return watch.map((watched, index) => (unread.has(watched) ? null : (sums[index] ?? null)));

  /** @throws LaggingNode until several looks have shown it missing: another server may have it. */
  function giveUp(
    missing: readonly string[],
    accountsOf: (each: string) => Iterable<string> | undefined = each => [each],
  ): void {
    const [again] = misses.count(missing, each => `moved ${each}`, true);
    if (again !== undefined) throw new LaggingNode(`${node.label} does not show ${again}`);
    leave(missing.flatMap(each => [...(accountsOf(each) ?? [])]));
  }

  /** Adds what a transaction moved. Returns whether it could be read. */
  function add(transaction: SolanaTransaction): boolean {
    if (transaction.failed) return true;
    const gains = readOrFailure(() => watch.map(each => gainOf(node, transaction, each)?.amount));
    if (gains instanceof NodeFailure) return false;
    for (const [index, sum] of sums.entries()) {
      const gain = gains[index] ?? 0n;
      if (gain > 0n) sum.arrived += gain;
      else sum.left -= gain;
    }
    return true;
  }
}

/**
 * Chooses the accounts whose transactions are read: those with the fewest, since anyone can send thousands to one.
 * @returns The signatures of these accounts, and the accounts that are left out.
 */
function choose(listed: readonly ListedSignature[]) {
  const byAccount = new Map<string, ListedSignature[]>();
  for (const each of listed) {
    for (const account of each.accounts) {
      const own = byAccount.get(account) ?? [];
      own.push(each);
      byAccount.set(account, own);
    }
  }
  const fewest = [...byAccount].toSorted(([, one], [, other]) => one.length - other.length);
  const chosen = new Set<ListedSignature>();
  const left: string[] = [];
  for (const [account, own] of fewest) {
    if (chosen.size + own.length > EXPLAINED_MAXIMUM) left.push(account);
    else for (const each of own) chosen.add(each);
  }
  return { chosen: [...chosen], left };
}
