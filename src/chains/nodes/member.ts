import type { NodeRow, NodeState } from '#storage/database/watching-tables.ts';
import type { Clock } from '#time/clock.ts';
import { untilAborted } from '#time/until-aborted.ts';
import { createDailyQuota, type DailyQuota } from './daily-quota.ts';
import type { HeadHistory } from './head-history.ts';
import { LaggingNode, type Node, NodeFailure, RpcError, WrongIdentity } from './node.ts';
import { isCounted, type OpenNode } from './open-node.ts';
import { createStrikes } from './strikes.ts';

/** How long a verification counts, in milliseconds. */
const TRUSTED_MS = 60 * 60_000;
/** How long a node of another chain is not asked again, in milliseconds. */
const REFUSED_MS = 60_000;
/** How long a strike is shown as the node's state, in milliseconds. */
const STRIKE_SHOWN_MS = 5 * 60_000;
/** Longest that a verification may take, in milliseconds. */
const VERIFICATION_TIMEOUT_MS = 30_000;

/** The state of a node, for operators. */
export interface NodeStatus {
  readonly id: string;
  readonly label: string;
  readonly role: NodeRow['role'];
  readonly state: NodeState;
  /** Its newest block, when last asked. */
  readonly height: number | null;
  /** Without URL, headers or keys. */
  readonly lastError: string | null;
}

/** A node of a set, with its verification, its strikes and its quota. */
export interface Member {
  readonly open: OpenNode;
  readonly updatedAt: Date;
  readonly quota: DailyQuota;
  /** Milliseconds until it may be asked; 0 if it may be now. */
  pausedFor(): number;
  /**
   * Verifies the node, unless it was verified within the last hour and has not failed since.
   * @throws NodeFailure, or the signal's reason if it is aborted.
   */
  requireUsable(signal: AbortSignal): Promise<void>;
  /**
   * Verifies the node once more if a connection to it is newer than its verification.
   * @param always Whether to verify it in any case.
   * @throws NodeFailure, or the signal's reason if it is aborted.
   */
  verifyConnection(always: boolean, signal: AbortSignal): Promise<void>;
  /** Counts a failure that shows only in the contents of the node's responses. */
  struck(failure: Error): void;
  /** Every call for one purpose, such as a tick, has succeeded: earlier strikes no longer count. */
  succeeded(): void;
  /** It is a node of another chain: it is not asked again before its next verification, in a minute. */
  refuse(reason: string): void;
  status(): NodeStatus;
}

interface MemberOptions {
  readonly clock: Clock;
  readonly heads: HeadHistory;
  /** Throws WrongIdentity unless the node is one of the chain. */
  readonly verify: (node: Node) => Promise<void>;
  /** Aborts the verifications in flight when the set is closed. */
  readonly ending: AbortSignal;
}

interface Verified {
  readonly at: number;
  readonly failures: number;
  readonly connections: number;
}

interface Incident {
  readonly reason: string;
  readonly at: number;
}

interface Strike extends Incident {
  readonly failure: Error;
}

export function createMember(
  open: OpenNode,
  { updated_at: updatedAt, calls_per_day: perDay }: Pick<NodeRow, 'updated_at' | 'calls_per_day'>,
  { clock, heads, verify, ending }: MemberOptions,
): Member {
  const { id, label, role } = open.settings;
  const strikes = createStrikes(clock);
  let verified: Verified | null = null;
  let verifying: Promise<void> | null = null;
  let refusal: Incident | null = null;
  let strike: Strike | null = null;

  const isWithin = (event: { readonly at: number } | null, milliseconds: number) =>
    event !== null && Math.abs(clock() - event.at) < milliseconds;

  function refuse(reason: string): void {
    refusal = { reason, at: clock() };
    verified = null;
    heads.forget(id);
  }

  async function runVerification(): Promise<void> {
    const timeout = AbortSignal.timeout(VERIFICATION_TIMEOUT_MS);
    try {
      await verify(open.within(AbortSignal.any([ending, timeout])));
      refusal = null;
      verified = { at: clock(), failures: open.failures(), connections: open.connections() };
    } catch (error) {
      if (ending.aborted) throw error;
      if (error instanceof WrongIdentity) {
        refuse(error.message);
        throw new NodeFailure(`${label}: ${error.message}`);
      }
      const failure = timeout.aborted
        ? new NodeFailure(`${label}: could not be verified in time`)
        : error instanceof RpcError
          ? unverified(error)
          : error;
      // An error of the database says nothing about the node.
      if (failure instanceof NodeFailure) struck(failure);
      throw failure;
    } finally {
      verifying = null;
    }
  }

  /** The node did not say which chain it belongs to. It may still be the right one. */
  function unverified({ code, message }: RpcError): NodeFailure {
    return new NodeFailure(`${label}: could not be verified: it answered "${message}" (${code})`);
  }

  function struck(failure: Error): void {
    const isRepeated = strike?.failure === failure;
    if (isRepeated || (failure instanceof NodeFailure && isCounted(failure))) return;
    if (!isWithin(strike, STRIKE_SHOWN_MS)) strikes.succeeded();
    if (failure instanceof LaggingNode) strikes.lag();
    else strikes.strike();
    strike = { reason: failure.message, at: clock(), failure };
    verified = null;
  }

  async function verifyAgain(signal: AbortSignal): Promise<void> {
    verifying ??= runVerification();
    await untilAborted(verifying, signal);
  }

  function stateNow(): NodeState {
    if (refusal !== null) return 'refused';
    if (pausedFor() > 0 || open.lastFailure() !== null) return 'failing';
    if (verified === null) return isWithin(strike, STRIKE_SHOWN_MS) ? 'failing' : 'unknown';
    return heads.isStale(id) ? 'behind' : 'up';
  }

  function pausedFor(): number {
    const refused = refusal === null ? 0 : REFUSED_MS - Math.abs(clock() - refusal.at);
    return Math.max(open.pausedFor(), strikes.remaining(), refused);
  }

  return {
    open,
    updatedAt,
    quota: createDailyQuota({ perDay, made: open.calls, clock }),
    pausedFor,
    async requireUsable(signal) {
      signal.throwIfAborted();
      if (refusal !== null && isWithin(refusal, REFUSED_MS)) {
        throw new NodeFailure(`${label}: ${refusal.reason}`);
      }
      const leftAlone = strikes.remaining();
      if (leftAlone > 0) {
        const seconds = Math.ceil(leftAlone / 1000);
        throw new NodeFailure(`${label}: left alone for ${seconds} s after ${strike?.reason}`);
      }
      if (isWithin(verified, TRUSTED_MS) && verified?.failures === open.failures()) return;
      await verifyAgain(signal);
    },
    async verifyConnection(always, signal) {
      if (!always && verified?.connections === open.connections()) return;
      await verifyAgain(signal);
    },
    struck,
    succeeded: () => strikes.succeeded(),
    refuse,
    status() {
      const wrong = isWithin(strike, STRIKE_SHOWN_MS) ? strike?.reason : undefined;
      return {
        id,
        label,
        role,
        state: stateNow(),
        height: heads.headOf(id)?.height ?? null,
        lastError: refusal?.reason ?? open.lastFailure() ?? wrong ?? null,
      };
    },
  };
}
