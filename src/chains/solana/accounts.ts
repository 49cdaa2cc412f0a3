import { type Node, NodeFailure } from '../../nodes/node.ts';
import { writeJson } from '../../nodes/parse-json.ts';
import type { ScanRequest, Unreadable, WatchedAddress } from '../adapter.ts';
import { toFields, toList } from '../responses.ts';
import { readEach, readOrFailure } from '../unreadable.ts';
import { associatedAccount } from './programs.ts';
import { CONFIRMED, orThrow, toText, toValue } from './responses.ts';
import type { ListedSignature } from './signatures.ts';

/** Accounts of one `getMultipleAccounts`, which takes no more. */
const ACCOUNTS_PER_CALL = 100;
/** Where a token account has its amount: 8 bytes (spl-token, state.rs). */
const AMOUNT = { offset: 64, length: 8 };
/** Looks after a change during which an account is listed again: a list may lag behind a balance. */
const HOT_LOOKS = 5;
/**
 * Looks after which accounts without a change are listed as well, and owners asked for new token accounts:
 * a minute. What came may have left again before it was seen.
 */
const LOOKS_PER_ROUND = 20;
/** Accounts, and owners, that are asked for in such a look, in turn. */
const ASKED_IN_TURN = 100;
/** Signatures that are remembered. More than these do not come within the slots that are listed again. */
const READ_MAXIMUM = 100_000;

/** The first and the last slot of a scan. */
type ScannedSlots = Pick<ScanRequest, 'from' | 'to'>;

interface Known {
  /** Lamports and amount, as they last were; undefined before the first look. */
  state: string | undefined;
  /** Looks for which it is listed again. */
  hot: number;
}

/** The accounts that transfers to watched owners arrive at, and which of them have changed. */
export class WatchedAccounts {
  readonly #accounts = new Map<string, Known>();
  /** Token accounts of an owner and a mint: the associated one, and others that were found. */
  readonly #tokenAccounts = new Map<string, Set<string>>();
  /** Signatures whose transactions are recorded, oldest first. */
  readonly #read = new Set<string>();
  /** The last scan, and what it has read. Whether that is recorded shows when the next one begins. */
  #last: ScannedSlots & { readonly read: readonly string[] } = { from: 0, to: -1, read: [] };
  #turn = 0;
  #looks = 0;

