import type { Network, NetworkFamily } from '../database/network-tables.ts';

/** What a family's network usually takes for a transfer, at most, in cents; null for more, and for any. */
interface UsualFees {
  readonly native: number | null;
  readonly token: number | null;
}

// From the fees that block explorers showed in 2026, rounded up generously: a payer compares by them. Bitcoin's
// follow demand and have reached tens of dollars. A token on Tron burns energy, its coin next to nothing.
const USUAL_FEES: Readonly<Record<NetworkFamily, UsualFees>> = {
  bitcoin: { native: null, token: null },
  ethereum: { native: 200, token: 300 },
  bnb: { native: 10, token: 10 },
  avalanche: { native: 10, token: 10 },
  solana: { native: 1, token: 1 },
  tron: { native: 30, token: 300 },
};

/**
 * What a payer's wallet usually adds for the network at most, in cents; null where it can be several dollars.
 * A hint, not a quote.
 */
export function networkFeeOf(network: Pick<Network, 'id' | 'family' | 'chain'>): number | null {
  const { native, token } = USUAL_FEES[network.family];
  // The network of a native asset has its chain's ID.
  return network.id === network.chain ? native : token;
}
