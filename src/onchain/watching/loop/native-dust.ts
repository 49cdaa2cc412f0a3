import type { Arrival } from '#chains/adapter.ts';
import type { ChainState } from '#storage/database/watching-tables.ts';

type ChainPosition = Pick<ChainState, 'lease_epoch' | 'cursor_hash'>;

/**
 * Sums of dust by address since balances were last compared. They explain rises of balances. If they are lost, blocks
 * are read a second time. They are dropped after a reorganisation, a repeated scan or another worker's turn, since a
 * sum that is too high would hide transfers by contracts.
 */
export class NativeDust {
  readonly #sums = new Map<string, bigint>();

  #epoch: number | undefined;
  #cursor: string | null = null;

  /** Clears the sums, unless the chain's lease and cursor are as the previous round left them. */
  begin({ lease_epoch: epoch, cursor_hash: cursor }: ChainPosition): void {
    if (epoch !== this.#epoch || cursor !== this.#cursor) this.clear();
    this.#epoch = epoch;
    this.#cursor = cursor;
  }

  /** @param through Hash of the last block that was scanned: the cursor from then on. */
  add(chain: string, dust: readonly Arrival[], through: string): void {
    // The transaction may be retried.
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
