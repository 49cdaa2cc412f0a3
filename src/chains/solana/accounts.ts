import type { ScanRequest, Unreadable } from '../adapter.ts';
import { eachAlone, type MissingItems } from '../missing-items.ts';
import { LaggingNode, type Node, NodeFailure } from '../nodes/node.ts';
import { writeJson } from '../nodes/parse-json.ts';
import { inParts } from '../ranges.ts';
import { failure, toFields, toList } from '../responses.ts';
import type { WatchedAddress } from '../transfer.ts';
import { readEach, readOrFailure } from '../unreadable.ts';
import { associatedAccount } from './programs.ts';
import { CONFIRMED, isLagging, orThrow, toText, toValue } from './responses.ts';
import type { ListedSignature } from './signatures.ts';

/** Accounts of one `getMultipleAccounts`, which takes no more. */
export const ACCOUNTS_PER_CALL = 100;
/** Where the data of a token account has its amount: 8 bytes (spl-token, state.rs). */
export const AMOUNT = { offset: 64, length: 8 };
/** In how many looks after a change the account's transactions are listed: a list may lag behind a balance. */
const HOT_LOOKS = 5;
/**
 * Every so many looks (about a minute), some unchanged accounts are listed as well, since funds may have come and left
 * between two looks, and some owners are checked for new token accounts.
 */
const LOOKS_PER_ROUND = 20;
/** Longest time between two looks for which listing accounts in turn is enough, in milliseconds. */
const GAP_MS = 120_000;
/** How many unchanged accounts, and how many owners, each such look takes in turn. */
const ASKED_IN_TURN = 100;
/** Signatures that are remembered: more than come within the slots that are listed again. */
const READ_MAXIMUM = 100_000;

/** The first and the last slot of a scan. */
type ScannedSlots = Pick<ScanRequest, 'from' | 'to'>;

interface Known {
  /** Lamports and amount at the last look; undefined before the first one. */
  state: string | undefined;
  /** How many more looks list it. */
  hot: number;
}

/** The accounts that transfers to watched owners arrive at, and which of them have changed. */
export class WatchedAccounts {
  readonly #accounts = new Map<string, Known>();
  /** Token accounts of an owner and a mint: the associated one, and others that were found. */
  readonly #tokenAccounts = new Map<string, Set<string>>();
  /** Signatures whose transactions are recorded, oldest first. */
  readonly #read = new Set<string>();
  /** The last scan and what it has read. The range of the next scan shows whether that was recorded. */
  #last: ScannedSlots & { readonly read: readonly string[] } = { from: 0, to: -1, read: [] };
  /** The time of the newest block of the last scan, in milliseconds since the epoch. */
  #scannedAt = 0;
  #turn = 0;
  #looks = 0;
  readonly #misses: MissingItems;
  /** Owners and mints whose token accounts the node has refused to list: they are asked for with the next look. */
  readonly #refused = new Set<string>();

  constructor(misses: MissingItems) {
    this.#misses = misses;
  }

