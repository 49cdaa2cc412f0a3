import type { BaseLogger } from 'pino';
import type { Connection } from '../database/connection.ts';
import { saveNodeStates } from '../repositories/nodes.ts';
import type { Clock } from '../time/clock.ts';
import type { NodeStatus } from './member.ts';
import { nodeUp } from './node-metrics.ts';

/** Time between two writes of what has changed little, in milliseconds. */
const WRITE_INTERVAL_MS = 10_000;

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

  const labelsOf = ({ label, role }: NodeStatus) => ({ chain, node: label, role });

  /** @returns Whether a state differs from the one told before. */
  function tell(statuses: readonly NodeStatus[]): boolean {
    const now = new Map(statuses.map(status => [status.id, status]));
    const gone = [...told.values()].filter(({ id, label, role }) => {
      const current = now.get(id);
      return current?.label !== label || current.role !== role;
    });
    for (const status of gone) nodeUp.remove(labelsOf(status));
    let differs = false;
    for (const status of statuses) {
      nodeUp.set(labelsOf(status), status.state === 'up' ? 1 : 0);
      const before = told.get(status.id)?.state ?? 'unknown';
      if (before === status.state) continue;
      differs = true;
      logChange(status);
    }
    told = now;
    return differs;
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
    close() {
      for (const status of told.values()) nodeUp.remove(labelsOf(status));
    },
  };
}
