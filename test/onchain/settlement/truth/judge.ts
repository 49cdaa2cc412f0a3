import type { Deposit } from '#storage/database/deposit-tables.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { CHAINS, courseOf, type NetworkId, SIMULATED } from './course.ts';
import { Ledger, type LedgerPayment } from './ledger.ts';
import type { Played, Sent, Taken } from './played.ts';
import { ASSETS, isProperRest } from './quote-rules.ts';
import type { Rows } from './rows.ts';

/** Kinds of faults, worst first. */
export const FAULTS = {
  'wrong credit': 'transfers credited to a payment that they do not pay',
  'lost transfer': 'transfers not recorded, not credited or not told of, as they must be',
  unfunded: 'payments successful without final funds',
  'expired though paid': 'payments expired that were paid in time',
  'other deviation': 'other deviations from the rules',
} as const;
export type FaultKind = keyof typeof FAULTS;

export interface Fault {
  readonly kind: FaultKind;
  readonly what: string;
}

const DAY_MS = 24 * 60 * 60_000;

/** Maximum number of orders of simultaneous acts to try: five at one step have 120, times those of other steps. */
const ORDERS_MAXIMUM = 20_000;

/** Compares a history's rows with the ledger, in each order in which its simultaneous acts may have happened. */
export function judge(played: Played, rows: Rows): Fault[] {
  let first: Fault[] | undefined;
  for (const order of orders(played.taken)) {
    const faults = compare(played, rows, order);
    if (faults.length === 0) {
      first = [];
      break;
    }
    first ??= faults;
  }
  const { isWallet } = played.history;
  return [
    ...checkFunds(rows, isWallet),
    ...checkExact(rows, isWallet),
    ...checkInTime(played, rows),
    ...(first ?? []),
  ];
}

function* orders(taken: Played['taken']): Generator<Taken[]> {
  const total = taken.reduce((product, { length }) => product * length, 1);
  for (let number = 0; number < Math.min(total, ORDERS_MAXIMUM); number++) {
    let rest = number;
    yield taken.flatMap(alternatives => {
      const chosen = alternatives[rest % alternatives.length] ?? [];
      rest = Math.floor(rest / alternatives.length);
      return chosen;
    });
  }
}

function compare(played: Played, rows: Rows, order: readonly Taken[]): Fault[] {
  const faults: Fault[] = [];
  const fault = (kind: FaultKind, what: string) => void faults.push({ kind, what });
  const ledger = new Ledger({
    toleranceBps: BigInt(played.history.toleranceBps),
    isWallet: played.history.isWallet,
    windowOf: network => rows.windows.get(network) ?? 0,
    leastOf: network => ASSETS[network as NetworkId].least,
    unitOf: network => ASSETS[network as NetworkId].unit,
    restOf(payment, at) {
      const rest = rows.reservations.find(
        each =>
          each.payment_id === payment && each.rest_of !== null && each.reserved_at.getTime() === at,
      );
      const amount = rest === undefined ? null : BigInt(rest.token_amount);
      checkRest(ledger, payment, amount, what => fault('other deviation', what));
      return amount;
    },
  });
  for (const { repeat } of order) repeat(ledger, what => fault('other deviation', what));
  compareDeposits(played, rows, ledger, fault);
  for (const payment of ledger.payments.values()) comparePayment(rows, payment, fault);
  const holds = ledger.holds.map(({ payment, address, amount, isRest, from, to }) =>
    [payment, address, amount, isRest, from, to].join(' '),
  );
  const reservations = rows.reservations.map(row =>
    [
      ...[row.payment_id, row.address, row.token_amount, row.rest_of !== null],
      ...[row.reserved_at.getTime(), row.released_at?.getTime()],
    ].join(' '),
  );
  different(holds.toSorted(), reservations.toSorted(), what =>
    fault('other deviation', `reservations: ${what}`),
  );
  return faults;
}

function checkRest(
  ledger: Ledger,
  id: string,
  rest: bigint | null,
  complain: (what: string) => void,
) {
  const payment = ledger.payments.get(id);
  const under = [...ledger.deposits.values()].find(
    each => each.payment === payment && each.outcome === 'under' && each.state === 'final',
  );
  if (payment?.amount == null || under === undefined) return;
  const missing = payment.amount - under.amount;
  if (!isProperRest(under.network as NetworkId, missing, payment.amount, rest)) {
    complain(`${rest} was asked for, where ${missing} is missing of ${payment.amount}`);
  }
}

