import { type Allowance, createAllowance } from '#chains/nodes/allowance.ts';
import { type Node, type NodeCall, RpcError } from '#chains/nodes/node.ts';
import type { Step } from '../onchain/watching/model-watcher.ts';
import type { TestApp } from './app.ts';

const GENESIS_SLOT = 10_000;
const SLOT_MS = 400;
/** Slots after which a block is confirmed, and after which it is final. */
const CONFIRMED_AFTER = 2;
const FINAL_AFTER = 34;
/** Latency of each request, in milliseconds. */
const LATENCY_MS = 100;
/** The sender of all payments. */
const PAYER = '2'.repeat(44);
/** The initial balance of every account. */
const BASE = 1_000_000_000;

type Json = Record<string, unknown>;

/** A payment of lamports. */
export interface Sent {
  readonly signature: string;
  /** When it was made, in milliseconds since the epoch. */
  readonly at: number;
  readonly slot: number;
  readonly address: string;
  readonly lamports: number;
}

/**
 * A Solana chain that follows the clock and has transfers of lamports only: more than a test could
 * execute. Transfers may be in the future.
 */
export class GeneratedSolana {
  readonly #clock: TestApp['clock'];
  readonly #begun: number;
  readonly #ofAddress = new Map<string, Sent[]>();
  readonly #ofSlot = new Map<number, Sent[]>();
  readonly #bySignature = new Map<string, Sent>();
  /** Whether blocks are shown with their transactions. */
  showsBlocks = true;

  constructor(clock: TestApp['clock']) {
    this.#clock = clock;
    this.#begun = clock.now - 60_000;
  }

  get confirmed(): number {
    return this.#slotAt(this.#clock.now) - CONFIRMED_AFTER;
  }

  get final(): number {
    return this.#slotAt(this.#clock.now) - FINAL_AFTER;
  }

  /** Transfers to one address must be sent in the order of time. */
  send(address: string, lamports: number, at = this.#clock.now): Sent {
    const slot = this.#slotAt(at);
    const signature = toText('S', this.#bySignature.size);
    const sent = { signature, at, slot, address, lamports };
    this.#bySignature.set(signature, sent);
    addTo(this.#ofAddress, address, sent);
    addTo(this.#ofSlot, slot, sent);
    return sent;
  }

  /**
   * A node that responds to `perSecond` calls a second; the clock advances during each wait.
   * @param step Called before each request.
   */
  node(perSecond: number, step: () => ReturnType<Step>): Node & { calls: number } {
    const clock = this.#clock;
    const elapse = (milliseconds: number) => {
      clock.now += Math.ceil(milliseconds);
    };
    const allowance: Allowance = createAllowance({
      perSecond,
      elapsed: () => clock.now,
      wait: async milliseconds => elapse(milliseconds),
    });
    const ask = async (calls: readonly NodeCall[]): Promise<unknown[]> => {
      await step();
      await allowance.take(calls.length, new AbortController().signal);
      elapse(LATENCY_MS);
      node.calls += calls.length;
      return calls.map(call => this.#answer(call));
    };
    const abilities = { trace: null, logRange: null, batch: 50, archive: true, pruneHeight: null };
    const node: Node & { calls: number } = {
      id: 'generated',
      label: 'generated',
      role: 'primary',
      abilities,
      calls: 0,
      async call(method, params) {
        const [answer] = await ask([{ method, params }]);
        if (answer instanceof RpcError) throw answer;
        return answer;
      },
      async batch(calls) {
        const answers: unknown[] = [];
        for (let next = 0; next < calls.length; next += perSecond) {
          answers.push(...(await ask(calls.slice(next, next + perSecond))));
        }
        return answers;
      },
      post: () => Promise.reject(new Error('no path is asked')),
    };
    return node;
  }

  #slotAt(at: number): number {
    return GENESIS_SLOT + Math.floor((at - this.#begun) / SLOT_MS);
  }

  #answer({ method, params }: NodeCall): unknown {
    const [first] = params;
    const options = (params.at(-1) ?? {}) as Json;
    const top = options.commitment === 'finalized' ? this.final : this.confirmed;
    if (Number(options.minContextSlot ?? 0) > top) {
      return new RpcError(-32016, 'Minimum context slot has not been reached');
    }
    const context = { slot: top };
    switch (method) {
      case 'getLatestBlockhash':
        return { context, value: { blockhash: toText('B', top), lastValidBlockHeight: top } };
      case 'getSlot':
        return top;
      case 'getBlock':
        return this.#block(Number(first), top, options.transactionDetails === 'accounts');
      case 'getBlocks':
        return [Number(params[1])];
      case 'getMultipleAccounts':
        return { context, value: (first as string[]).map(each => this.#account(each, top)) };
      case 'getSignaturesForAddress':
        return this.#list(String(first), top, options.before);
      case 'getTransaction':
        return this.#transaction(String(first), top);
      case 'getSignatureStatuses':
        return { context, value: [null] };
      default:
        throw new Error(`the node is not asked for ${method}`);
    }
  }

  #block(slot: number, top: number, isWhole: boolean): unknown {
    if (slot > top) return new RpcError(-32004, `Block not available for slot ${slot}`);
    if (isWhole && !this.showsBlocks) return new RpcError(-32602, 'Invalid params');
    const transactions = (this.#ofSlot.get(slot) ?? []).map(sent => ({
      meta: toMeta(sent),
      version: 'legacy',
      transaction: {
        accountKeys: [
          { pubkey: PAYER, signer: true, writable: true, source: 'transaction' },
          { pubkey: sent.address, signer: false, writable: true, source: 'transaction' },
        ],
        signatures: [sent.signature],
      },
    }));
    return {
      blockhash: toText('B', slot),
      previousBlockhash: toText('B', slot - 1),
      blockTime: Math.floor((this.#begun + (slot - GENESIS_SLOT) * SLOT_MS) / 1_000),
      ...(isWhole && { transactions }),
    };
  }

  #account(address: string, top: number): Json {
    const own = (this.#ofAddress.get(address) ?? []).filter(({ slot }) => slot <= top);
    const lamports = own.reduce((sum, each) => sum + each.lamports, BASE);
    return { lamports, data: ['', 'base64'] };
  }

  #list(address: string, top: number, before: unknown): Json[] {
    const all = (this.#ofAddress.get(address) ?? []).filter(({ slot }) => slot <= top).reverse();
    const start = all.findIndex(({ signature }) => signature === before) + 1;
    return all
      .slice(start, start + 1_000)
      .map(({ signature, slot }) => ({ signature, slot, err: null }));
  }

  #transaction(signature: string, top: number): Json | null {
    const sent = this.#bySignature.get(signature);
    if (sent === undefined || sent.slot > top) return null;
    return {
      slot: sent.slot,
      version: 'legacy',
      meta: toMeta(sent),
      transaction: {
        signatures: [signature],
        message: {
          accountKeys: [PAYER, sent.address],
          header: { numReadonlyUnsignedAccounts: 0 },
        },
      },
    };
  }
}

function toMeta({ lamports }: Sent): Json {
  return {
    err: null,
    preBalances: [BASE, BASE],
    postBalances: [BASE - lamports, BASE + lamports],
    preTokenBalances: [],
    postTokenBalances: [],
  };
}

/** A base58 text. */
function toText(kind: string, number: number): string {
  const digits = number.toString(9).replace(/\d/g, digit => String(Number(digit) + 1));
  return kind + digits.padStart(43, 'z');
}

function addTo<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
