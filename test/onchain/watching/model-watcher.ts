import { sql } from 'kysely';
import { pino } from 'pino';
import type { ChainAdapter } from '#chains/adapter.ts';
import { type Chain, type ChainId, chainOf } from '#chains/chain-list.ts';
import type { Look } from '#chains/nodes/daily-quota.ts';
import { type Node, NodeFailure } from '#chains/nodes/node.ts';
import type { NodeSet } from '#chains/nodes/node-set.ts';
import { createLease, type Lease } from '#onchain/watching/lease.ts';
import { createTick, type TickResult } from '#onchain/watching/loop/tick.ts';
import { createWatchList } from '#onchain/watching/watch-list.ts';
import type { Database } from '#storage/database/connection.ts';
import type { Clock } from '#time/clock.ts';
import type { TestApp } from '../../helpers/app.ts';
import { forgetTransfers } from '../../helpers/open-payment.ts';
import { ModelChain } from './model-chain.ts';

const MINUTE_MS = 60_000;

/** The process was ended with `kill -9`. */
export class Killed extends Error {}

/** Called before each call to a node, and before and after each commit. */
export type Step = () => Promise<void> | void;

export interface ModelWatcher {
  tick(step?: Step, signal?: AbortSignal): Promise<TickResult>;
  /** The model that the check node shows; null without one. */
  check: ModelChain | null;
  /** The model that a second primary node shows when it is asked for confirmation; null without one. */
  second: ModelChain | null;
  /** Whether the nodes respond. */
  up: boolean;
  /** Whether a quota permits the look. */
  mayLook(look: Look): boolean;
  /** Failures that were reported for the nodes. */
  readonly failures: Error[];
  /** Labels of nodes that a success was reported for. */
  readonly successes: string[];
  /** Why the primary node was set aside. */
  readonly distrusted: string[];
}

interface Options {
  readonly db: Database;
  readonly clock: Clock;
  readonly model: ModelChain;
  readonly chain: ChainId;
  readonly holder?: string;
}

const SILENT = pino({ level: 'silent' });

/** The real watcher over a model of a chain. */
export function createModelWatcher({
  db,
  clock,
  model,
  chain: id,
  holder = 'a',
}: Options): ModelWatcher {
  const chain: Chain = chainOf(id);
  let step: Step = () => undefined;
  const primary = modelNode('primary');
  const checkNode = modelNode('check', 'check');
  const secondNode = modelNode('second');
  const lease = stepping(createLease(db, chain.id, holder), () => step());
  model.forgetTold();
  const watcher = {
    chain,
    adapter: stepped(),
    nodes: nodeSetOf({
      async primary() {
        if (!self.up) throw new NodeFailure('primary is away');
        return primary;
      },
      check: async () => (self.check === null ? null : checkNode),
      another: async () =>
        self.check !== null ? checkNode : self.second !== null ? secondNode : null,
      mayLook: (look: Look) => self.mayLook(look),
      reportFailure: (_id, failure) => void self.failures.push(failure),
      reportSuccess: id => void self.successes.push(id),
      distrust: (_id, reason) => void self.distrusted.push(reason),
    }),
    db,
    clock,
    log: SILENT,
    lease,
    watchList: createWatchList(chain.id),
  };
  const tick = createTick(watcher);
  const self: ModelWatcher = {
    check: null,
    second: null,
    up: true,
    mayLook: () => true,
    failures: [],
    successes: [],
    distrusted: [],
    tick(hook = () => undefined, signal = AbortSignal.timeout(60_000)) {
      step = hook;
      return tick(signal);
    },
  };
  return self;

  /** The adapter of the model or of the check node, with a step before each call. */
  function stepped(): ChainAdapter {
    return new Proxy(model.adapter, {
      get(own, name) {
        const value = Reflect.get(own, name);
        if (typeof value !== 'function' || name === 'isInMempool') return value;
        return async (node: Node, ...rest: unknown[]) => {
          await step();
          if (!self.up) throw new NodeFailure(`${node.label} is away`);
          const model = node === checkNode ? self.check : node === secondNode ? self.second : null;
          const asked = model?.adapter ?? own;
          return Reflect.apply(Reflect.get(asked, name) as typeof value, asked, [node, ...rest]);
        };
      },
    });
  }
}

/** The healthy nodes of a chain, except as given. */
export function nodeSetOf(own: Pick<NodeSet, 'primary'> & Partial<NodeSet>): NodeSet {
  return {
    refresh: async () => undefined,
    mayLook: () => true,
    check: async () => null,
    another: async () => null,
    acceptHead: async () => undefined,
    reportFailure: () => undefined,
    reportSuccess: () => undefined,
    distrust: () => undefined,
    pausedFor: () => 0,
    state: () => undefined,
    states: () => [],
    close: async () => undefined,
    ...own,
  };
}

function modelNode(label: string, role: Node['role'] = 'primary'): Node {
  const unused = () => Promise.reject(new Error('the model answers instead'));
  const abilities = { trace: null, logRange: null, batch: 1, archive: false, pruneHeight: null };
  return {
    id: label,
    label,
    role,
    abilities,
    call: unused,
    batch: unused,
    post: unused,
  };
}

/** A lease with a step before and after each commit. */
export function stepping(lease: Lease, step: () => Promise<void> | void): Lease {
  return {
    ...lease,
    async writeBeside(work) {
      await step();
      const result = await lease.writeBeside(work);
      await step();
      return result;
    },
    async write(work) {
      await step();
      const result = await lease.write(work);
      await step();
      return result;
    },
  };
}

/** Blocks on top of one that the model calls final. */
export const FINAL_DEPTH = 4;

/**
 * Begins a test: two days later, without anything that earlier tests left, with a new model of the chain and its
 * watcher. Bitcoin's is final after three confirmations, any other when the model says so.
 */
export async function beginModel(
  { db, clock }: Pick<TestApp, 'db' | 'clock'>,
  chain: ChainId,
): Promise<{ model: ModelChain; watcher: ModelWatcher }> {
  const isBitcoin = chain === 'btc-test';
  clock.now += 48 * 60 * MINUTE_MS;
  await forgetTransfers(db);
  await watchModel(db, chain, isBitcoin ? '3' : 'final');
  const model = new ModelChain(clock, isBitcoin ? null : FINAL_DEPTH);
  clock.now += MINUTE_MS;
  return { model, watcher: createModelWatcher({ db, clock, model, chain }) };
}

/** Configures a network so that it is watched on the model. */
export async function watchModel(db: Database, chain: string, finality: string): Promise<void> {
  await sql`
    update chains set identity = 'model', cursor_height = null, cursor_hash = null, head_height = null,
      swept_height = null, polled_at = null, watched_until = null, expires_until = null, lease_until = null, halted = null
    where id = ${chain}`.execute(db);
  await sql`delete from chain_blocks where chain = ${chain}`.execute(db);
  await sql`
    update networks set settled_by = 'chain', finality = ${finality} where chain = ${chain}`.execute(
    db,
  );
}

/** Expires the current lease. */
export async function lapseLease(db: Database, chain: string): Promise<void> {
  await sql`
    update chains set lease_until = now() - interval '1 second' where id = ${chain}`.execute(db);
}
