import {
  queueRescan,
  RESCAN_MAXIMUM,
  resumeWatching,
} from '#onchain/watching/operate/operate-chain.ts';
import type { Rescan } from '#storage/database/watching-tables.ts';
import { listNetworks } from '#storage/repositories/chains/networks.ts';
import { listNodeCalls, type NodeCallsNow } from '#storage/repositories/chains/node-calls.ts';
import { listSeenNodes } from '#storage/repositories/chains/nodes.ts';
import { listOpenRescans } from '#storage/repositories/chains/rescans.ts';
import { countHeldPayments, listChainStatus } from '#storage/repositories/chains/status.ts';
import type { CliCommand } from '../cli-command.ts';
import { cell, type JsonFlag } from '../print.ts';
import type { Session } from '../session.ts';
import { CommandFailed } from '../terminal.ts';
import { integerFrom } from '../values.ts';

/** Higher than any chain. */
export const HEIGHT_MAXIMUM = 999_999_999;
const RESCANS_MAXIMUM = 100;

/** `mp network status` */
export function defineStatus(noun: CliCommand): void {
  noun
    .verb('status', 'show how far networks are watched')
    .argument('[id]', 'network ID (default: all)')
    .onDatabase(async (session, id: string | undefined, flags: JsonFlag) => {
      const networks = await statusObjects(session, id);
      if (flags.json) return session.show(networks);
      const rescans = (await listOpenRescans(session.db, RESCANS_MAXIMUM)).filter(
        ({ blockchain_id }) => id === undefined || blockchain_id === id,
      );
      const [only] = networks;
      if (id !== undefined && only !== undefined) {
        return session.show({ ...only, rescans: rescans.map(rescanObject) });
      }
      const columns = [
        ...(['id', 'watched', 'height', 'scannedHeight', 'finalHeight'] as const),
        ...(['lagBlocks', 'lagSeconds', 'heldPayments', 'holder', 'halted'] as const),
      ];
      const notes = new Set([...networks.flatMap(callLines), ...rescans.map(rescanLine)]);
      session.showList(networks, columns, notes.size === 0 ? undefined : [...notes].join('\n'));
    });
}

/** `mp network rescan` */
export function defineRescan(noun: CliCommand): void {
  const height = integerFrom(0, HEIGHT_MAXIMUM);
  noun
    .verb('rescan', 'scan blocks again, for every address that is configured')
    .argument('<id>', 'network ID, for example eth-usdt')
    .requiredOption('--from <block>', 'first block', height)
    .requiredOption('--to <block>', `last block; at most ${RESCAN_MAXIMUM} in all`, height)
    .onDatabase(async (session, id: string, { from, to }: { from: number; to: number }) => {
      const rescan = await queueRescan(session, id, { from, to });
      session.show(rescanObject(rescan), `Queued. Its progress: mp network status ${id}`);
    });
}

/** `mp network resume` */
export function defineResume(noun: CliCommand): void {
  noun
    .verb('resume', 'watch a halted chain on, or a chain once more from a block on')
    .argument('<chain>', 'chain ID, which is that of its native network, for example eth')
    .option(
      '--from <block>',
      'first block to scan (default: the one behind the last scanned)',
      integerFrom(1, HEIGHT_MAXIMUM),
    )
    .onDatabase(async (session, chain: string, { from = null }: { from?: number | null }) => {
      await resumeWatching(session, chain, from);
      const [resumed] = await statusObjects(session, chain);
      if (resumed !== undefined) session.show(resumed);
    });
}

/** Networks as `mp network status` shows them; the heights are those of their chains. */
async function statusObjects({ db, clock }: Session, id?: string) {
  const all = await listNetworks(db);
  const networks = all.filter(network => id === undefined || network.id === id);
  if (networks.length === 0) throw new CommandFailed(`There is no network ${id}.`);
  const now = clock();
  const chains = await listChainStatus(db);
  const held = await countHeldPayments(db, new Date(now));
  const nodes = await listSeenNodes(db);
  const calls = await listNodeCalls(db, new Date(now));
  return networks.map(network => {
    const status = chains.find(chain => chain.id === network.chain);
    const { height = null, scannedHeight = null, watchedUntil = null } = status ?? {};
    return {
      id: network.id,
      chain: network.chain,
      watched: network.settled_by === 'chain',
      halted: status?.halted ?? null,
      height,
      scannedHeight,
      finalHeight: status?.finalHeight ?? null,
      lagBlocks:
        height === null || scannedHeight === null ? null : Math.max(0, height - scannedHeight),
      lagSeconds:
        watchedUntil === null
          ? null
          : Math.max(0, Math.round((now - watchedUntil.getTime()) / 1000)),
      holder: status?.holder ?? null,
      heldPayments: held.find(({ blockchainId }) => blockchainId === network.id)?.count ?? 0,
      nodes: nodes
        .filter(node => node.chain === network.chain)
        .map(({ id, label, role, state, height, lastError }) => ({
          id,
          label,
          role,
          state,
          height,
          lastError,
          ...callsObject(calls.find(({ node }) => node === id)),
        })),
    };
  });
}

function rescanObject(rescan: Rescan) {
  return {
    id: rescan.id,
    network: rescan.blockchain_id,
    from: rescan.from_height,
    to: rescan.to_height,
    next: rescan.next_height,
    askedBy: rescan.asked_by,
    askedAt: rescan.asked_at,
    doneAt: rescan.done_at,
  };
}

/** A node's calls, and what is left of its daily quota. */
function callsObject({ today = 0, perDay = null, limit = null }: Partial<NodeCallsNow> = {}) {
  return {
    callsToday: today,
    /** Calls of a whole day at the present rate. */
    callsPerDayNow: perDay,
    callsPerDayLimit: limit,
    callsLeft: limit === null ? null : Math.max(0, limit - today),
  };
}

function callLines({ chain, nodes }: Awaited<ReturnType<typeof statusObjects>>[number]): string[] {
  const format = (calls: number) => calls.toLocaleString('en-US');
  return nodes.map(({ label, callsToday, callsPerDayNow, callsPerDayLimit, callsLeft }) => {
    const rate = callsPerDayNow === null ? '' : `, ${format(callsPerDayNow)} a day at this rate`;
    const left =
      callsPerDayLimit === null || callsLeft === null
        ? ''
        : `; ${format(callsLeft)} of ${format(callsPerDayLimit)} are left`;
    return `Node ${cell(label)} of ${chain}: ${format(callsToday)} calls today${rate}${left}.`;
  });
}

function rescanLine({ id, blockchain_id, from_height, to_height, next_height }: Rescan): string {
  const blocks = to_height - from_height + 1;
  const done = next_height - from_height;
  return `Rescan ${id} of ${blockchain_id}, ${from_height} to ${to_height}: ${done} of ${blocks} blocks.`;
}
