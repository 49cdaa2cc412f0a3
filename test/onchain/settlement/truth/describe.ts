import { courseOf } from './course.ts';
import type { Fault } from './judge.ts';
import type { Played } from './played.ts';
import type { Rows } from './rows.ts';
import { clock } from './send.ts';

/** A history with its faults, for debugging. */
export function describeHistory(
  { history, taken, payments }: Played,
  rows: Rows,
  faults: readonly Fault[],
): string {
  const { seed, network, other, addresses, isWallet, toleranceBps, isRough } = history;
  const { isShared, hasTwoBranches } = history;
  const steps = courseOf(seed).map(
    ({ at, sweeps }, index) =>
      `  step ${index} at ${clock(at)}: ${history.turns[index]?.manner}; sweeps: ${sweeps.join(', ')}`,
  );
  const lines = taken.map(orders => {
    const [first = []] = orders;
    const note = orders.length > 1 ? ` (in any of ${orders.length} orders)` : '';
    return first.map(({ text }) => `  ${text}${note}`).join('\n');
  });
  return [
    `history ${seed} on ${network}${other === null ? '' : ` and ${other}`}, ${addresses} addresses${isWallet ? ' of a wallet' : ''}${isShared ? ' that two merchants have' : ''}${hasTwoBranches ? ' that two branches have' : ''}, tolerance ${toleranceBps} basis points, ${isRough ? 'rough' : 'smooth'}`,
    ...steps,
    ...lines,
    ...rows.payments.map(
      ({ id, status, session_status: session }) =>
        `  payment ${payments.findIndex(each => each?.id === id)} (${id}) is ${status}/${session}`,
    ),
    ...rows.deposits.map(
      row =>
        `  ${row.transaction_hash} ${row.position} is ${row.state}, ${row.outcome}, of payment ${payments.findIndex(each => each?.id === row.payment_id)}`,
    ),
    ...rows.reservations.map(
      row =>
        `  payment ${payments.findIndex(each => each?.id === row.payment_id)} had ${row.token_amount} at ${row.address} from ${clock(row.reserved_at.getTime())} to ${row.released_at === null ? 'now' : clock(row.released_at.getTime())}`,
    ),
    ...faults.map(({ kind, what }) => `  ${kind}: ${what}`),
  ].join('\n');
}
