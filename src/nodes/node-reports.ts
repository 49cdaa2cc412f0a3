import type { BaseLogger } from 'pino';
import type { Connection } from '../database/connection.ts';
import { saveNodeStates } from '../repositories/chains/nodes.ts';
import type { Clock } from '../time/clock.ts';
import type { NodeStatus } from './member.ts';
import { type NodeGauge, nodeGauges } from './node-metrics.ts';

/** Time between two writes of what has changed little, in milliseconds. */
const WRITE_INTERVAL_MS = 10_000;

/** Age at which a report says nothing any more: another worker may watch the chain, in milliseconds. */
const REPORT_AGE_MS = 120_000;

/** Tells operators how the nodes of a chain are: in the database, in a metric and in the log. */
export interface NodeReports {
  report(statuses: readonly NodeStatus[]): Promise<void>;
  /** Takes the chain's nodes out of the metric. */
  close(): void;
}

interface NodeReportsOptions {
  readonly db: Connection;
  readonly chain: string;
  readonly clock: Clock;
  readonly logger: Pick<BaseLogger, 'warn' | 'info'>;
}

export function createNodeReports({ db, chain, clock, logger }: NodeReportsOptions): NodeReports {
  let told = new Map<string, NodeStatus>();
  let writtenAt = 0;

  let reportedAt = 0;

  function gauges(): NodeGauge[] {
    if (Math.abs(clock() - reportedAt) > REPORT_AGE_MS) return [];
    return [...told.values()].map(({ label: node, role, state }) => ({
      ...{ chain, node, role },
      isUp: state === 'up',
    }));
  }
  nodeGauges.add(gauges);

  /** @returns Whether a state differs from the one told before. */
  function tell(statuses: readonly NodeStatus[]): boolean {
    const changed = statuses.filter(
      ({ id, state }) => state !== (told.get(id)?.state ?? 'unknown'),
    );
    for (const status of changed) logChange(status);
    told = new Map(statuses.map(status => [status.id, status]));
    reportedAt = clock();
    return changed.length > 0;
  }

  function logChange({ label: node, state, lastError, height }: NodeStatus): void {
    if (state === 'up') logger.info({ chain, node, height }, 'node is up');
    else logger.warn({ chain, node, state, lastError, height }, 'node is not up');
  }

  return {
    async report(statuses) {
      const differs = tell(statuses);
      if (!differs && Math.abs(clock() - writtenAt) < WRITE_INTERVAL_MS) return;
      writtenAt = clock();
      const sightings = statuses.map(({ id, state, height, lastError }) => ({
        ...{ node: id, state, height },
        last_error: lastError,
      }));
      await saveNodeStates(db, sightings, new Date(writtenAt));
    },
    close: () => void nodeGauges.delete(gauges),
  };
}
