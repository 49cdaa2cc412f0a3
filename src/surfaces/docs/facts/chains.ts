import { chainOf } from '#chains/chain-list.ts';
import { LOOKS } from '#chains/missing-items.ts';
import { SPARED_SHARE, SPENT_PAUSE_MS } from '#chains/nodes/daily-quota.ts';
import { HEAD_AGE_MS } from '#chains/nodes/open-node-set.ts';
import { RESPONSE_MAXIMUM_BYTES } from '#chains/nodes/response-limits.ts';
import {
  LAG_PAUSE_MAXIMUM_MS,
  STRIKE_PAUSE_MAXIMUM_MS,
  STRIKE_PAUSE_MS,
} from '#chains/nodes/strikes.ts';
import { OVERSIZED_PAUSE_MS } from '#chains/nodes/unusable-response.ts';
import { EXPLAINED_MAXIMUM } from '#chains/solana/holdings.ts';
import { SPAN_MAXIMUM } from '#chains/tron/holdings.ts';
import { QUIET_HOUR } from '#onchain/watching/audit/reconciliation.ts';
import { LEASE_MS } from '#onchain/watching/lease.ts';
import { LOOK_UP_CALLS_PER_SECOND } from '#onchain/watching/look-up/look-ups.ts';
import { FORGOTTEN_AFTER_MS } from '#onchain/watching/loop/check-unconfirmed.ts';
import { IDLE_POLL_MS } from '#onchain/watching/loop/idle-watch.ts';
import { TRACED_MAXIMUM } from '#onchain/watching/loop/rescan.ts';
import { CONFIGURABLE_CONTRACTS } from '#onchain/watching/operate/configure-network.ts';
import { REQUESTS_PER_SECOND } from '#onchain/watching/operate/manage-nodes.ts';
import { RESCAN_MAXIMUM } from '#onchain/watching/operate/operate-chain.ts';
import { BLOCKCHAIN_IDS } from '#schemas/blockchain.ts';
import { chainTable, costTable, proofTable, ruleTable } from '../chain-tables.ts';
import { finalityTable, isTestNetwork, lagTable } from '../fact-tables.ts';
import { formatDuration } from '../format-duration.ts';
import { leastOnSolana, listLeastOnBitcoin } from '../least-amounts.ts';
import { codes } from '../write-markdown.ts';
import type { Facts } from './facts.ts';

const timesADay = (everyMs: number) => ((24 * 60 * 60_000) / everyMs).toLocaleString('en-US');

/** What guides tell of networks, chains and nodes. */
export const CHAIN_FACTS: Facts = {
  'least.bitcoin': listLeastOnBitcoin(),
  'least.solana': leastOnSolana(),
  'bitcoin.forgotten-after': formatDuration(FORGOTTEN_AFTER_MS / 1000),
  'networks.count': BLOCKCHAIN_IDS.length,
  'networks.production': codes(BLOCKCHAIN_IDS.filter(id => !isTestNetwork(id))),
  'networks.finality': finalityTable(),
  'networks.lags': lagTable(),
  'networks.test': codes(BLOCKCHAIN_IDS.filter(isTestNetwork)),
  'chains.table': chainTable(),
  'chains.rules': ruleTable(),
  'chains.costs': costTable(),
  'chains.proofs': proofTable(),
  'chains.contracts': codes(CONFIGURABLE_CONTRACTS),
  'chains.lease': formatDuration(LEASE_MS / 1000),
  'chains.second-look': formatDuration(chainOf('eth').secondLookAfterMs / 1000),
  'chains.idle-poll': formatDuration(IDLE_POLL_MS / 1000),
  'chains.idle-looks': timesADay(IDLE_POLL_MS),
  'chains.tron-span': formatDuration((SPAN_MAXIMUM * chainOf('tron').blockMs) / 1000),
  'nodes.missing-looks': LOOKS,
  'nodes.head-poll': formatDuration(HEAD_AGE_MS / 1000),
  'nodes.head-polls': timesADay(HEAD_AGE_MS),
  'nodes.requests-per-second': REQUESTS_PER_SECOND,
  'nodes.look-up-calls': LOOK_UP_CALLS_PER_SECOND,
  'nodes.spared-share': `${100 * SPARED_SHARE} %`,
  'nodes.spent-pause': formatDuration(SPENT_PAUSE_MS / 1000),
  'nodes.response-max': `${RESPONSE_MAXIMUM_BYTES / 1024 / 1024} MiB`,
  'nodes.strike-pause': formatDuration(STRIKE_PAUSE_MS / 1000),
  'nodes.strike-pause-max': formatDuration(STRIKE_PAUSE_MAXIMUM_MS / 1000),
  'nodes.lag-pause-max': formatDuration(LAG_PAUSE_MAXIMUM_MS / 1000),
  'nodes.oversized-pause': formatDuration(OVERSIZED_PAUSE_MS / 1000),
  'rescan.traced-max': TRACED_MAXIMUM,
  'solana.explained-max': EXPLAINED_MAXIMUM,
  'audit.hour': `${String(QUIET_HOUR).padStart(2, '0')}:00`,
  'rescan.max': RESCAN_MAXIMUM.toLocaleString('en-US'),
};