/** Whether people and watchers acted concurrently at this moment. */
function isRaced({ turns, seed }: Played['history'], at: number): boolean {
  return courseOf(seed).some(
    (step, index) => step.at === at && turns[index]?.manner === 'in a race',
  );
}

function compareDeposits(
  { history, sent }: Played,
  rows: Rows,
  ledger: Ledger,
  fault: (kind: FaultKind, what: string) => void,
): void {
  const own = Map.groupBy(rows.deposits, row => `${row.transaction_hash} ${row.position}`);
  for (const deposit of ledger.deposits.values()) {
    const [row, second] = own.get(deposit.key) ?? [];
    if (row === undefined || second !== undefined) {
      fault('lost transfer', `${deposit.key} is recorded ${second === undefined ? 0 : 2} times`);
      continue;
    }
    const wanted = `${deposit.state}, ${deposit.outcome}, payment ${deposit.payment?.id ?? 'none'}`;
    // A transfer is late if its payment was open when it was matched, but has ended once it is locked.
    const isOvertaken =
      deposit.outcome === 'unknown' &&
      (row.outcome === 'late' || row.outcome === 'superseded') &&
      isRaced(history, deposit.at);
    // Exact transfers are recorded first, and a funded payment no longer accepts a former quote.
    const isBesideExact =
      deposit.outcome === 'superseded' &&
      row.outcome === 'late' &&
      rows.deposits.some(
        other =>
          other.blockchain_id !== row.blockchain_id &&
          other.observed_at.getTime() === row.observed_at.getTime(),
      );
    // Who waits is read before who alone was asked to pay there, and another payment may be asked in between.
    const isJoined =
      deposit.outcome === 'late' &&
      row.outcome === 'unknown' &&
      isRaced(history, deposit.at) &&
      ledger.holds.some(
        hold =>
          hold.network === row.blockchain_id &&
          hold.address === row.address &&
          hold.from === deposit.at,
      );
    const isTolerated = isOvertaken || isBesideExact || isJoined;
    const outcome = isTolerated ? deposit.outcome : row.outcome;
    const got = `${row.state}, ${outcome}, payment ${row.payment_id ?? 'none'}`;
    if (wanted !== got) {
      const isWrong = row.payment_id !== null && row.payment_id !== deposit.payment?.id;
      const isLost = row.payment_id === null && deposit.payment !== null;
      const isUnsettled = deposit.state === 'final' && row.state !== 'final';
      fault(
        isWrong ? 'wrong credit' : isLost || isUnsettled ? 'lost transfer' : 'other deviation',
        `${deposit.key} is ${got}, and not ${wanted}`,
      );
    }
    if ((row.dismissed_at !== null) !== deposit.isDismissed) {
      fault('other deviation', `${deposit.key} is dismissed, or not`);
    }
  }
  const reported = sent.filter(each => each !== undefined).length;
  if (rows.deposits.length !== reported || ledger.deposits.size !== reported) {
    fault('lost transfer', `${rows.deposits.length} of ${reported} transfers are recorded`);
  }
  const events = rows.events.filter(({ type }) => type === 'payment_prompt.deposit_unmatched');
  const ids = new Map(
    rows.deposits.map(row => [row.id, `${row.transaction_hash} ${row.position}`]),
  );
  const told = events.map(({ deposit_id: id }) => ids.get(id ?? '') ?? 'another');
  // Every merchant that has the address gets the event.
  const merchants = history.isShared ? 2 : 1;
  const unmatched = ledger.unmatched.flatMap(key => Array<string>(merchants).fill(key));
  different(unmatched.toSorted(), told.toSorted(), what =>
    fault('lost transfer', `told of unmatched deposits: ${what}`),
  );
}

