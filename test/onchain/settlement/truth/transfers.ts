import { CHAINS, type NetworkId, START, type Step } from './course.ts';
import { type Amount, type Finality, momentIn, type Report, type Transfer } from './history.ts';
import type { Random } from './random.ts';

/** What customers send; repeated entries are more likely. */
const AMOUNTS: readonly Amount[] = [
  ...(['exact', 'exact', 'exact', 'exact', 'exact', 'half', 'half', 'most', 'bit over'] as const),
  ...(['just over', 'too much', 'dust', 'least tolerated', 'less than tolerated'] as const),
  ...(['one unit off', 'cut', 'cut', 'cut to little', 'rounded'] as const),
];

/** What becomes of transfers; repeated entries are more likely. */
const LIVES: readonly (readonly Finality[])[] = [
  ...Array<readonly Finality[]>(10).fill(['seen', 'final']),
  ...Array<readonly Finality[]>(3).fill(['final']),
  ['seen', 'reversed'],
  ['seen', 'reversed', 'seen', 'final'],
  ['seen', 'reversed', 'final'],
  ['seen', 'seen', 'final'],
  ['seen', 'failed'],
  ['seen', 'failed', 'final'],
  ['failed'],
  ['reversed', 'seen'],
  ['seen'],
];

/** The longest time that a prompt customer takes, in milliseconds. */
const PROMPT_MS = 14 * 60_000;

interface Setting {
  readonly course: readonly Step[];
  readonly network: NetworkId;
  /** When each payment was opened, in milliseconds since the epoch. */
  readonly opened: readonly number[];
}

/** Transfers, and their reports at each step. */
export interface Drawn {
  readonly transfers: Transfer[];
  readonly reports: Report[][];
}

/** Draws what customers send, and how it is reported. */
export function drawTransfers(random: Random, setting: Setting): Drawn {
  const { course, opened } = setting;
  const drawn: Drawn = { transfers: [], reports: course.map(() => []) };
  const count = random.pick([1, 1, 2, 2, 3, 4]);
  for (let index = 0; index < count; index++) {
    const payment = random.below(opened.length);
    const from = opened[payment] ?? START;
    const madeAt = random.chance(65)
      ? from + random.below(PROMPT_MS)
      : Math.max(from, momentIn(random, course, random.below(course.length - 2)));
    const amount = random.pick(AMOUNTS);
    const settled = send(random, setting, drawn, { payment, amount, madeAt });
    // A customer who has sent too little is asked for the rest, once the transfer is final.
    if ((amount === 'half' || amount === 'most') && random.chance(70)) {
      const rest = random.pick([
        'rest',
        'rest',
        'rest',
        'exact',
        'one unit off',
        'rest cut',
      ] as const);
      const later = settled + random.below(PROMPT_MS);
      send(random, setting, drawn, { payment, amount: rest, madeAt: later });
    }
  }
  return drawn;
}

/**
 * Adds a transfer with its reports.
 * @returns The step of its last report.
 */
function send(
  random: Random,
  { course, network }: Setting,
  { transfers, reports }: Drawn,
  wanted: Pick<Transfer, 'payment' | 'amount' | 'madeAt'>,
): number {
  const { chain, skewMs } = CHAINS[network];
  const polled = course.flatMap(({ watched }, step) => (watched[chain].isPolled ? [step] : []));
  // Nothing is sent during the last steps, which only wait for the end.
  const madeAt = Math.min(wanted.madeAt, course.at(-3)?.at ?? START);
  const first = polled.find(step => (course[step]?.at ?? 0) >= madeAt) ?? course.length - 1;
  // A node may miss it at first, but shows it before its chain is marked as scanned up to that time.
  const latest = course.findIndex(({ watched }) => watched[chain].until >= madeAt);
  const later = polled.filter(step => step > first && step <= latest);
  const found = later.length > 0 && random.chance(25) ? random.pick(later) : first;
  // Another transfer of the previous transaction, or a transaction of its own.
  const previous = random.chance(10) ? transfers.at(-1) : undefined;
  transfers.push({
    ...wanted,
    hash: previous?.hash ?? `tx-${transfers.length}`,
    position: previous === undefined ? 0 : previous.position + 1,
    madeAt,
    astray: random.chance(4),
    ...timesOf(random, { course, polled, first, found, madeAt, skewMs }),
  });
  const last = tell(random, { reports, polled, transfer: transfers.length - 1, found });
  return course[last]?.at ?? madeAt;
}

/**
 * Puts the reports of a transfer on steps at which its chain is polled.
 * @returns The step of the last one.
 */
function tell(
  random: Random,
  {
    reports,
    polled,
    transfer,
    found,
  }: {
    readonly reports: Report[][];
    readonly polled: readonly number[];
    readonly transfer: number;
    readonly found: number;
  },
): number {
  let place = Math.max(polled.indexOf(found), 0);
  for (const [index, finality] of random.pick(LIVES).entries()) {
    if (index > 0) place += random.pick([0, 1, 1, 1, 2]);
    const step = polled[Math.min(place, polled.length - 1)] ?? 0;
    const block = finality === 'reversed' || random.chance(8) ? null : 100 + step * 3 + index;
    const report: Report = { transfer, finality, block };
    reports[step]?.push(report);
    // Reported again, at once or after its state has changed.
    if (random.chance(12)) {
      const again = polled[Math.min(place + random.below(4), polled.length - 1)] ?? step;
      if (finality !== 'reversed' && finality !== 'failed') reports[again]?.push(report);
    }
  }
  // A final transfer stays final, whatever is reported later.
  if (random.chance(4)) {
    reports.at(-1)?.push({ transfer, finality: random.pick(['seen', 'reversed']), block: null });
  }
  return polled[Math.min(place, polled.length - 1)] ?? 0;
}

/** When the watcher thinks a transfer was made: now if it polled recently, else by the block's time. */
function timesOf(
  random: Random,
  {
    course,
    polled,
    first,
    found,
    madeAt,
    skewMs,
  }: {
    readonly course: readonly Step[];
    readonly polled: readonly number[];
    readonly first: number;
    readonly found: number;
    readonly madeAt: number;
    readonly skewMs: number;
  },
): Pick<Transfer, 'occurredAt' | 'earliestAt'> {
  const now = course[found]?.at ?? 0;
  const before = course[polled[polled.indexOf(found) - 1] ?? -1]?.at ?? START;
  if (found === first && now - before <= 60_000) {
    return { occurredAt: now, earliestAt: now };
  }
  // A mempool shows only that it was not there at the last poll.
  if (found === first && random.chance(15)) return { occurredAt: now, earliestAt: before };
  return { occurredAt: Math.min(now, madeAt + skewMs), earliestAt: Math.min(now, madeAt - skewMs) };
}