  /** Every account of these owners. */
  accountsOf(watch: readonly WatchedAddress[]): string[] {
    return watch.flatMap(each => this.#accountsOf(each));
  }

  /** The watched addresses to which one of the accounts belongs. */
  ownersOf(accounts: ReadonlySet<string>, watch: readonly WatchedAddress[]): WatchedAddress[] {
    return watch.filter(each => this.#accountsOf(each).some(account => accounts.has(account)));
  }

  #accountsOf({ network: { contract }, address }: WatchedAddress): string[] {
    if (contract === null) return [address];
    return [...this.#tokenAccountsOf(address, contract)];
  }

  #tokenAccountsOf(owner: string, mint: string): Set<string> {
    const key = `${owner} ${mint}`;
    const own = this.#tokenAccounts.get(key) ?? new Set([associatedAccount(owner, mint)]);
    this.#tokenAccounts.set(key, own);
    return own;
  }

  /**
   * Reads the balances of the accounts, and finds those that changed.
   * @param slot The node must have reached this slot.
   * @param unreadable Gets token accounts of an owner that cannot be read.
   * @returns Accounts whose transactions are to be listed: they changed lately, are new, or it is their turn.
   */
  async findChanged(
    node: Node,
    watch: readonly WatchedAddress[],
    slot: number,
    unreadable: Unreadable[],
  ): Promise<readonly string[]> {
    const isRound = this.#looks % LOOKS_PER_ROUND === 0;
    this.#looks += 1;
    await this.#findDue(node, watch, isRound, unreadable);
    const accounts = [...new Set(this.accountsOf(watch))];
    const states = await readStates(node, accounts, slot);
    const listed: string[] = [];
    for (const [index, account] of accounts.entries()) {
      const known = this.#accounts.get(account) ?? { state: undefined, hot: 0 };
      this.#accounts.set(account, known);
      const state = states[index];
      // A new account is listed once, for transfers that came before.
      if (known.state === undefined) known.hot = 1;
      else if (known.state !== state) known.hot = HOT_LOOKS;
      known.state = state;
      if (known.hot > 0) {
        known.hot -= 1;
        listed.push(account);
      }
    }
    this.#forget(accounts);
    const others = isRound ? this.#inTurn(accounts) : [];
    this.#turn += isRound ? ASKED_IN_TURN : 0;
    return [...new Set([...listed, ...others])];
  }

  /**
   * To be called before a scan. If the scan begins after the last one, what that one read was recorded. If it repeats
   * the last one, that was not recorded. If it begins earlier, it follows a fork or is a rescan. After a longer time
   * without a scan, every account counts as new: funds may have come and left without a change of a balance.
   * @param time Time of the newest block.
   */
  begin({ from }: ScannedSlots, time: Date): void {
    if (time.getTime() - this.#scannedAt > GAP_MS) this.noticeAgain();
    this.#scannedAt = time.getTime();
    if (from > this.#last.to) {
      for (const signature of this.#last.read) this.#read.add(signature);
      for (const signature of this.#read) {
        if (this.#read.size <= READ_MAXIMUM) break;
        this.#read.delete(signature);
      }
    } else {
      this.noticeAgain();
      if (from !== this.#last.from) this.#read.clear();
    }
    this.#last = { from, to: from - 1, read: [] };
  }

  /** Whether a transaction is recorded already, in the same slot: lists overlap. */
  hasRead(listed: Pick<ListedSignature, 'slot' | 'signature'>): boolean {
    return this.#read.has(keyOf(listed));
  }

  /** To be called with everything that a scan has read. */
  noteRead({ from, to }: ScannedSlots, read: Iterable<ListedSignature>): void {
    this.#last = { from, to, read: [...read].map(keyOf) };
  }

  /**
   * Lists accounts with the next look even if they do not change again: their balances were read after the newest
   * block of this look, and may include transfers of later blocks.
   */
  listAgain(accounts: Iterable<string>): void {
    for (const account of accounts) {
      const known = this.#accounts.get(account);
      if (known !== undefined) known.hot = Math.max(known.hot, 1);
    }
  }

  /** Treats every account as new, because the changes that were noticed are not recorded. */
  noticeAgain(): void {
    this.#accounts.clear();
  }

  #inTurn<T>(all: readonly T[]): T[] {
    if (all.length === 0) return [];
    const start = this.#turn % all.length;
    return [...all.slice(start), ...all.slice(0, start)].slice(0, ASKED_IN_TURN);
  }

  /** Forgets accounts that are no longer watched. */
  #forget(accounts: readonly string[]): void {
    if (this.#accounts.size <= accounts.length * 2) return;
    const live = new Set(accounts);
    for (const account of this.#accounts.keys()) {
      if (!live.has(account)) this.#accounts.delete(account);
    }
  }

  /** Asks for token accounts besides the associated one: of new owners, and of some others in turn. */
  async #findDue(
    node: Node,
    watch: readonly WatchedAddress[],
    isRound: boolean,
    unreadable: Unreadable[],
  ): Promise<void> {
    const tokens = watch.filter(({ network }) => network.contract !== null);
    const isNew = ({ network, address }: WatchedAddress) =>
      !this.#tokenAccounts.has(`${address} ${network.contract}`) ||
      this.#refused.has(`${address} ${network.contract}`);
    const others = isRound ? this.#inTurn(tokens) : [];
    await this.findOthers(node, [...new Set([...tokens.filter(isNew), ...others])], unreadable);
  }

  /** Whether a node has just refused to list the token accounts of an owner; the next look asks again. */
  isRefused({ network, address }: WatchedAddress): boolean {
    return this.#refused.has(`${address} ${network.contract}`);
  }

  /**
   * Asks for all token accounts of these owners.
   * @param unreadable Gets token accounts that cannot be read.
   */
  async findOthers(
    node: Node,
    watch: readonly WatchedAddress[],
    unreadable: Unreadable[],
  ): Promise<void> {
    const asked = watch.filter(({ network }) => network.contract !== null);
    for (const together of inParts(asked, ACCOUNTS_PER_CALL)) {
      const responses = await node.batch(
        together.map(({ network, address }) => ({
          method: 'getTokenAccountsByOwner',
          params: [
            address,
            { mint: network.contract },
            { ...CONFIRMED, encoding: 'base64', dataSlice: { offset: 0, length: 0 } },
          ],
        })),
      );
      for (const response of responses) if (isLagging(response)) orThrow(node, response);
      const alone = eachAlone(node, responses);
      for (const [index, watched] of together.entries()) {
        const onUnreadable = (detail: string) =>
          unreadable.push({ transactionHash: null, height: null, watched: [watched], detail });
        const response = alone[index];
        const key = `${watched.address} ${watched.network.contract}`;
        if (response instanceof LaggingNode) {
          if (this.#misses.count([key], each => each, true).length > 0) this.#refused.add(key);
          else {
            this.#refused.delete(key);
            onUnreadable(response.message);
          }
          continue;
        }
        // Parsed before the owner counts as known: a known owner is asked again only in turn.
        const found = toAccounts(node, response, onUnreadable);
        this.#refused.delete(key);
        const own = this.#tokenAccountsOf(watched.address, watched.network.contract ?? '');
        for (const account of found) own.add(account);
      }
    }
  }
}

function toAccounts(
  node: Node,
  response: unknown,
  onUnreadable: (detail: string) => void,
): string[] {
  const { value } = toValue(node, response, 'token accounts');
  return readEach(
    toList(node, value, 'token accounts'),
    each => [toText(node, toFields(node, each, 'a token account').pubkey, 'a token account')],
    (_, detail) => onUnreadable(detail),
  );
}

/** The balances of accounts, as texts to compare. An account that does not exist holds nothing. */
async function readStates(
  node: Node,
  accounts: readonly string[],
  slot: number,
): Promise<string[]> {
  const states: string[] = [];
  const parts = inParts(accounts, ACCOUNTS_PER_CALL);
  const options = { ...CONFIRMED, encoding: 'base64', dataSlice: AMOUNT, minContextSlot: slot };
  const responses = await node.batch(
    parts.map(part => ({ method: 'getMultipleAccounts', params: [part, options] })),
  );
  for (const [index, part] of parts.entries()) {
    const { value } = toValue(node, orThrow(node, responses[index]), 'accounts');
    const list = toList(node, value, 'accounts');
    if (list.length !== part.length) throw failure(node, 'accounts are missing');
    for (const each of list) {
      const fields = each === null ? null : readOrFailure(() => toFields(node, each, 'an account'));
      // An account that cannot be read counts as changed, so that its transactions are listed.
      if (fields === null) states.push('none');
      else if (fields instanceof NodeFailure) states.push(`unreadable ${slot} ${states.length}`);
      else states.push(writeJson([fields.lamports, fields.data]));
    }
  }
  return states;
}

/** The slot is part of the key: another branch may have the same transaction in another slot. */
function keyOf({ slot, signature }: Pick<ListedSignature, 'slot' | 'signature'>): string {
  return `${slot} ${signature}`;
}
