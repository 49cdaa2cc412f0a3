import { Counter, Histogram } from 'prom-client';

/** Reorganisations that undid recorded blocks, by chain. */
export const reorganisations = new Counter({
  name: 'eps_chain_reorgs_total',
  help: 'Reorganisations that undid recorded blocks',
  labelNames: ['chain'],
});

/** Blocks that a reorganisation undid. */
export const reorganisationDepth = new Histogram({
  name: 'eps_chain_reorg_depth',
  help: 'Blocks that a reorganisation undid',
  labelNames: ['chain'],
  buckets: [1, 2, 3, 6, 12, 32, 64, 128, 300],
});

/** Deposits that the check node saw differently. */
export const disagreements = new Counter({
  name: 'eps_node_disagreements_total',
  help: 'Deposits that a check node does not confirm as the primary node shows them',
  labelNames: ['chain', 'node'],
});

/** Transfers that were left out as dust. */
export const dustTransfers = new Counter({
  name: 'eps_dust_transfers_total',
  help: 'Transfers to watched addresses that are worth nothing to any payment, and were only counted',
  labelNames: ['blockchain_id'],
});
