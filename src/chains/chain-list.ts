import type { ChainFamily } from '#storage/database/watching-tables.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The facts about a chain that do not depend on its nodes. */
export interface Chain {
  readonly id: ChainId;
  readonly family: ChainFamily;
  /**
   * Chain IDs (EVM, Tron) or hashes of the first block (Bitcoin, Solana) that a node may have. Those of
   * private chains are accepted outside production only.
   */
  readonly identities: readonly {
    readonly id: string;
    readonly name: string;
    readonly private?: true;
  }[];
  /** Pause between two ticks, in milliseconds. */
  readonly pauseMs: number;
  /** Time between two blocks when they come fast, in milliseconds. */
  readonly blockMs: number;
  /** Entries of the ring: how far back a branch may begin, if it does not begin at a final block. */
  readonly ring: number;
  /** Age of an unchanged newest block at which another node is used, in milliseconds. */
  readonly staleHeadMs: number;
  /** How far `watched_until` may lag while the network is offered, in milliseconds. */
  readonly offeredLagMs: number;
  /** How far clocks of blocks may lead or lag, in milliseconds. */
  readonly clockSkewMs: number;
  /** Rule of finality unless the operator sets another one. */
  readonly finality: string;
  /** Whether every block that a node shows is final already (Avalanche). */
  readonly tipIsFinal: boolean;
  /**
   * Whether a block is final within a minute, so that only final blocks get a second look. On other chains the logs
   * of a block that may be undone are queried by its hash, which a server without the block must refuse.
   */
  readonly isFinalSoon: boolean;
  /**
   * Delay between the two scans of a range, in milliseconds: a server behind the URL may lag, and then leaves transfers
   * out without an error.
   */
  readonly secondLookAfterMs: number;
  /** What moves `watched_until`: scanned blocks, each poll, or each poll once everything it showed is final. */
  readonly coverage: 'blocks' | 'poll' | 'final-poll';
  /** Usual time from a transfer to its finality, in milliseconds. */
  readonly usualFinalityMs: number;
  /**
   * Whether the second look at a block reads its transfers from all its receipts, which must hash to the root in its
   * header. The guide on chains says what that costs.
   */
  readonly provesReceipts: boolean;
}

type Facts = Omit<Chain, 'id' | 'identities'>;

// Pauses, rings, limits and rules: as fast as the chains' own blocks and finality make useful, and within
// the allowance of a free plan.
/**
 * go-ethereum accepts blocks whose time is up to 15 s ahead, so the clocks of block producers and ours may differ by
 * that much. Block times are whole seconds.
 */
const BLOCK_CLOCKS_APART_MS = 17 * SECOND;

const BITCOIN: Facts = {
  family: 'bitcoin',
  pauseMs: 10 * SECOND,
  blockMs: 10 * MINUTE,
  ring: 12,
  staleHeadMs: 3 * HOUR,
  offeredLagMs: 2 * MINUTE,
  clockSkewMs: 2 * HOUR,
  finality: '1@100000,2@1000000,6',
  tipIsFinal: false,
  isFinalSoon: false,
  secondLookAfterMs: 30 * SECOND,
  coverage: 'poll',
  usualFinalityMs: HOUR,
  provesReceipts: false,
};
const ETHEREUM: Facts = {
  family: 'evm',
  pauseMs: 6 * SECOND,
  blockMs: 12 * SECOND,
  ring: 64,
  staleHeadMs: 90 * SECOND,
  offeredLagMs: 3 * MINUTE,
  clockSkewMs: BLOCK_CLOCKS_APART_MS,
  finality: '12@100000,final',
  tipIsFinal: false,
  isFinalSoon: false,
  secondLookAfterMs: 30 * SECOND,
  coverage: 'blocks',
  usualFinalityMs: 15 * MINUTE,
  provesReceipts: true,
};
const BNB: Facts = {
  ...ETHEREUM,
  pauseMs: 3 * SECOND,
  blockMs: 400,
  ring: 300,
  staleHeadMs: 30 * SECOND,
  offeredLagMs: MINUTE,
  finality: 'final',
  isFinalSoon: true,
  usualFinalityMs: 10 * SECOND,
  provesReceipts: false,
};
const AVALANCHE: Facts = {
  ...BNB,
  blockMs: SECOND,
  ring: 16,
  staleHeadMs: MINUTE,
  tipIsFinal: true,
};
const SOLANA: Facts = {
  family: 'solana',
  pauseMs: 3 * SECOND,
  blockMs: 400,
  ring: 64,
  staleHeadMs: 30 * SECOND,
  offeredLagMs: MINUTE,
  clockSkewMs: 30 * SECOND,
  finality: 'final',
  tipIsFinal: false,
  isFinalSoon: true,
  secondLookAfterMs: 30 * SECOND,
  coverage: 'final-poll',
  usualFinalityMs: 15 * SECOND,
  provesReceipts: false,
};
const TRON: Facts = {
  ...BNB,
  family: 'tron',
  blockMs: 3 * SECOND,
  ring: 64,
  staleHeadMs: MINUTE,
  offeredLagMs: 2 * MINUTE,
  usualFinalityMs: MINUTE,
};

