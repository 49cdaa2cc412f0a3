import type { Fault } from '../../settlement/truth/judge.ts';
import { type ChainRows, judgeChain, readChainRows } from './judge.ts';
import { describeOmission } from './omission.ts';
import { clock, type PlayedChain, playChains } from './play.ts';
import type { ChainStage } from './stage.ts';
import { isSettledByParts } from './wallet-rules.ts';
import { drawWorld } from './world.ts';

/** Counts over generated chains, by name. */
type ChainTally = Readonly<Record<string, number>>;

/** A chain on which something has gone wrong. */
interface ChainFailure {
  readonly seed: number;
  readonly faults: readonly Fault[];
  /** What happened, for humans. */
  readonly text: string;
}

/** Plays the chains of these seeds, all of one group, and judges them. */
export async function examineChains(
  stage: ChainStage,
  seeds: readonly number[],
): Promise<{ readonly tally: ChainTally; readonly failures: readonly ChainFailure[] }> {
  const played = await playChains(stage, seeds.map(drawWorld));
  const failures: ChainFailure[] = [];
  const tally: Record<string, number> = { chains: played.length };
  for (const [each, rows] of await readChainRows(stage, played)) {
    const faults = judgeChain(stage, each, rows);
    count(tally, each, rows);
    if (faults.length === 0) continue;
    failures.push({ seed: each.world.seed, faults, text: describe(each, rows, faults) });
  }
  return { tally, failures };
}

function count(
  tally: Record<string, number>,
  { chain, world }: PlayedChain,
  rows: ChainRows,
): void {
  const add = (name: string, value = 1) => {
    tally[name] = (tally[name] ?? 0) + value;
  };
  add('blocks', chain.blocks.size);
  add('blocks undone', chain.blocks.size - chain.best.length);
  if (chain.hasLeftOut) add(`left out: ${world.omission?.kind}`);
  if (world.wallet !== null) add('chains with a wallet');
  if (world.wallet?.isShared === true) add('chains with a wallet of two branches');
  for (const payment of rows.payments) {
    add(`payments ${payment.status}`);
    if (isSettledByParts(world, rows, payment)) add('payments settled by parts');
  }
  for (const { kind } of rows.findings) add(`findings ${kind}`);
  for (const { state, outcome, payment_id: id } of rows.deposits) {
    const isFunds = state === 'seen' || state === 'final';
    add(`transfers ${id !== null ? 'credited' : isFunds ? 'inbox' : 'no funds'}: ${outcome}`);
  }
}

/** A chain with its faults, for debugging. */
function describe(
  { world, chain, told, customers }: PlayedChain,
  rows: ChainRows,
  faults: readonly Fault[],
): string {
  const { seed, slot, undone, finalDepth, rule, hasCheck, isIndexed, omission, wallet } = world;
  const place = (id: string | null) => customers.ids.indexOf(id ?? undefined);
  return [
    `chain ${seed} on ${slot.chain}: undone ${undone}, final ${finalDepth} below, rule ${rule}${hasCheck ? ', a check node' : ''}${isIndexed ? ', an index' : ''}${wallet === null ? '' : `, a wallet of ${wallet.addresses.length}${wallet.isShared ? ' that two branches have' : ''}, tolerance ${world.toleranceBps}`}`,
    ...(omission === null || chain.leftOut === undefined
      ? []
      : [`  ${describeOmission(omission)}, of ${chain.leftOut.hash}`]),
    ...told.map(line => `  ${line}`),
    ...chain.best.flatMap(({ height, madeAt, hash, time, transactions }) =>
      transactions.length === 0
        ? []
        : [
            `  block ${height} ${hash.slice(0, 12)} made ${clock(madeAt)}, says ${clock(time * 1_000)}: ${transactions.map(each => each.hash).join(', ')}`,
          ],
    ),
    ...rows.payments.map(
      row =>
        `  payment ${place(row.id)} is ${row.status}/${row.session_status}, ends ${clock(row.expires_at.getTime())}`,
    ),
    ...rows.deposits.map(
      row =>
        `  ${row.transaction_hash} ${row.position} of ${row.token_amount} is ${row.state}, ${row.outcome}, of payment ${place(row.payment_id)}, in ${row.block_height} ${row.block_hash?.slice(0, 12)}, occurred ${clock(row.earliest_at?.getTime() ?? 0)} to ${clock(row.occurred_at?.getTime() ?? 0)}`,
    ),
    ...rows.reservations.map(
      row =>
        `  payment ${place(row.payment_id)} had ${row.token_amount} of ${row.blockchain_id} at ${row.address} from ${clock(row.reserved_at.getTime())} to ${row.released_at === null ? 'now' : clock(row.released_at.getTime())}`,
    ),
    ...rows.findings.map(
      row =>
        `  finding ${row.kind} of ${row.blockchain_id} at ${row.address} in ${row.since_height} to ${row.height}, found ${clock(row.found_at.getTime())}, ${row.resolved_at === null ? 'open' : 'resolved'}: ${row.detail}`,
    ),
    ...faults.map(({ kind, what }) => `  ${kind}: ${what}`),
  ].join('\n');
}