  /** Every account of these owners. */
  accountsOf(watch: readonly WatchedAddress[]): string[] {
    return watch.flatMap(each => this.#accountsOf(each));
  }

  /** Those of the watched addresses to which one of the accounts belongs. */
  ownersOf(accounts: ReadonlySet<string>, watch: readonly WatchedAddress[]): WatchedAddress[] {
    return watch.filter(each => this.#accountsOf(each).some(account => accounts.has(account)));
  }

  #accountsOf({ network: { contract }, address }: WatchedAddress): string[] {
    if (contract === null) return [address];
    const key = `${address} ${contract}`;
    const own = this.#tokenAccounts.get(key) ?? new Set([associatedAccount(address, contract)]);
    this.#tokenAccounts.set(key, own);
    return [...own];
  }

  /**
   * Reads what the accounts hold.
   * @param slot The node must have come as far.
   * @param unreadable Gets token accounts of an owner that cannot be read.
   * @returns Those whose transactions are to be listed: changed lately, new, or in turn.
   */
  async findChanged(
    node: Node,
    watch: readonly WatchedAddress[],
    slot: number,
    unreadable: Unreadable[],
  ): Promise<readonly string[]> {
    const isRound = this.#looks % LOOKS_PER_ROUND === 0;
    this.#looks += 1;
    await this.#findOthers(node, watch, isRound, unreadable);
    const accounts = [...new Set(this.accountsOf(watch))];
    const states = await readStates(node, accounts, slot);
    const listed: string[] = [];
    for (const [index, account] of accounts.entries()) {
      const known = this.#accounts.get(account) ?? { state: undefined, hot: 0 };
      this.#accounts.set(account, known);
      const state = states[index];
      // Of a new one nothing is known; one list tells what came before.
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
   * To be called before a scan. One that goes on where the last one ended shows that what that one has read is
   * recorded. One that repeats it shows the opposite, and one that begins below it follows a fork or is a rescan.
   */
  begin({ from }: ScannedSlots): void {
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

  /** Tells what a scan has read. */
  noteRead({ from, to }: ScannedSlots, read: Iterable<ListedSignature>): void {
    this.#last = { from, to, read: [...read].map(keyOf) };
  }

  /**
   * Has accounts listed with the next look, though they may not change any more: what they held was read after
   * the newest block of this one.
   */
  listAgain(accounts: Iterable<string>): void {
    for (const account of accounts) {
      const known = this.#accounts.get(account);
      if (known !== undefined) known.hot = Math.max(known.hot, 1);
    }
  }

  /** Looks at every account as at a new one: what was noticed is not recorded. */
  noticeAgain(): void {
    this.#accounts.clear();
  }

  #inTurn<T>(all: readonly T[]): T[] {
    if (all.length === 0) return [];
    const start = this.#turn % all.length;
    return [...all.slice(start), ...all.slice(0, start)].slice(0, ASKED_IN_TURN);
  }

  /** Forgets accounts that nobody watches any more. */
  #forget(accounts: readonly string[]): void {
    if (this.#accounts.size <= accounts.length * 2) return;
    const live = new Set(accounts);
    for (const account of this.#accounts.keys()) {
      if (!live.has(account)) this.#accounts.delete(account);
    }
  }

  /** Looks for token accounts beside the associated one: of owners that are new, and of others in turn. */
  async #findOthers(
    node: Node,
    watch: readonly WatchedAddress[],
    isRound: boolean,
    unreadable: Unreadable[],
  ): Promise<void> {
    const tokens = watch.filter(({ network }) => network.contract !== null);
    const isNew = ({ network, address }: WatchedAddress) =>
      !this.#tokenAccounts.has(`${address} ${network.contract}`);
    const others = isRound ? this.#inTurn(tokens) : [];
    const asked = [...new Set([...tokens.filter(isNew), ...others])];
    for (let next = 0; next < asked.length; next += ACCOUNTS_PER_CALL) {
      const together = asked.slice(next, next + ACCOUNTS_PER_CALL);
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
      for (const [index, watched] of together.entries()) {
        const { network, address } = watched;
        const mint = network.contract ?? '';
        const key = `${address} ${mint}`;
        const own = this.#tokenAccounts.get(key) ?? new Set([associatedAccount(address, mint)]);
        const onUnreadable = (detail: string) =>
          unreadable.push({ transactionHash: null, height: null, watched: [watched], detail });
        for (const account of toAccounts(node, responses[index], onUnreadable)) own.add(account);
        this.#tokenAccounts.set(key, own);
      }
    }
  }
}

function toAccounts(
  node: Node,
  response: unknown,
  onUnreadable: (detail: string) => void,
): string[] {
  const { value } = toValue(node, orThrow(node, response), 'token accounts');
  return readEach(
    toList(node, value, 'token accounts'),
    each => [toText(node, toFields(node, each, 'a token account').pubkey, 'a token account')],
    (_, detail) => onUnreadable(detail),
  );
}

/** What accounts hold, as a text that changes when that does; an account that does not exist holds nothing. */
async function readStates(
  node: Node,
  accounts: readonly string[],
  slot: number,
): Promise<string[]> {
  const states: string[] = [];
  const parts: string[][] = [];
  for (let next = 0; next < accounts.length; next += ACCOUNTS_PER_CALL) {
    parts.push(accounts.slice(next, next + ACCOUNTS_PER_CALL));
  }
  const options = { ...CONFIRMED, encoding: 'base64', dataSlice: AMOUNT, minContextSlot: slot };
  const responses = await node.batch(
    parts.map(part => ({ method: 'getMultipleAccounts', params: [part, options] })),
  );
  for (const [index, part] of parts.entries()) {
    const { value } = toValue(node, orThrow(node, responses[index]), 'accounts');
    const list = toList(node, value, 'accounts');
    if (list.length !== part.length) throw new NodeFailure(`${node.label}: accounts are missing`);
    for (const each of list) {
      const fields = each === null ? null : readOrFailure(() => toFields(node, each, 'an account'));
      // Of one that cannot be read nothing is known: its transactions tell.
      if (fields === null) states.push('none');
      else if (fields instanceof NodeFailure) states.push(`unreadable ${slot} ${states.length}`);
      else states.push(writeJson([fields.lamports, fields.data]));
    }
  }
  return states;
}

/** Another branch may have the same transaction in another slot. */
function keyOf({ slot, signature }: Pick<ListedSignature, 'slot' | 'signature'>): string {
  return `${slot} ${signature}`;
}