// Chain IDs: ethereum-lists/chains; those of Tron (0x94a9059e, 0xcd8690dc) are the last digits of the first block's
// hash, developers.tron.network/reference-link/eth_chainid. First blocks: Bitcoin Core, src/kernel/chainparams.cpp;
// Solana, docs.solana.com/clusters.
const CHAINS = {
  avax: { ...AVALANCHE, identities: [{ id: '43114', name: 'Avalanche C-Chain' }] },
  bnb: { ...BNB, identities: [{ id: '56', name: 'BNB Smart Chain' }] },
  btc: {
    ...BITCOIN,
    identities: [
      {
        id: '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f',
        name: 'Bitcoin mainnet',
      },
    ],
  },
  eth: { ...ETHEREUM, identities: [{ id: '1', name: 'Ethereum mainnet' }] },
  sol: {
    ...SOLANA,
    identities: [{ id: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d', name: 'Solana mainnet' }],
  },
  tron: { ...TRON, identities: [{ id: '728126428', name: 'Tron mainnet' }] },
  'avax-test': { ...AVALANCHE, identities: [{ id: '43113', name: 'Avalanche Fuji' }] },
  'bnb-test': { ...BNB, identities: [{ id: '97', name: 'BNB Smart Chain testnet' }] },
  'btc-test': {
    ...BITCOIN,
    identities: [
      {
        id: '00000000da84f2bafbbc53dee25a72ae507ff4914b867c565be350b0da8bf043',
        name: 'Bitcoin testnet4',
      },
      {
        id: '000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943',
        name: 'Bitcoin testnet3',
      },
      {
        id: '00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6',
        name: 'Bitcoin signet',
      },
      {
        id: '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206',
        name: 'Bitcoin regtest',
        private: true,
      },
    ],
  },
  'eth-test': { ...ETHEREUM, identities: [{ id: '11155111', name: 'Ethereum Sepolia' }] },
  'sol-dev': {
    ...SOLANA,
    identities: [{ id: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG', name: 'Solana devnet' }],
  },
  'tron-test': {
    ...TRON,
    identities: [
      { id: '2494104990', name: 'Tron Shasta' },
      { id: '3448148188', name: 'Tron Nile' },
    ],
  },
} as const satisfies Record<string, Omit<Chain, 'id'>>;

export type ChainId = keyof typeof CHAINS;

/** Every chain of the service; the database has a row for each. */
export const CHAIN_IDS = Object.keys(CHAINS) as ChainId[];

export function isChainId(text: string): text is ChainId {
  return Object.hasOwn(CHAINS, text);
}

export function chainOf(id: ChainId): Chain {
  return { id, ...CHAINS[id] };
}

/** All chains, in no particular order. */
export function listChains(): Chain[] {
  return CHAIN_IDS.map(chainOf);
}
