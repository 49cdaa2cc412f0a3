import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';

/** Length of a window by which the rate of calls is measured, in milliseconds. */
const WINDOW_MS = 10 * 60_000;
/** Age of a window at which its rate is out of date, in milliseconds. */
const RATE_AGE_MS = 3 * WINDOW_MS;

/** Calls that a process has made to a node. */
interface CountedCalls {
  readonly node: string;
  readonly calls: number;
}

/** Calls that all processes have made to a node on a UTC day. */
interface NodeCallsOfDay extends CountedCalls {
  /** YYYY-MM-DD. */
  readonly day: string;
}

/**
 * Adds calls to those of the day, and returns the sums of all processes; a new day begins with 0. Nodes that were
 * deleted are left out.
 */
export async function addNodeCalls(
  db: Connection,
  counts: readonly CountedCalls[],
  now: Date,
): Promise<NodeCallsOfDay[]> {
  const ended = sql`node_calls.window_from <= ${new Date(now.getTime() - WINDOW_MS)}`;
  const { rows } = await sql<NodeCallsOfDay>`
    insert into node_calls (node, day, calls, window_from, window_calls)
    select node, ${dayOf(now)}, calls, ${now}, 0
    from jsonb_to_recordset(${JSON.stringify(counts)}::jsonb) as counted (node uuid, calls bigint)
    where exists (select from nodes where id = counted.node)
    order by node
    on conflict (node) do update set
      day = greatest(node_calls.day, excluded.day),
      calls = excluded.calls +
        case when excluded.day > node_calls.day then 0 else node_calls.calls end,
      window_from = case when ${ended} then excluded.window_from else node_calls.window_from end,
      window_calls = case when ${ended} then 0 else node_calls.window_calls + excluded.calls end,
      per_day = case when ${ended} then round(
        86400 * (node_calls.window_calls + excluded.calls) /
        extract(epoch from excluded.window_from - node_calls.window_from)) else node_calls.per_day end
    returning node, day::text, calls`.execute(db);
  return rows;
}

const dayOf = (instant: Date) => sql`(${instant}::timestamptz at time zone 'UTC')::date`;

/** A node's calls and its quota. */
export interface NodeCallsNow {
  readonly node: string;
  readonly chain: string;
  readonly label: string;
  /** Calls of all processes since midnight, in UTC. */
  readonly today: number;
  /** Calls of a whole day at the rate of the last minutes; null while none has been measured. */
  readonly perDay: number | null;
  /** The quota; null without one. */
  readonly limit: number | null;
}

/** The calls of every node, in the order of `listNodes`. */
export async function listNodeCalls(db: Connection, now: Date): Promise<NodeCallsNow[]> {
  const { rows } = await sql<NodeCallsNow>`
    select nodes.id as node, nodes.chain, nodes.label, nodes.calls_per_day as "limit",
           case when node_calls.day = ${dayOf(now)} then node_calls.calls else 0 end as today,
           case when window_from > ${new Date(now.getTime() - RATE_AGE_MS)} then per_day end
             as "perDay"
    from nodes join chains on chains.id = nodes.chain left join node_calls on node = nodes.id
    order by chains.position, nodes.role desc, nodes.position
    limit 1000`.execute(db);
  return rows;
}
