/** A block of the node's best chain. */
export interface Block {
  readonly height: number;
  /** As the chain writes it: 0x and lower case on EVM, hex without 0x on Bitcoin and Tron, base58 on Solana. */
  readonly hash: string;
  readonly parentHash: string;
  readonly time: Date;
}

/** A network of the chain, as watchers need it. */
export interface WatchedNetwork {
  readonly id: string;
  /** The token's contract in its canonical spelling; null for the native asset. */
  readonly contract: string | null;
}

/** An address that transfers on a network may arrive at, in its canonical spelling. */
export interface WatchedAddress {
  readonly network: WatchedNetwork;
  readonly address: string;
}

/** A transfer to a watched address, in a block or in the mempool. */
export interface ChainTransfer {
  /** Network, for example `eth-usdt`. */
  readonly blockchainId: string;
  readonly transactionHash: string;
  /** Unique within the transaction, and independent of the block that contains it. */
  readonly position: number;
  /** The canonical spelling, as in the watch list. */
  readonly address: string;
  /** Integer of the asset's smallest unit, more than 0. */
  readonly tokenAmount: bigint;
  /** null in the mempool. */
  readonly block: Pick<Block, 'height' | 'hash' | 'time'> | null;
  /**
   * When it entered the node's mempool, by the node's clock, where that was read: it may have been there before
   * the first look (Bitcoin).
   */
  readonly enteredAt?: Date;
  /** Outputs that the transaction spends, as `hash:index` (Bitcoin); null elsewhere. */
  readonly inputs: readonly string[] | null;
  /** Outputs that its ancestors in the mempool spend, likewise (Bitcoin); none unless given. */
  readonly ancestry?: readonly string[];
  /** Blocks that the chain requires before the transfer can be spent: 100 for a coinbase output, otherwise 1. */
  readonly maturity: number;
  /** Accounts with which a wallet may have marked the payment that this transfer pays (Solana Pay); none elsewhere. */
  readonly references?: readonly string[];
}

interface Arrived extends Pick<ChainTransfer, 'transactionHash' | 'position' | 'tokenAmount'> {
  readonly block: Pick<Block, 'height' | 'hash' | 'time'> | null;
}

/** A transfer to a watched address, as every chain but Bitcoin has it: without inputs, and spendable at once. */
export function transferTo(
  { network, address }: WatchedAddress,
  { transactionHash, position, tokenAmount, block }: Arrived,
): ChainTransfer {
  return {
    blockchainId: network.id,
    transactionHash,
    position,
    address,
    tokenAmount,
    block: block && { height: block.height, hash: block.hash, time: block.time },
    inputs: null,
    maturity: 1,
  };
}
