import type { Registry } from 'prom-client';
import { listNodeCalls, type NodeCallsNow } from '#storage/repositories/chains/node-calls.ts';
import {
  type ChainStatus,
  countHeldPayments,
  countOpenFindings,
  findOldestSeen,
  listChainStatus,
} from '#storage/repositories/chains/status.ts';
import { endOfDay, utcDay } from '#time/days.ts';
import type { BacklogDependencies } from './backlog-gauges.ts';
import { snapshotOf } from './snapshot.ts';
import { type RegisterGauge, snapshotGauges } from './snapshot-gauges.ts';

/** How long a reading of the database is reused, in milliseconds. */
const LIFETIME_MS = 10_000;
const DAY_MS = 24 * 60 * 60_000;

/** What is usual for a chain, in milliseconds. */
export interface ChainLimits {
  readonly id: string;
  /** How far its watcher may lag while its networks are offered. */
  readonly offeredLagMs: number;
  /** Usual time from a transfer to its finality. */
  readonly usualFinalityMs: number;
}

interface ChainGaugesDependencies extends BacklogDependencies {
  readonly chains: readonly ChainLimits[];
}

/** Registers gauges of how far chains are watched, for those that have nodes. */
export function registerChainGauges(registry: Registry, deps: ChainGaugesDependencies): void {
  const register = snapshotGauges(
    registry,
    snapshotOf(() => readChains(deps), LIFETIME_MS),
  );
  const ofEach = eachChain(register);
  ofEach(
    'eps_chain_height',
    'Newest block that a node of the chain has shown',
    ({ height }) => height,
  );
  ofEach(
    'eps_chain_scanned_height',
    'Block up to which the chain is scanned',
    ({ scannedHeight }) => scannedHeight,
  );
  ofEach(
    'eps_chain_final_height',
    'Newest block that is final by the rules of the chain; absent for Bitcoin',
    ({ finalHeight }) => finalHeight,
  );
  ofEach(
    'eps_chain_lag_seconds',
    'How old the time is up to which every transfer of the chain is recorded',
    ({ lagSeconds }) => lagSeconds,
  );
  ofEach(
    'eps_chain_lag_limit_seconds',
    'Lag beyond which networks of the chain are not offered',
    ({ limits }) => limits && limits.offeredLagMs / 1000,
  );
  ofEach(
    'eps_chain_halted',
    'Whether the chain is halted, so that nothing is written: 1 or 0',
    ({ halted }) => (halted === null ? 0 : 1),
  );
  ofEach(
    'eps_chain_payments_held',
    'Payments beyond their time that do not expire before the chain is watched up to their end',
    ({ held }) => held,
  );
  ofEach(
    'eps_chain_deposits_seen_oldest_seconds',
    'Age of the oldest deposit of the chain that is seen and not final; 0 without one',
    ({ seenSeconds }) => seenSeconds,
  );
  ofEach(
    'eps_chain_usual_finality_seconds',
    'Usual time from a transfer of the chain to its finality',
    ({ limits }) => limits && limits.usualFinalityMs / 1000,
  );
  const ofNodes = eachNode(register);
  ofNodes('eps_node_calls_today', 'Calls to the node since midnight UTC', ({ today }) => today);
  ofNodes(
    'eps_node_calls_per_day',
    'What a day of calls to the node costs at the rate of the last minutes',
    ({ perDay }) => perDay,
  );
  ofNodes(
    'eps_node_calls_expected',
    'Calls to the node until midnight UTC, if the rate stays',
    ({ expected }) => expected,
  );
  ofNodes(
    'eps_node_calls_limit',
    'Calls that the node may be asked a day; absent without a limit',
    ({ limit }) => limit,
  );
  register(
    'eps_findings_open',
    'Findings of watchers that are not resolved',
    ['chain', 'kind'],
    (gauge, { findings }) => {
      for (const { chain, kind, count } of findings) gauge.set({ chain, kind }, count);
    },
  );
}

/** Registers gauges with a value for each chain; null and undefined are left out. */
function eachChain(register: RegisterGauge<Reading>) {
  return (name: string, help: string, read: (chain: ChainReading) => number | null | undefined) => {
    register(name, help, ['chain'], (gauge, { chains }) => {
      for (const chain of chains) {
        const value = read(chain);
        if (value !== null && value !== undefined) gauge.set({ chain: chain.id }, value);
      }
    });
  };
}

/** Registers gauges with a value for each node; null is left out. */
function eachNode(register: RegisterGauge<Reading>) {
  return (name: string, help: string, read: (node: NodeReading) => number | null) => {
    register(name, help, ['chain', 'node'], (gauge, { nodes }) => {
      for (const node of nodes) {
        const value = read(node);
        if (value !== null) gauge.set({ chain: node.chain, node: node.label }, value);
      }
    });
  };
}

interface NodeReading extends NodeCallsNow {
  /** Calls by the end of the day, if the rate stays. */
  readonly expected: number;
}

interface ChainReading extends ChainStatus {
  readonly lagSeconds: number;
  readonly held: number;
  readonly seenSeconds: number;
  readonly limits: ChainLimits | undefined;
}

interface Reading {
  readonly chains: readonly ChainReading[];
  readonly nodes: readonly NodeReading[];
  readonly findings: Awaited<ReturnType<typeof countOpenFindings>>;
}

/** Reads the chains that have nodes in short statements, one after the other; null on failure. */
async function readChains({
  db,
  clock,
  chains,
  onError,
}: ChainGaugesDependencies): Promise<Reading | null> {
  const now = clock();
  const secondsSince = (since: Date) => Math.max(0, (now - since.getTime()) / 1000);
  try {
    const watched = (await listChainStatus(db)).filter(({ nodesSince }) => nodesSince !== null);
    const held = await countHeldPayments(db, new Date(now));
    const seen = await findOldestSeen(db);
    const findings = await countOpenFindings(db);
    const nodes = await listNodeCalls(db, new Date(now));
    const dayLeft = (endOfDay(utcDay(new Date(now))).getTime() - now) / DAY_MS;
    return {
      chains: watched.map(status => {
        const { id, watchedUntil, nodesSince } = status;
        const oldest = seen.find(({ chain }) => chain === id);
        // A chain that has never been watched lags since it has had a node.
        const since = watchedUntil ?? nodesSince;
        return {
          ...status,
          lagSeconds: since === null ? 0 : secondsSince(since),
          held: held.filter(({ chain }) => chain === id).reduce((sum, { count }) => sum + count, 0),
          seenSeconds: oldest === undefined ? 0 : secondsSince(oldest.since),
          limits: chains.find(limits => limits.id === id),
        };
      }),
      nodes: nodes.map(node => ({
        ...node,
        expected: node.today + Math.round((node.perDay ?? 0) * dayLeft),
      })),
      findings,
    };
  } catch (error) {
    onError(error);
    return null;
  }
}