function comparePayment(
  { payments, transitions, events }: Rows,
  payment: LedgerPayment,
  fault: (kind: FaultKind, what: string) => void,
): void {
  const { id } = payment;
  const row = payments.find(each => each.id === id);
  if (row === undefined) {
    fault('other deviation', `payment ${id} is gone`);
    return;
  }
  const wanted = {
    state: payment.state,
    hash: payment.hash,
    paidAt: payment.paidAt,
    error: payment.error,
    end: payment.end,
    quotedUntil: payment.quotedUntil,
    quote: `${payment.network} ${payment.address} ${payment.amount}`,
    moves: payment.moves.join(', '),
    events: payment.events.toSorted().join(', '),
  };
  const moves = transitions.filter(each => each.payment_id === id);
  const got = {
    state: `${row.status}/${row.session_status}`,
    hash: row.transaction_hash,
    paidAt: row.paid_at?.getTime() ?? null,
    error: row.last_error_code,
    end: row.expires_at.getTime(),
    quotedUntil: row.quoted_until?.getTime() ?? null,
    quote: `${row.blockchain_id} ${row.address} ${row.token_amount}`,
    moves: moves
      .map(each => `${each.to_status}/${each.to_session_status} ${each.at.getTime()}`)
      .join(', '),
    events: events
      .filter(each => each.payment_id === id)
      .map(each => `${each.type.replace('payment_prompt.', '')} ${each.created_at.getTime()}`)
      .toSorted()
      .join(', '),
  };
  for (const [name, value] of Object.entries(wanted)) {
    const found = got[name as keyof typeof got];
    if (found !== value)
      fault('other deviation', `payment ${id}: ${name} is ${found}, and not ${value}`);
  }
}

function different(
  wanted: readonly string[],
  got: readonly string[],
  complain: (what: string) => void,
) {
  if (wanted.join('|') === got.join('|')) return;
  complain(`[${got.join(', ')}], and not [${wanted.join(', ')}]`);
}

/** Without the ledger: a successful payment has final and sufficient funds. */
function checkFunds(
  { payments, deposits, reservations, toleranceBps }: Rows,
  isWallet: boolean,
): Fault[] {
  return payments.flatMap((payment): Fault[] => {
    if (payment.status !== 'successful') return [];
    const own = deposits.filter(each => each.payment_id === payment.id && each.state === 'final');
    const pays =
      own.some(deposit => suffices(deposit, payment)) || (isWallet && addsUp(own, payment));
    return pays
      ? []
      : [{ kind: 'unfunded', what: `payment ${payment.id} is successful by nothing` }];
  });

  /** At an address that no other payment was ever asked to pay to. */
  function addsUp(own: readonly Deposit[], { id, address, amount, token_amount: asked }: Payment) {
    const here = own.filter(each => each.address === address);
    const sum = here.reduce((all, each) => all + BigInt(each.token_amount), 0n);
    const price = BigInt(amount) * ASSETS['btc-test'].perCent;
    const tolerated = (BigInt(asked ?? 0) * BigInt(10_000 - toleranceBps)) / 10_000n;
    const least = [price - price / 100n, tolerated].reduce((a, b) => (a < b ? a : b));
    const first = Math.min(...here.map(each => each.observed_at.getTime()));
    // Another one may be asked to pay there at the very moment when the first transfer is recorded.
    const isAlone = reservations.every(
      each =>
        each.address !== address || each.payment_id === id || each.reserved_at.getTime() >= first,
    );
    return isAlone && sum >= least;
  }

  function suffices(deposit: Deposit, payment: Payment): boolean {
    const received = BigInt(deposit.token_amount);
    const asked = BigInt(payment.token_amount ?? 0);
    const isHere =
      deposit.address === payment.address && deposit.blockchain_id === payment.blockchain_id;
    if (!isHere || deposit.transaction_hash !== payment.transaction_hash) return false;
    // The operator who assigned it answers for the amount.
    if (deposit.outcome === 'assigned') return true;
    // A cent or 0.1 % of the price may be missing, because a wallet cut it off or it could not be sent.
    const { perCent } = ASSETS[payment.blockchain_id as NetworkId];
    const price = BigInt(payment.amount) * perCent;
    const least = price - (perCent * 104n > price / 10n ? (perCent * 104n) / 100n : price / 1000n);
    if (deposit.outcome === 'rest') {
      return reservations.some(({ payment_id: id, rest_of: part }) => {
        const before = deposits.find(each => each.id === part);
        return (
          id === payment.id &&
          before?.state === 'final' &&
          BigInt(before.token_amount) + received >= least
        );
      });
    }
    if (received >= least && received * 50n <= asked * 51n) return true;
    // The customer may have paid what was asked for before the price was renewed.
    return reservations.some(({ payment_id: id, rest_of: rest, token_amount: amount }) => {
      const due = BigInt(amount);
      if (id !== payment.id || rest !== null) return false;
      return (
        received * 10_000n >= due * BigInt(10_000 - toleranceBps) && received * 50n <= due * 51n
      );
    });
  }
}

