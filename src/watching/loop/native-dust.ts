import type { Arrival } from '../../chains/adapter.ts';
import type { ChainState } from '../../database/watching-tables.ts';

type ChainPosition = Pick<ChainState, 'lease_epoch' | 'cursor_hash'>;

/**
 * What top-level transfers that are dust have brought to addresses since balances were last looked at. Losing
 * it costs the blocks in between a second reading; what was undone, read twice, or looked at by another worker
 * would hide as much of what contracts have sent.
 */
export class NativeDust {
  readonly #sums = new Map<string, bigint>();

  #epoch: number | undefined;
  #cursor: string | null = null;

  /** Forgets it all, unless the chain's lease and cursor are as the round before has left them. */
  begin({ lease_epoch: epoch, cursor_hash: cursor }: ChainPosition): void {
    if (epoch !== this.#epoch || cursor !== this.#cursor) this.clear();
    this.#epoch = epoch;
    this.#cursor = cursor;
  }

  /** @param through Hash of the last block that was scanned: the cursor from then on. */
  add(chain: string, dust: readonly Arrival[], through: string): void {
    // A transaction may have to be tried again.
    if (through === this.#cursor) return;
    this.#cursor = through;
    for (const { blockchainId, address, tokenAmount } of dust) {
      if (blockchainId === chain) this.#sums.set(address, this.of(address) + tokenAmount);
    }
  }

  of(address: string): bigint {
    return this.#sums.get(address) ?? 0n;
  }

  clear(): void {
    this.#sums.clear();
  }
}
