import type { ChainAdapter } from './adapter.ts';
import { createBitcoinAdapter } from './bitcoin/adapter.ts';
import type { Chain } from './chain-list.ts';
import { createEvmAdapter } from './evm/adapter.ts';
import { createSolanaAdapter } from './solana/adapter.ts';
import { createTronAdapter } from './tron/adapter.ts';

/** Makes the adapter of a chain. */
export function adapterOf(chain: Chain): ChainAdapter {
  switch (chain.family) {
    case 'bitcoin':
      return createBitcoinAdapter();
    case 'evm':
      return createEvmAdapter(chain);
    case 'tron':
      return createTronAdapter(chain);
    case 'solana':
      return createSolanaAdapter();
  }
}
