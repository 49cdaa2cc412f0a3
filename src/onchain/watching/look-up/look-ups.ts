import type { BaseLogger } from 'pino';
import { isNodeError } from '#chains/nodes/node.ts';
import type { NodeSet } from '#chains/nodes/node-set.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Clock } from '#time/clock.ts';
import { untilAborted } from '#time/until-aborted.ts';
import {
  type AskedNode,
  type LookUpQuestion,
  lookUpOnChain,
  type TransactionOnChain,
} from './look-up.ts';

/** A chain that can be asked. */
export interface LookUpChain {
  readonly adapter: AskedNode['adapter'];
  readonly nodes: Pick<NodeSet, 'refresh' | 'primary' | 'close'>;
}

/** Looks transactions up for customers. Time, rate and concurrency are limited: a chain may not be asked at all. */
export interface LookUps {
  /**
   * Resolves to null if the chain cannot be asked now.
   * @param client Identifies the network that the customer asks from.
   */
  ask(question: LookUpQuestion, client: string): Promise<TransactionOnChain | null>;
  close(): Promise<void>;
}

/** Timeout of a customer's look-up, in milliseconds. */
const WAIT_MS = 3_000;
/** How long a result is kept, in milliseconds. */
const KEPT_MS = 15_000;
const KEPT_MAXIMUM = 1_000;
/**
 * Maximum look-ups in flight for one chain, and within it for one payment and for one client, so that nobody uses up
 * what others need. Further ones are refused.
 */
const IN_FLIGHT_MAXIMUM = { chain: 4, payment: 1, client: 2 } as const;

/** Calls a second to a node for customers' look-ups; the watcher has the rest of the node's limit. */
export const LOOK_UP_CALLS_PER_SECOND = 2;

interface Kept {
  readonly response: Promise<TransactionOnChain | null>;
  readonly at: number;
}

export interface LookUpsOptions {
  readonly db: Connection;
  readonly clock: Clock;
  readonly logger: Pick<BaseLogger, 'info'>;
  /** Called once for each chain; returns null for a chain that this release cannot ask. */
  readonly open: (chain: string) => LookUpChain | null;
  /** Longest wait, in milliseconds; for tests. */
  readonly waitMs?: number;
}

/** Makes the look-ups of a process. No chain's nodes are opened before its first question. */
export function createLookUps(options: LookUpsOptions): LookUps {
  const { db, clock, logger, open, waitMs = WAIT_MS } = options;
  const chains = new Map<string, LookUpChain | null>();
  /** Number of look-ups by chain, and by payment and client within a chain. */
  const inFlight = new Map<string, number>();
  const kept = new Map<string, Kept>();

  function chainOf(id: string): LookUpChain | null {
    const opened = chains.get(id);
    if (opened !== undefined) return opened;
    const chain = open(id);
    chains.set(id, chain);
    return chain;
  }

  async function askNode(
    { adapter, nodes }: LookUpChain,
    question: LookUpQuestion,
  ): Promise<TransactionOnChain> {
    const signal = AbortSignal.timeout(waitMs);
    const work = async () => {
      await nodes.refresh();
      return lookUpOnChain(db, { adapter, node: await nodes.primary(signal) }, question);
    };
    return untilAborted(work(), signal);
  }

  async function ask(question: LookUpQuestion, client: string): Promise<TransactionOnChain | null> {
    const { chain: id } = question.network;
    const chain = chainOf(id);
    if (chain === null) return null;
    const leave = enter([
      [id, IN_FLIGHT_MAXIMUM.chain],
      [`${id} ${question.askedBy}`, IN_FLIGHT_MAXIMUM.payment],
      [`${id} from ${client}`, IN_FLIGHT_MAXIMUM.client],
    ]);
    if (leave === undefined) return null;
    try {
      return await askNode(chain, question);
    } catch (error) {
      if (!isExpected(error)) throw error;
      logger.info({ err: error, chain: id }, 'transaction not looked up');
      return null;
    } finally {
      leave();
    }
  }

  /** Takes a place under each key; undefined if one of them is full. */
  function enter(places: readonly (readonly [string, number])[]): (() => void) | undefined {
    if (places.some(([place, most]) => (inFlight.get(place) ?? 0) >= most)) return undefined;
    for (const [place] of places) inFlight.set(place, (inFlight.get(place) ?? 0) + 1);
    return () => {
      for (const [place] of places) {
        const rest = (inFlight.get(place) ?? 1) - 1;
        if (rest > 0) inFlight.set(place, rest);
        else inFlight.delete(place);
      }
    };
  }

  return {
    ask(question, client) {
      const key = keyOf(question);
      const now = clock();
      const held = kept.get(key);
      if (held !== undefined && Math.abs(now - held.at) < KEPT_MS) return held.response;
      const response = ask(question, client);
      kept.delete(key);
      const [oldest] = kept.keys();
      if (kept.size >= KEPT_MAXIMUM && oldest !== undefined) kept.delete(oldest);
      const entry = { response, at: now };
      kept.set(key, entry);
      // A look-up without a result may be repeated at once.
      const forget = () => {
        if (kept.get(key) === entry) kept.delete(key);
      };
      response.then(found => found === null && forget(), forget);
      return response;
    },
    async close() {
      const opened = [...chains.values()].filter(chain => chain !== null);
      chains.clear();
      await Promise.all(opened.map(({ nodes }) => nodes.close()));
    },
  };
}

/** Questions with the same key share a result: the same transaction, for the same payment. */
function keyOf({ network, transactionHash, watch, askedBy }: LookUpQuestion): string {
  const addresses = watch.map(({ address }) => address);
  return [network.id, transactionHash, askedBy, ...addresses].join(' ');
}

function isExpected(error: unknown): boolean {
  const isTimeout = error instanceof DOMException && error.name === 'TimeoutError';
  return isTimeout || isNodeError(error);
}
