import type { Unreadable } from '../adapter.ts';
import { type Block, type ChainTransfer, transferTo, type WatchedAddress } from '../transfer.ts';
import { findNamed } from '../unreadable.ts';
import { scriptOf } from './script.ts';
import type { Transaction } from './transaction.ts';

/** Watched addresses by the script that pays to them. */
export type WatchedScripts = ReadonlyMap<string, WatchedAddress>;

/** Blocks until the output of a coinbase can be spent (Bitcoin Core, src/consensus/consensus.h). */
const COINBASE_MATURITY = 100;

/** Scripts to remember: addresses come back with each tick, and decoding takes a while. As many as can be watched. */
const REMEMBERED_MAXIMUM = 1_000_000;

/** Translates addresses into scripts, and remembers them. */
export class ScriptTable {
  readonly #scripts = new Map<string, string>();
  #last:
    | { readonly watch: readonly WatchedAddress[]; readonly watched: WatchedScripts }
    | undefined;

  /**
   * If two addresses have the same script, only the first one counts: an output is one transfer. The same list as
   * before costs nothing, however long it is.
   * @throws InvalidAddress
   */
  watched(watch: readonly WatchedAddress[]): WatchedScripts {
    if (this.#last?.watch !== watch) this.#last = { watch, watched: this.#translate(watch) };
    return this.#last.watched;
  }

  #translate(watch: readonly WatchedAddress[]): WatchedScripts {
    const watched = new Map<string, WatchedAddress>();
    for (const entry of watch) {
      const script = this.#scriptOf(entry.address);
      if (!watched.has(script)) watched.set(script, entry);
    }
    return watched;
  }

  #scriptOf(address: string): string {
    const known = this.#scripts.get(address);
    if (known !== undefined) return known;
    const script = scriptOf(address);
    if (this.#scripts.size >= REMEMBERED_MAXIMUM) this.#scripts.clear();
    this.#scripts.set(address, script);
    return script;
  }
}

/** A transaction that cannot be read, with the addresses whose script is somewhere in it. */
export function toUnreadable(
  { id, sent, detail }: { readonly id: string; readonly sent: unknown; readonly detail: string },
  watched: WatchedScripts,
  height: number | null,
): Unreadable {
  const scripts = new Map([...watched].map(([script, entry]) => [entry, script]));
  const named = findNamed(sent, watched.values(), entry => scripts.get(entry) ?? '');
  return { transactionHash: id, height, watched: named, detail };
}

/** Each output of a transaction that pays something to a watched script. */
export function transfersOf(
  { id, inputs, isCoinbase, outputs }: Transaction,
  watched: WatchedScripts,
  block: Block | null,
): ChainTransfer[] {
  return outputs.flatMap(({ script, value }, position) => {
    const entry = watched.get(script);
    if (entry === undefined || value === 0n) return [];
    const arrived = { transactionHash: id, position, tokenAmount: value, block };
    const maturity = isCoinbase ? COINBASE_MATURITY : 1;
    return [{ ...transferTo(entry, arrived), inputs, maturity }];
  });
}
