import { Counter, Histogram } from 'prom-client';

export const reorganisations = new Counter({
  name: 'eps_chain_reorgs_total',
  help: 'Reorganisations that undid recorded blocks',
  labelNames: ['chain'],
});

export const reorganisationDepth = new Histogram({
  name: 'eps_chain_reorg_depth',
  help: 'Blocks that a reorganisation undid',
  labelNames: ['chain'],
  buckets: [1, 2, 3, 6, 12, 32, 64, 128, 300],
});

export const disagreements = new Counter({
  name: 'eps_node_disagreements_total',
  help: 'Deposits that a check node does not confirm as the primary node shows them',
  labelNames: ['chain', 'node'],
});

export const dustTransfers = new Counter({
  name: 'eps_dust_transfers_total',
  help: 'Transfers to watched addresses that are worth nothing to any payment, and were only counted',
  labelNames: ['blockchain_id'],
});
