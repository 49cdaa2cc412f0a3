import type { WatchedAddress } from '#chains/transfer.ts';
import { type PlainNode, plainNode } from '../../helpers/plain-node.ts';
import { newWallet, SolanaNode, USDC, type Wallet } from '../../helpers/solana-node.ts';

/** A local Solana chain, with a wallet to pay from. */
interface TestChain {
  readonly solana: SolanaNode;
  readonly node: PlainNode;
  /** Has SOL, and owns the account `senderTokens`. */
  readonly sender: Wallet;
  /** An account that has USDC. */
  readonly senderTokens: string;
  stop(): Promise<void>;
}

/** @param now The clock of blocks, in milliseconds since the epoch. */
export async function startChain(now = Date.now): Promise<TestChain> {
  const solana = new SolanaNode(now);
  const stop = await solana.start();
  const sender = newWallet();
  solana.airdrop(sender.address, 1_000_000_000_000n);
  const senderTokens = solana.fund(sender.address, 1_000_000_000_000n);
  return { solana, node: plainNode(solana.url), sender, senderTokens, stop };
}

export const sol = (address: string): WatchedAddress => ({
  network: { id: 'sol-dev', contract: null },
  address,
});

export const usdc = (address: string): WatchedAddress => ({
  network: { id: 'sol-usdc-dev', contract: USDC },
  address,
});
