/** How sure a transfer is: in a block or the mempool, beyond recall, undone, or failed on chain. */
export type Finality = 'seen' | 'final' | 'reversed' | 'failed';

/** A transfer to a deposit address, as a chain watcher or the simulator reports it. */
export interface ObservedTransfer {
  readonly blockchainId: string;
  readonly transactionHash: string;
  /** Log index, output or instruction within the transaction. */
  readonly position: number;
  /** The receiving address in its canonical spelling. */
  readonly address: string;
  /** Integer of the asset's smallest unit. */
  readonly tokenAmount: bigint;
  /** Null while it is not in a block. */
  readonly blockHeight: number | null;
  readonly finality: Finality;
}
