import { type Selectable, sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type {
  NodeRole,
  NodeRow,
  NodeState,
  NodeStatesTable,
} from '../../database/watching-tables.ts';
import { deleteBy, findById, insertInto, updateById } from '../rows.ts';

/** A bound for queries: every node is asked for its head, so a chain has a handful. */
const NODES_MAXIMUM = 1_000;

/** Nodes of a chain, or of all, in the order of the chains and then in that in which they are asked. */
export function listNodes(db: Connection, chain?: string): Promise<NodeRow[]> {
  let query = db
    .selectFrom('nodes')
    .innerJoin('chains', 'chains.id', 'nodes.chain')
    .selectAll('nodes')
    .orderBy('chains.position')
    .orderBy('nodes.role', 'desc')
    .orderBy('nodes.position')
    .limit(NODES_MAXIMUM);
  if (chain !== undefined) query = query.where('nodes.chain', '=', chain);
  return query.execute();
}

export const findNode = findById('nodes');
export const insertNode = insertInto('nodes');
export const updateNode = updateById('nodes');

export const deleteNode = deleteBy('nodes', 'id');

/** What a watcher sees of a node now. */
type NodeSighting = Omit<Selectable<NodeStatesTable>, 'at'>;

/** Keeps what a watcher sees of its nodes; nodes that were deleted are left out. */
export async function saveNodeStates(
  db: Connection,
  sightings: readonly NodeSighting[],
  now: Date,
): Promise<void> {
  await sql`
    insert into node_states (node, state, height, last_error, at)
    select node, state, height, last_error, ${now}
    from jsonb_to_recordset(${JSON.stringify(sightings)}::jsonb)
      as seen (node uuid, state text, height bigint, last_error text)
    where exists (select from nodes where id = seen.node)
    on conflict (node) do update set
      state = excluded.state, height = excluded.height,
      last_error = excluded.last_error, at = excluded.at`.execute(db);
}

/** A node, and its state when its watcher last asked it. */
interface SeenNode {
  readonly id: string;
  readonly chain: string;
  readonly label: string;
  readonly role: NodeRole;
  readonly state: NodeState;
  readonly height: number | null;
  readonly lastError: string | null;
  /** When it was seen so; null while no watcher has asked it. */
  readonly at: Date | null;
}

/** What was last seen of the nodes of all chains, in the order of `listNodes`. */
export async function listSeenNodes(db: Connection): Promise<SeenNode[]> {
  const rows = await db
    .selectFrom('nodes')
    .innerJoin('chains', 'chains.id', 'nodes.chain')
    .leftJoin('node_states', 'node_states.node', 'nodes.id')
    .select(['nodes.id', 'nodes.chain', 'nodes.label', 'nodes.role'])
    .select(['state', 'height', 'last_error as lastError', 'at'])
    .orderBy('chains.position')
    .orderBy('nodes.role', 'desc')
    .orderBy('nodes.position')
    .limit(NODES_MAXIMUM)
    .execute();
  return rows.map(row => ({ ...row, state: row.state ?? 'unknown' }));
}
