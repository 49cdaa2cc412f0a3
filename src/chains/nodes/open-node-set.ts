import type { NodeRole, NodeRow } from '#storage/database/watching-tables.ts';
import { listNodes } from '#storage/repositories/chains/nodes.ts';
import { createCallCounts } from './call-counts.ts';
import { createHeadHistory } from './head-history.ts';
import { createMember, type Member } from './member.ts';
import { type Node, NodeFailure } from './node.ts';
import { createNodeReports } from './node-reports.ts';
import type { NodeSet, NodeSetOptions } from './node-set.ts';
import { settingsOf } from './node-settings.ts';
import { openNode } from './open-node.ts';

/**
 * Age at which a node's head is read again while the node is not in use, in milliseconds. It is more than the
 * half minute between two looks at a chain on which nothing is watched, so that a node in use is not asked twice.
 */
export const HEAD_AGE_MS = 45_000;

/** How far below its reported height a node has to show a block: another server behind its URL may lag so far. */
const SERVERS_LAG = 3;

/** Makes the set of a chain's nodes. It is empty until `refresh`. */
export function openNodeSet(options: NodeSetOptions): NodeSet {
  const { db, chain, keyring, clock, logger, verify, readHeight, hasBlock } = options;
  const controller = new AbortController();
  const heads = createHeadHistory({ staleMs: options.staleHeadMs, blockMs: options.blockMs });
  const reports = options.reports ? createNodeReports({ db, chain, clock, logger }) : undefined;
  const counts = createCallCounts({ db, clock, logger, reads: options.reports === true });
  /** In the order in which they are asked. */
  let members = new Map<string, Member>();
  /** Nodes whose access could not be opened, with the times at which their rows were changed. */
  const unreadable = new Map<string, Date>();
  const polls = new Map<string, Promise<void>>();
  /** Whether the chain has a check node, even one that cannot be opened: then nothing becomes final without it. */
  let hasCheck = false;

  function open(row: NodeRow): Member | undefined {
    try {
      const limit = options.requestsPerSecond ?? row.requests_per_second;
      const requestsPerSecond = Math.min(row.requests_per_second, limit);
      const settings = { ...settingsOf(keyring, row), requestsPerSecond };
      const memberOptions = { clock, heads, verify, ending: controller.signal };
      const openOptions = options.wait === undefined ? { clock } : { clock, wait: options.wait };
      return createMember(openNode(settings, openOptions), row, memberOptions);
    } catch (error) {
      if (unreadable.get(row.id)?.getTime() !== row.updated_at.getTime()) {
        logger.error({ err: error, chain, node: row.label }, 'node cannot be opened');
      }
      unreadable.set(row.id, row.updated_at);
      return undefined;
    }
  }

  function withRole(role: NodeRole): Member[] {
    return [...members.values()].filter(member => member.open.settings.role === role);
  }

  /** First those that may be asked now, then those in a pause, last those whose quota is used up. */
  function inOrder(list: readonly Member[]): Member[] {
    return list.toSorted(
      (one, other) =>
        Number(one.quota.isSpent()) - Number(other.quota.isSpent()) ||
        one.pausedFor() - other.pausedFor(),
    );
  }

  async function choose(list: readonly Member[], signal: AbortSignal): Promise<Node> {
    const reasons: string[] = [];
    const behind: Member[] = [];
    for (const member of inOrder(list)) {
      try {
        await member.requireUsable(signal);
      } catch (error) {
        if (!(error instanceof NodeFailure)) throw error;
        reasons.push(error.message);
        continue;
      }
      if (!heads.isStale(member.open.settings.id)) return member.open.within(signal);
      behind.push(member);
    }
    const heightOf = ({ open: { settings } }: Member) => heads.headOf(settings.id)?.height ?? 0;
    const [best] = behind.toSorted((one, other) => heightOf(other) - heightOf(one));
    if (best !== undefined) return best.open.within(signal);
    throw new NodeFailure(`no node of ${chain} can be asked: ${reasons.join('; ')}`);
  }

  async function accept(member: Member, height: number, signal: AbortSignal): Promise<void> {
    const { id, label } = member.open.settings;
    const isFar = heads.isFar(id, height, clock());
    // Before its first head the node has just been verified.
    const isKnown = heads.headOf(id) !== undefined;
    await member.verifyConnection(isFar && isKnown, signal);
    if (isFar && hasBlock !== undefined) {
      const shown = Math.max(0, height - SERVERS_LAG);
      if (!(await hasBlock(member.open.within(signal), shown))) {
        throw new NodeFailure(
          `${label} has no block ${shown}, and says that its newest is ${height}`,
        );
      }
    }
    heads.record(id, height, clock());
  }

  /** Keeps the heads of nodes that are not in use fresh, without holding up the tick. */
  function pollIdle(): void {
    // Without reports, heads are only read to compare nodes with one another.
    if (readHeight === undefined || (reports === undefined && members.size < 2)) return;
    for (const [id, member] of members) {
      const age = Math.abs(clock() - (heads.headOf(id)?.reportedAt ?? 0));
      if (age < HEAD_AGE_MS || member.pausedFor() > 0 || polls.has(id)) continue;
      const poll = async () => {
        try {
          await member.requireUsable(controller.signal);
          const height = await readHeight(member.open.within(controller.signal));
          await accept(member, height, controller.signal);
        } catch {
          // The member's status has the reason.
        } finally {
          polls.delete(id);
        }
      };
      polls.set(id, poll());
    }
  }

  const states = () => [...members.values()].map(member => member.status());

  return {
    async refresh() {
      const rows = await listNodes(db, chain);
      hasCheck = rows.some(({ role }) => role === 'check');
      const next = new Map<string, Member>();
      for (const row of rows) {
        const current = members.get(row.id);
        const isCurrent = current?.updatedAt.getTime() === row.updated_at.getTime();
        const member = isCurrent ? current : open(row);
        if (member !== undefined) next.set(row.id, member);
      }
      const gone = [...members].filter(([id, member]) => next.get(id) !== member);
      members = next;
      for (const [id] of gone) heads.forget(id);
      await Promise.all(gone.map(([, member]) => member.open.close()));
      await counts.writeLast(gone.map(([, member]) => member));
      await counts.write([...next.values()]);
      pollIdle();
      await reports?.report(states());
    },
    mayLook(look) {
      const [first] = inOrder(withRole('primary'));
      const [check] = inOrder(withRole('check'));
      // A check node is not asked if nothing is watched, and delays a look only while networks are still offered.
      const isAsked = look.kind !== 'idle' && check?.quota.isSpent() === false;
      const isCheckDue = !isAsked || check.quota.isDue(look, look.longestMs);
      if (first?.quota.isDue(look) === false || !isCheckDue) return false;
      first?.quota.begin(look);
      if (isAsked) check.quota.begin(look);
      return true;
    },
    async primary(signal) {
      const list = withRole('primary');
      if (list.length === 0) throw new NodeFailure(`${chain} has no primary node`);
      return choose(list, signal);
    },
    async check(signal, spares = false) {
      const list = withRole('check');
      if (list.length === 0 && !hasCheck) return null;
      const able = spares ? list.filter(({ quota }) => !quota.isSpent()) : list;
      if (able.length < list.length && able.length === 0) {
        throw new NodeFailure(`no check node of ${chain} has a call left today`);
      }
      return choose(able, signal);
    },
    async another(nodeId, signal) {
      const others = (role: NodeRole) =>
        withRole(role).filter(({ open: { settings } }) => settings.id !== nodeId);
      const [checks, primaries] = [others('check'), others('primary')];
      if (checks.length === 0 && primaries.length === 0) return null;
      try {
        return await choose(checks, signal);
      } catch (error) {
        if (!(error instanceof NodeFailure) || primaries.length === 0) throw error;
        return choose(primaries, signal);
      }
    },
    async acceptHead(nodeId, height, signal) {
      const member = members.get(nodeId);
      if (member !== undefined) await accept(member, height, signal);
    },
    reportFailure: (nodeId, failure) => members.get(nodeId)?.struck(failure),
    reportSuccess: nodeId => members.get(nodeId)?.succeeded(),
    pausedFor: () => Math.min(...withRole('primary').map(member => member.pausedFor())),
    distrust: (nodeId, reason) => members.get(nodeId)?.refuse(reason),
    state: nodeId => members.get(nodeId)?.status(),
    states,
    async close() {
      controller.abort(new Error(`the nodes of ${chain} are closed`));
      const last = [...members.values()];
      members = new Map();
      await Promise.all([...last.map(member => member.open.close()), ...polls.values()]);
      reports?.close();
      await counts.writeLast(last);
    },
  };
}
