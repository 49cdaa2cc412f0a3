import type { Network, NetworkFamily } from '#storage/database/network-tables.ts';

/** The usual network fee of a transfer, at most, in cents; null if it can be several dollars. */
interface UsualFees {
  readonly native: number | null;
  readonly token: number | null;
}

// From fees that block explorers showed in 2026, rounded up generously, since payers compare networks by them.
// Those of Bitcoin follow demand and have reached tens of dollars. On Tron, a token costs energy, and its coin
// next to nothing.
const USUAL_FEES: Readonly<Record<NetworkFamily, UsualFees>> = {
  bitcoin: { native: null, token: null },
  ethereum: { native: 200, token: 300 },
  bnb: { native: 10, token: 10 },
  avalanche: { native: 10, token: 10 },
  solana: { native: 1, token: 1 },
  tron: { native: 30, token: 300 },
};

/**
 * The network fee that a payer's wallet usually adds, at most, in cents; null if it can be several dollars.
 * A hint, not a quote.
 */
export function networkFeeOf(network: Pick<Network, 'id' | 'family' | 'chain'>): number | null {
  const { native, token } = USUAL_FEES[network.family];
  // The network of a native asset has its chain's ID.
  return network.id === network.chain ? native : token;
}