/**
 * Without the ledger: an amount that was reserved when its transfer was first seen, or within a day before it was
 * made, has paid no other payment, whatever the clocks say.
 */
function checkExact({ deposits, reservations }: Rows, isWallet: boolean): Fault[] {
  return deposits.flatMap((deposit): Fault[] => {
    const { payment_id: payment, outcome, observed_at: seen, earliest_at: earliest } = deposit;
    if (payment === null || outcome === 'assigned') return [];
    const dayBefore = (earliest ?? seen).getTime() - DAY_MS;
    const asked = reservations.filter(
      each =>
        each.blockchain_id === deposit.blockchain_id &&
        each.address === deposit.address &&
        each.token_amount === deposit.token_amount &&
        each.reserved_at < seen &&
        (each.released_at === null || each.released_at.getTime() > dayBefore),
    );
    const isRight =
      (outcome === 'exact' || outcome === 'rest' || isWallet) &&
      asked.some(each => each.payment_id === payment);
    if (asked.length === 0 || isRight) return [];
    const what = `${deposit.transaction_hash} ${deposit.position} is ${outcome} for payment ${payment}, and of exactly what payment ${asked[0]?.payment_id} asked for`;
    return [{ kind: 'wrong credit', what }];
  });
}

/**
 * Without the ledger: no payment has expired whose customer sent exactly what was asked for, while it was asked for,
 * unless the chain reversed the transfer or an operator assigned it elsewhere.
 */
function checkInTime(
  { history, sent }: Played,
  { payments, reservations, deposits, windows }: Rows,
): Fault[] {
  const kept = sent.filter(
    (each, index) =>
      each !== undefined && isKept(history, index) && !deposits.some(row => isTaken(row, each)),
  );
  return payments.flatMap((payment): Fault[] => {
    if (payment.session_status !== 'expired') return [];
    const held = reservations.filter(
      each => each.payment_id === payment.id && each.rest_of === null,
    );
    const end = (payment.quoted_until ?? payment.expires_at).getTime();
    const paid = kept.find(
      (transfer): transfer is Sent =>
        transfer !== undefined &&
        held.some(
          hold =>
            hold.blockchain_id === transfer.network &&
            hold.address === transfer.address &&
            BigInt(hold.token_amount) === transfer.tokenAmount &&
            hold.reserved_at.getTime() <= transfer.madeAt &&
            // An underpayment extends the deadline, but only once it is seen.
            transfer.madeAt <=
              Math.min(end, hold.reserved_at.getTime() + (windows.get(hold.blockchain_id) ?? 0)),
        ),
    );
    return paid === undefined
      ? []
      : [
          {
            kind: 'expired though paid',
            what: `payment ${payment.id} expired, paid by ${paid.hash} ${paid.position}`,
          },
        ];
  });
}

/** Whether an operator has assigned a transfer to a payment, or has dismissed it. */
function isTaken(row: Deposit, { hash, position }: Sent): boolean {
  const isSame = row.transaction_hash === hash && row.position === position;
  return isSame && (row.outcome === 'assigned' || row.dismissed_at !== null);
}

/** Whether a transfer was never reversed, and was reported before its chain was marked as scanned up to its time. */
function isKept({ turns, transfers, network, seed }: Played['history'], index: number): boolean {
  const told = turns.flatMap(({ reports }, step) =>
    reports
      .filter(({ transfer }) => transfer === index)
      .map(({ finality }) => ({ finality, step })),
  );
  const { chain } = CHAINS[network];
  const madeAt = transfers[index]?.madeAt ?? 0;
  const covered = courseOf(seed).findIndex(({ watched, at }) =>
    chain === SIMULATED ? at >= madeAt : watched[chain].until >= madeAt,
  );
  return (
    (told[0]?.step ?? Number.POSITIVE_INFINITY) <= covered &&
    told.every(({ finality }) => finality === 'seen' || finality === 'final')
  );
}
