import type { BaseLogger } from 'pino';
import type { Connection } from '#storage/database/connection.ts';
import { saveNodeStates } from '#storage/repositories/chains/nodes.ts';
import type { Clock } from '#time/clock.ts';
import type { NodeStatus } from './member.ts';
import { type NodeGauge, nodeGauges } from './node-metrics.ts';

/** Time between two writes while no state changes, in milliseconds. */
const WRITE_INTERVAL_MS = 10_000;

/** Age from which a report is no longer shown, in milliseconds: another worker may watch the chain by then. */
const REPORT_AGE_MS = 120_000;

interface NodeReportsOptions {
  readonly db: Connection;
  readonly chain: string;
  readonly clock: Clock;
  readonly logger: Pick<BaseLogger, 'warn' | 'info'>;
}

/** Reports the states of a chain's nodes to operators: in the database, in a metric and in the log. */
export function createNodeReports({ db, chain, clock, logger }: NodeReportsOptions) {
  let reported = new Map<string, NodeStatus>();
  let writtenAt = 0;
  let reportedAt = 0;

  function gauges(): NodeGauge[] {
    if (Math.abs(clock() - reportedAt) > REPORT_AGE_MS) return [];
    return [...reported.values()].map(({ label: node, role, state }) => ({
      chain,
      node,
      role,
      isUp: state === 'up',
    }));
  }
  nodeGauges.add(gauges);

  /** @returns Whether a state differs from the one reported before. */
  function update(statuses: readonly NodeStatus[]): boolean {
    const changed = statuses.filter(
      ({ id, state }) => state !== (reported.get(id)?.state ?? 'unknown'),
    );
    for (const status of changed) logChange(status);
    reported = new Map(statuses.map(status => [status.id, status]));
    reportedAt = clock();
    return changed.length > 0;
  }

  function logChange({ label: node, state, lastError, height }: NodeStatus): void {
    if (state === 'up') logger.info({ chain, node, height }, 'node is up');
    else logger.warn({ chain, node, state, lastError, height }, 'node is not up');
  }

  return {
    async report(statuses: readonly NodeStatus[]): Promise<void> {
      const differs = update(statuses);
      if (!differs && Math.abs(clock() - writtenAt) < WRITE_INTERVAL_MS) return;
      writtenAt = clock();
      const sightings = statuses.map(({ id, state, height, lastError }) => ({
        node: id,
        state,
        height,
        last_error: lastError,
      }));
      await saveNodeStates(db, sightings, new Date(writtenAt));
    },
    /** Takes the chain's nodes out of the metric. */
    close: () => void nodeGauges.delete(gauges),
  };
}
