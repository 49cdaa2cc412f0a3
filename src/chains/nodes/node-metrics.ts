import { Counter, Gauge, Histogram } from 'prom-client';

/** The outcome of a call. */
export type CallOutcome = 'answered' | 'refused' | 'throttled' | 'failed';

export const nodeRequests = new Counter({
  name: 'eps_node_requests_total',
  help: 'Calls to nodes; each call of a batch counts',
  labelNames: ['chain', 'node', 'method', 'outcome'],
});

/** From a node in the same network to the timeout of a trace, in seconds. */
const DURATION_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export const nodeRequestSeconds = new Histogram({
  name: 'eps_node_request_duration_seconds',
  help: 'Time that a request to a node took',
  labelNames: ['chain', 'node'],
  buckets: DURATION_BUCKETS,
});

/** A node as the metric shows it. */
export interface NodeGauge {
  readonly chain: string;
  readonly node: string;
  readonly role: string;
  readonly isUp: boolean;
}

/** The nodes of each watcher in this process; a watcher without a recent report has none. */
export const nodeGauges = new Set<() => readonly NodeGauge[]>();

new Gauge({
  name: 'eps_node_up',
  help: 'Whether a node answers, is that of the chain, and has its newest blocks',
  labelNames: ['chain', 'node', 'role'],
  collect() {
    this.reset();
    for (const read of nodeGauges) {
      for (const { isUp, ...labels } of read()) this.set(labels, isUp ? 1 : 0);
    }
  },
});
