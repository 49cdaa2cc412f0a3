/**
 * The reference model: what must become of payments and transfers, in memory and in few rules. It is written from
 * what is promised to merchants and payers, and shares no code with the service.
 */
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

export interface Told {
  readonly key: string;
  readonly network: string;
  readonly address: string;
  readonly amount: bigint;
  readonly finality: 'seen' | 'final' | 'reversed' | 'failed';
  readonly isInBlock: boolean;
  readonly occurredAt: number;
  readonly earliestAt: number;
  readonly isSimulated: boolean;
}

export interface LedgerPayment {
  readonly id: string;
  readonly createdAt: number;
  readonly isFixed: boolean;
  /** The expiry, set at creation and again when a network is chosen; and until when the price is held. */
  end: number;
  quotedUntil: number | null;
  network: string | null;
  address: string | null;
  amount: bigint | null;
  /** In US cents; 0 before a network is chosen. */
  cents: number;
  state: string;
  hash: string | null;
  paidAt: number | null;
  error: string | null;
  /** Every state that it entered, and when. */
  readonly moves: string[];
  /** Every event that its merchant got, and when. */
  readonly events: string[];
}

interface LedgerDeposit {
  readonly key: string;
  readonly network: string;
  readonly address: string;
  readonly amount: bigint;
  readonly at: number;
  readonly earliest: number;
  state: 'seen' | 'final' | 'reversed' | 'failed';
  isInBlock: boolean;
  outcome: string;
  payment: LedgerPayment | null;
  isDismissed: boolean;
  readonly isSimulated: boolean;
}

/** An amount that is, or was, asked for at an address. */
export interface Hold {
  readonly payment: string;
  readonly network: string;
  readonly address: string;
  readonly amount: bigint;
  readonly from: number;
  readonly isRest: boolean;
  /** The least amount that settles it, if a wallet cut it, and if no other payment is open at the address. */
  readonly cutFrom: bigint;
  readonly aloneFrom: bigint;
  to: number | null;
}

const OPEN = 'pending/pending';
const SEEN = 'pending/completed';
const EVENTS: Readonly<Record<string, string>> = {
  [SEEN]: 'detected',
  'successful/completed': 'successful',
  'unsuccessful/completed': 'unsuccessful',
  'unsuccessful/expired': 'unsuccessful',
  'expired/expired': 'expired',
  'cancelled/cancelled': 'cancelled',
};

export interface Rules {
  /** Whether addresses are a wallet's, of which each payment gets its own as long as there are any. */
  readonly isWallet: boolean;
  readonly toleranceBps: bigint;
  /** How long a payment on this network waits, in milliseconds. */
  windowOf(network: string): number;
  /** The rest that the service asked for at this time; null if it asked for none. */
  restOf(payment: string, at: number): bigint | null;
  /** The least that wallets can send on a network, to an address that already has funds. */
  leastOf(network: string): bigint;
  /** Smallest units in one whole unit of a network's asset. */
  unitOf(network: string): bigint;
}

export class Ledger {
  readonly payments = new Map<string, LedgerPayment>();
  readonly deposits = new Map<string, LedgerDeposit>();
  readonly holds: Hold[] = [];
  /** Addresses at which something has ever arrived. */
  readonly arrived = new Set<string>();
  /** Addresses that wallets see to be used, as long as a block has a transfer to them. */
  readonly funded = new Set<string>();
  /** Deposits that merchants got an event about because no payment took them. */
  readonly unmatched: string[] = [];
  readonly #rules: Rules;

  constructor(rules: Rules) {
    this.#rules = rules;
  }

  open(payment: Pick<LedgerPayment, 'id' | 'createdAt' | 'end' | 'isFixed'>): void {
    this.payments.set(payment.id, {
      ...payment,
      quotedUntil: null,
      network: null,
      address: null,
      amount: null,
      cents: 0,
      state: OPEN,
      hash: null,
      paidAt: null,
      error: null,
      moves: [],
      events: [],
    });
  }

  /** Whether a payer may choose a network now. */
  mayChoose(id: string, now: number): boolean {
    const payment = this.#payment(id);
    return payment.state === OPEN && payment.end > now;
  }

  /** Whether choosing this network leaves the payment as it is. */
  hasChosen(id: string, network: string, now: number): boolean {
    const { network: chosen, quotedUntil } = this.#payment(id);
    return chosen === network && (quotedUntil === null || quotedUntil > now);
  }

  /** The whole amount that a payment last asked for on a network. */
  formerQuote(id: string, network: string): Hold | undefined {
    return this.holds.findLast(
      hold => hold.payment === id && hold.network === network && !hold.isRest,
    );
  }

  /** Whether the price of what an open payment asked for is still promised. */
  isPromised({ payment, network, from }: Hold, at: number): boolean {
    return this.#payment(payment).state === OPEN && from + this.#rules.windowOf(network) > at;
  }

  /**
   * A customer chooses a network, and is asked for this amount.
   * @param quote `due` is the exact price, `isBack` whether the payment asked for the same amount there before.
   */
  choose(
    id: string,
    {
      due,
      cents,
      isBack,
      ...quote
    }: {
      network: string;
      address: string;
      amount: bigint;
      due: bigint;
      cents: number;
      isBack: boolean;
    },
    now: number,
  ): void {
    const payment = this.#payment(id);
    this.#release(payment, now);
    this.#hold(payment, { ...quote, isRest: false }, { due, whole: due, cents }, now);
    Object.assign(payment, quote, { cents }, this.#deadlines(payment, quote.network, now));
    if (payment.error !== 'amount_underpaid') return;
    const part = [...this.deposits.values()].findLast(
      each =>
        each.payment === payment &&
        each.network === quote.network &&
        each.address === quote.address &&
        (each.state === 'seen' || each.state === 'final'),
    );
    if (part !== undefined && this.#isOwn(part)) this.#addUp(payment, part, now);
    else if (isBack) this.#assess(payment, now);
  }

  cancel(id: string, now: number): void {
    const payment = this.#payment(id);
    if (payment.state === OPEN && this.#under(payment) === undefined) {
      this.#move(payment, 'cancelled/cancelled', now);
    }
  }

  /** Cancels the unpaid payments of an inactive merchant. */
  cancelAll(ids: readonly string[], now: number): void {
    for (const id of ids) if (this.payments.has(id)) this.cancel(id, now);
  }

  /** @param known Up to when a network's transfers are known. */
  expire(known: (network: string) => number, now: number): void {
    for (const payment of this.payments.values()) {
      if (payment.state !== OPEN) continue;
      if (payment.end > (payment.network === null ? now : known(payment.network))) continue;
      // A former quote elsewhere may have been paid as long as its price was promised.
      const isUnknown = this.holds.some(
        ({ payment: id, network, from, to }) =>
          id === payment.id &&
          to !== null &&
          network !== payment.network &&
          known(network) < Math.min(from + this.#rules.windowOf(network), payment.end),
      );
      if (isUnknown) continue;
      const own = this.#unders(payment);
      if (own.some(({ state }) => state === 'seen')) continue;
      this.#move(payment, own.length > 0 ? 'unsuccessful/expired' : 'expired/expired', now);
    }
  }

  /** Ends quotes whose price is no longer held, of payments that stay open. */
  lapse(known: (network: string) => number, now: number): void {
    for (const payment of this.payments.values()) {
      const { state, network, quotedUntil } = payment;
      if (state !== OPEN || network === null || quotedUntil === null) continue;
      if (quotedUntil > known(network)) continue;
      if (this.#unders(payment).some(deposit => deposit.state === 'seen')) continue;
      this.#release(payment, now);
      Object.assign(payment, { network: null, address: null, amount: null });
    }
  }

  assign(key: string, id: string, now: number): void {
    const deposit = this.deposits.get(key);
    const payment = this.#payment(id);
    if (deposit === undefined || !isWaiting(deposit) || payment.state !== OPEN) return;
    const isHere = payment.network === deposit.network && payment.address === deposit.address;
    const before = isHere ? undefined : this.#askedBefore(payment, deposit);
    if (!isHere && (before === undefined || deposit.state !== 'final')) return;
    const whole = before?.amount ?? payment.amount ?? 0n;
    // One person alone cannot settle a payment with too little, or with over 2 % too much.
    const own = this.holds.filter(hold => hold.payment === id && hold.to === null);
    const asked = isHere
      ? (own.find(hold => hold.isRest) ?? own.find(hold => !hold.isRest))
      : before;
    const due = asked?.amount ?? whole;
    const isShort = (due - deposit.amount) * 10_000n > whole * this.#rules.toleranceBps;
    if (isShort && deposit.amount < (asked?.cutFrom ?? whole)) return;
    if ((deposit.amount - due) * 50n > whole) return;
    Object.assign(deposit, { outcome: 'assigned', payment });
    this.#apply(deposit, now);
  }

  dismiss(key: string): void {
    const deposit = this.deposits.get(key);
    if (deposit !== undefined && isWaiting(deposit)) deposit.isDismissed = true;
  }

  observe(told: Told, now: number): void {
    const known = this.deposits.get(told.key);
    const before = known?.state;
    if (before === 'seen' && told.finality === 'seen') this.#fund(known, told);
    if (before === 'final' || before === told.finality) return;
    if (before === 'failed' && told.finality === 'reversed') return;
    const deposit: LedgerDeposit = known ?? {
      key: told.key,
      network: told.network,
      address: told.address,
      amount: told.amount,
      at: told.occurredAt,
      earliest: told.earliestAt,
      isSimulated: told.isSimulated,
      outcome: 'unknown',
      payment: null,
      isDismissed: false,
      state: told.finality,
      isInBlock: told.isInBlock,
    };
    this.deposits.set(told.key, deposit);
    if (told.finality !== 'failed') this.arrived.add(told.address);
    // A failed transaction pays nothing, and a stranger's failed attempt must not end a payment.
    const isFunds = told.finality === 'seen' || told.finality === 'final';
    const mayPay = isFunds || (told.finality === 'failed' && told.isSimulated);
    const isUndecided =
      before !== 'seen' || (deposit.outcome === 'duplicate' && deposit.payment === null);
    if (mayPay && isUndecided && deposit.payment === null && !deposit.isDismissed) {
      const match = this.#match(deposit);
      if (deposit.outcome !== 'duplicate' || match.payment !== null) Object.assign(deposit, match);
    }
    const payer = deposit.payment;
    deposit.state = told.finality;
    this.#fund(deposit, told);
    this.#apply(deposit, now);
    // A wallet may replace a transfer: one that had no payment pays, once the first is reversed.
    if (told.finality === 'reversed' && payer !== null) this.#rematch(deposit, payer, now);
    const isLeft = deposit.state === 'final' && deposit.payment === null && !deposit.isDismissed;
    if (isLeft) this.unmatched.push(deposit.key);
  }

  /** A deposit is in a block, or not any more. No transfer of Bitcoin fails. */
  #fund(deposit: LedgerDeposit | undefined, { isInBlock, finality }: Told): void {
    if (deposit === undefined || finality === 'failed') return;
    deposit.isInBlock = isInBlock;
    const isFunded = [...this.deposits.values()].some(
      each =>
        each.address === deposit.address &&
        (each.state === 'final' || (each.state === 'seen' && each.isInBlock)),
    );
    if (isFunded) this.funded.add(deposit.address);
    else this.funded.delete(deposit.address);
  }

  /** Finds the payment by the amount, among those that were open when the transfer was made. */
  #match(sent: LedgerDeposit) {
    const { network, address, amount, at, earliest } = sent;
    const here = this.holds.filter(hold => hold.network === network && hold.address === address);
    const asked = here.filter(hold => hold.from <= at);
    const last = asked.findLast(hold => hold.amount === amount);
    const isHeld =
      last !== undefined &&
      here.some(
        hold => hold.payment === last.payment && hold.amount === amount && hold.to === null,
      );
    if (last !== undefined && isHeld) {
      const payment = this.#payment(last.payment);
      if (payment.state !== OPEN) return { outcome: 'duplicate', payment: null };
      return this.#inTime(payment, last, last.isRest ? 'rest' : 'exact', earliest);
    }
    const former = last === undefined ? undefined : this.#payment(last.payment);
    const isFormer = last !== undefined && former?.state === OPEN && this.#isBy(former, earliest);
    const isPromised =
      last !== undefined && earliest <= last.from + this.#rules.windowOf(network) + MINUTE;
    const part = isFormer && isPromised ? undefined : this.#matchPart(sent);
    if (part !== undefined) return part;
    if (last !== undefined && former?.state === OPEN && this.#isBy(former, earliest)) {
      const isInTime = earliest <= last.from + this.#rules.windowOf(network) + MINUTE;
      return isInTime
        ? { outcome: last.isRest ? 'rest' : 'exact', payment: former }
        : { outcome: 'superseded', payment: null };
    }
    if (last?.to != null && last.to > earliest - DAY) {
      const { state } = this.#payment(last.payment);
      const isPaid = state === 'successful/completed' || state === SEEN;
      return { outcome: isPaid ? 'duplicate' : 'late', payment: null };
    }
    const waited = asked.filter(hold => {
      const { state, quotedUntil, end } = this.#payment(hold.payment);
      if (hold.to !== null) return hold.to > at && state !== 'successful/completed';
      return state === OPEN && (quotedUntil ?? end) >= earliest - MINUTE;
    });
    const whole = waited.filter(hold => !hold.isRest);
    const [only] = whole;
    // If a clock is wrong, it may pay a payment that has asked for the amount since then; it pays no other one.
    const isAskedSince = here.some(hold => hold.amount === amount && hold.from > at);
    if (only !== undefined && isAskedSince) return { outcome: 'ambiguous', payment: null };
    // Former quotes on networks that were left, at a price that is still promised.
    const left = asked.filter(hold => {
      const payment = this.#payment(hold.payment);
      const isOpen = payment.state === OPEN && payment.end >= earliest - MINUTE;
      const until = hold.from + this.#rules.windowOf(network);
      return hold.to !== null && isOpen && until >= earliest - MINUTE;
    });
    const shortened = [...waited, ...left].filter(hold => this.#isCut(amount, hold));
    const payers = new Set(shortened.map(hold => hold.payment));
    if (payers.size > 1) return { outcome: 'ambiguous', payment: null };
    const enough = shortened.filter(hold => amount >= hold.cutFrom);
    const candidates = enough.length > 0 ? enough : shortened;
    const [cut] = [
      ...candidates.filter(hold => !hold.isRest),
      ...candidates.filter(hold => hold.isRest),
    ];
    if (cut !== undefined) {
      const isOver = amount > cut.amount;
      const isEnough = isOver ? (amount - cut.amount) * 50n <= cut.amount : amount >= cut.cutFrom;
      const outcome = cut.isRest ? 'rest' : isOver ? 'over' : 'tolerated';
      const payment = this.#payment(cut.payment);
      if (isEnough && left.includes(cut)) return { outcome, payment };
      if (isEnough) return this.#inTime(payment, cut, outcome, earliest);
    }
    if (whole.length > 1) return { outcome: 'ambiguous', payment: null };
    if (only === undefined) return { outcome: 'unknown', payment: null };
    const payment = this.#payment(only.payment);
    const rest = this.holds.find(
      hold =>
        hold.payment === payment.id &&
        hold.isRest &&
        hold.to === null &&
        hold.from <= at &&
        hold.network === network &&
        hold.address === address,
    );
    if (rest !== undefined && amount >= rest.aloneFrom && amount < rest.amount) {
      return this.#inTime(payment, only, 'rest', earliest);
    }
    if (amount * 100n < only.amount) return { outcome: 'unknown', payment: null };
    if (amount > only.amount) {
      const isLittle = (amount - only.amount) * 50n <= only.amount;
      return isLittle
        ? this.#inTime(payment, only, 'over', earliest)
        : { outcome: 'over', payment: null };
    }
    const isTolerated = (only.amount - amount) * 10_000n <= only.amount * this.#rules.toleranceBps;
    if (isTolerated || amount >= only.aloneFrom) {
      return this.#inTime(payment, only, 'tolerated', earliest);
    }
    // Parts are never added up.
    if (this.#under(payment) !== undefined) return { outcome: 'under', payment: null };
    return this.#inTime(payment, only, 'under', earliest);
  }

  /** Whether only one payment was ever asked to pay where a deposit is, at an address of a wallet. */
  #isOwn({ network, address }: Pick<LedgerDeposit, 'network' | 'address'>): boolean {
    const here = this.holds.filter(hold => hold.network === network && hold.address === address);
    return this.#rules.isWallet && new Set(here.map(hold => hold.payment)).size === 1;
  }

  /** Whether parts have completed a payment, and stay added up though another one is asked to pay there since. */
  #areAdded(payment: LedgerPayment, { network, address }: LedgerDeposit): boolean {
    const isThere = (each: { readonly network: string; readonly address: string }) =>
      each.network === network && each.address === address;
    return (
      this.#rules.isWallet &&
      !this.holds.some(hold => hold.payment === payment.id && hold.isRest && isThere(hold)) &&
      [...this.deposits.values()].some(
        each =>
          each.payment === payment &&
          isThere(each) &&
          each.outcome === 'rest' &&
          (each.state === 'seen' || each.state === 'final'),
      )
    );
  }

  /** Whatever arrives at a payment's own address is for it, or too late for it; undefined elsewhere. */
  #matchPart(sent: LedgerDeposit) {
    const { network, address, amount, at, earliest } = sent;
    if (!this.#isOwn(sent)) return undefined;
    const waited = this.holds.filter(hold => {
      const { state, quotedUntil, end } = this.#payment(hold.payment);
      if (hold.network !== network || hold.address !== address || hold.from > at) return false;
      if (hold.to !== null) return hold.to > at && state !== 'successful/completed';
      return state === OPEN && (quotedUntil ?? end) >= earliest - MINUTE;
    });
    const asked = this.holds.findLast(
      hold => hold.network === network && hold.address === address && hold.from <= at,
    );
    if (asked === undefined || waited.length > 1) return undefined;
    const payment = this.#payment(asked.payment);
    const isAt = payment.network === network && payment.address === address;
    const isOpen = payment.state === OPEN && this.#isBy(payment, earliest);
    const isFormer = isOpen && !isAt;
    const before = this.#sumOf(payment, sent, ['seen', 'final'], sent);
    // What has arrived may still get it another window.
    const isUndecided = payment.state === OPEN && before > 0n;
    if (waited.length === 0 && !isOpen && !isUndecided) {
      const isPaid = payment.state === 'successful/completed' || payment.state === SEEN;
      return { outcome: isPaid ? 'duplicate' : 'late', payment: null };
    }
    if (waited.length === 0 && !isFormer) return undefined;
    const isPromised = earliest <= asked.from + this.#rules.windowOf(network) + MINUTE;
    const outcome =
      before + amount < this.#enoughAt(payment, sent)
        ? 'under'
        : before > 0n
          ? 'rest'
          : amount === asked.amount
            ? 'exact'
            : amount > asked.amount
              ? 'over'
              : 'tolerated';
    if (!isFormer) return this.#inTime(payment, asked, outcome, earliest);
    const pays = isPromised && outcome !== 'under';
    return pays ? { outcome, payment } : { outcome: 'superseded', payment: null };
  }

  /** What has arrived for a payment at an address, without one of the transfers. */
  #sumOf(
    payment: LedgerPayment,
    { network, address }: Pick<LedgerDeposit, 'network' | 'address'>,
    states: readonly string[],
    without?: LedgerDeposit,
  ): bigint {
    return [...this.deposits.values()]
      .filter(each => each !== without && each.payment === payment && states.includes(each.state))
      .filter(each => each.network === network && each.address === address)
      .reduce((sum, { amount }) => sum + amount, 0n);
  }

  /** The sum that settles a payment at its own address, by what it last asked for there. */
  #enoughAt(
    { id }: LedgerPayment,
    { network, address }: Pick<LedgerDeposit, 'network' | 'address'>,
  ) {
    const asked = this.holds.findLast(
      hold => hold.payment === id && hold.network === network && hold.address === address,
    );
    if (asked === undefined) throw new Error(`payment ${id} was never asked for at ${address}`);
    const tolerated = (asked.amount * this.#rules.toleranceBps) / 10_000n;
    return [asked.cutFrom, asked.aloneFrom, asked.amount - tolerated].reduce(
      (least, each) => (each < least ? each : least),
      asked.amount,
    );
  }

  /** Moves a payment by the sum of what has arrived at its own address. */
  #addUp(payment: LedgerPayment, deposit: LedgerDeposit, now: number): void {
    const isAt = () => payment.network === deposit.network && payment.address === deposit.address;
    const completes = deposit.outcome === 'rest' && deposit.state !== 'reversed';
    if (completes && !isAt() && payment.state === OPEN) this.#returnTo(payment, deposit, now);
    if (!isAt()) {
      this.#assess(payment, now);
      return;
    }
    const enough = this.#enoughAt(payment, deposit);
    const own = [...this.deposits.values()].filter(
      each =>
        each.payment === payment &&
        each.address === deposit.address &&
        (each.state === 'seen' || each.state === 'final'),
    );
    const completing = own.findLast(({ outcome }) => outcome === 'rest') ?? deposit;
    const hash = completing.key.split(' ')[0] ?? null;
    if (this.#sumOf(payment, deposit, ['final']) >= enough) {
      Object.assign(payment, { hash, error: null, paidAt: now });
      this.#move(payment, 'successful/completed', now);
    } else if (this.#sumOf(payment, deposit, ['seen', 'final']) >= enough) {
      if (payment.state !== OPEN) return;
      Object.assign(payment, { hash, error: null });
      this.#move(payment, SEEN, now);
    } else {
      for (const each of own) if (each.outcome === 'rest') each.outcome = 'under';
      if (payment.state === SEEN) {
        Object.assign(payment, { hash: null, error: 'transfer_reversed' });
        this.#move(payment, OPEN, now);
        if (own.length === 0) return;
      }
      this.#assess(payment, now);
    }
  }

  /** Whether a wallet that cuts or rounds any number of decimals may turn the amount asked for into this one. */
  #isCut(sent: bigint, { network, amount: asked }: Hold): boolean {
    for (let unit = 10n; unit <= this.#rules.unitOf(network); unit *= 10n) {
      const cut = asked - (asked % unit);
      const rounded = asked % unit >= unit / 2n ? cut + unit : cut;
      if (sent === cut || sent === rounded) return true;
    }
    return false;
  }

  #isBy({ end }: LedgerPayment, at: number): boolean {
    return at <= end + MINUTE;
  }

  /** The whole amount that the payment last asked for where the deposit arrived, and which the deposit pays. */
  #askedBefore(
    payment: LedgerPayment,
    { network, address, amount, outcome }: LedgerDeposit,
  ): Hold | undefined {
    const own = this.holds.filter(
      hold => hold.payment === payment.id && hold.network === network && hold.address === address,
    );
    const rest = own.findLastIndex(
      hold => outcome === 'rest' && hold.isRest && hold.amount === amount,
    );
    return own.findLast(
      (hold, index) =>
        !hold.isRest &&
        (rest < 0 || index < rest) &&
        (outcome !== 'exact' || hold.amount === amount),
    );
  }

  /** A payment that gets the amount of a former quote asks for that amount again. */
  #returnTo(payment: LedgerPayment, deposit: LedgerDeposit, now: number): void {
    const { network, address, amount, outcome } = deposit;
    const before = this.#askedBefore(payment, deposit);
    const isHere = payment.network === network && payment.address === address;
    if (before === undefined) return;
    const isNamed = outcome === 'exact' || outcome === 'rest';
    if (isHere && (payment.amount === before.amount || !isNamed)) return;
    const rest = this.holds.findLast(
      hold =>
        outcome === 'rest' &&
        hold.payment === payment.id &&
        hold.network === network &&
        hold.address === address &&
        hold.isRest &&
        hold.amount === amount,
    );
    this.#release(payment, now);
    for (const hold of [before, ...(rest === undefined ? [] : [rest])]) {
      const isTaken = this.holds.some(
        other =>
          other.network === network &&
          other.address === address &&
          other.amount === hold.amount &&
          other.to === null,
      );
      // At the original price, whose window continues.
      if (!isTaken) this.holds.push({ ...hold, to: null });
    }
    payment.quotedUntil = Math.min(before.from + this.#rules.windowOf(network), payment.end);
    Object.assign(payment, { network, address, amount: before.amount });
  }

  /** A payment that asks for something else by now does not take it. A poll may find a transfer a minute late. */
  #inTime(payment: LedgerPayment, { network, address }: Hold, outcome: string, earliest: number) {
    const { state, quotedUntil, end } = payment;
    const isHere = payment.network === network && payment.address === address;
    if (state !== OPEN || earliest > end + MINUTE) return { outcome: 'late', payment: null };
    const isOver = quotedUntil !== null && earliest > quotedUntil + MINUTE;
    return isHere && !isOver ? { outcome, payment } : { outcome: 'superseded', payment: null };
  }

  #apply(deposit: LedgerDeposit, now: number): void {
    const { payment, outcome, state } = deposit;
    if (payment === null) return;
    const isOver = payment.state !== OPEN && payment.state !== SEEN;
    const isPart = outcome === 'under' || outcome === 'rest';
    if (isPart && (this.#isOwn(deposit) || this.#areAdded(payment, deposit))) {
      const isLate = isOver && state === 'final' && payment.state !== 'successful/completed';
      if (!isOver) this.#addUp(payment, deposit, now);
      if (isLate) Object.assign(deposit, { outcome: 'late', payment: null });
      if (state === 'reversed') Object.assign(deposit, { outcome: 'unknown', payment: null });
      return;
    }
    if (outcome !== 'under' && state !== 'reversed' && payment.state === OPEN) {
      this.#returnTo(payment, deposit, now);
    }
    if (outcome === 'under') {
      this.#assess(payment, now);
      if (state === 'final' && isOver) Object.assign(deposit, { outcome: 'late', payment: null });
    } else if (isOver) {
      if (state !== 'failed') Object.assign(deposit, { outcome: 'late', payment: null });
    } else if (state === 'reversed') {
      Object.assign(payment, { hash: null, error: 'transfer_reversed' });
      this.#move(payment, OPEN, now);
      if (this.#under(payment) !== undefined) this.#assess(payment, now);
    } else {
      payment.hash = deposit.key.split(' ')[0] ?? null;
      payment.error = state === 'failed' ? 'transaction_reverted' : null;
      if (state === 'final') payment.paidAt = now;
      const next = { seen: SEEN, final: 'successful/completed', failed: 'unsuccessful/completed' };
      this.#move(payment, next[state], now);
    }
    if (state === 'reversed') Object.assign(deposit, { outcome: 'unknown', payment: null });
  }

  /** An underpayment was seen or reversed: once one is final, the payment asks for the rest. */
  #assess(payment: LedgerPayment, now: number): void {
    if (payment.state !== OPEN) return;
    const under = this.#under(payment);
    if (under === undefined) {
      payment.error = null;
      return;
    }
    if (payment.network !== under.network || payment.address !== under.address) {
      payment.error ??= 'amount_underpaid';
      return;
    }
    payment.error = 'amount_underpaid';
    if (this.#isOwn(under)) {
      if (under.state === 'final') this.#extend(payment, under.network, now);
      return;
    }
    const asked = this.holds.some(
      ({ payment: id, isRest, to }) => id === payment.id && isRest && to === null,
    );
    if (under.state === 'seen' || asked) return;
    const amount = this.#rules.restOf(payment.id, now);
    if (amount === null) return;
    const slot = { network: under.network, address: under.address, amount, isRest: true };
    const whole = payment.amount ?? 0n;
    this.#hold(payment, slot, { due: whole - under.amount, whole, cents: payment.cents }, now);
    this.#extend(payment, under.network, now);
  }

  /** Its customer gets another window. */
  #extend(payment: LedgerPayment, network: string, now: number): void {
    const { end, quotedUntil } = this.#deadlines(payment, network, now);
    payment.end = Math.max(payment.end, end);
    payment.quotedUntil =
      quotedUntil === null ? null : Math.max(payment.quotedUntil ?? 0, quotedUntil);
  }

  #rematch({ network, address }: LedgerDeposit, payer: LedgerPayment, now: number): void {
    const here = `${network} ${address}`;
    const others = this.holds
      .filter(({ payment, to }) => payment === payer.id && to !== null)
      .map(hold => `${hold.network} ${hold.address}`)
      .filter(place => place !== here);
    for (const place of [here, ...[...new Set(others)].toSorted()]) {
      for (const deposit of this.deposits.values()) {
        const isThere = `${deposit.network} ${deposit.address}` === place;
        const match = isThere && isWaiting(deposit) ? this.#match(deposit) : undefined;
        // Others may be too late, or for another payment.
        if (match?.payment !== payer) continue;
        Object.assign(deposit, match);
        this.#apply(deposit, now);
        if (match.outcome !== 'under') return;
      }
    }
  }

  #unders(payment: LedgerPayment): LedgerDeposit[] {
    return [...this.deposits.values()].filter(
      ({ payment: own, outcome, state }) =>
        own === payment && outcome === 'under' && (state === 'seen' || state === 'final'),
    );
  }

  /** The underpayment that counts: the first final one, or else the first. */
  #under(payment: LedgerPayment): LedgerDeposit | undefined {
    const own = this.#unders(payment);
    return own.find(({ state }) => state === 'final') ?? own[0];
  }

  #move(payment: LedgerPayment, state: string, now: number): void {
    payment.state = state;
    payment.moves.push(`${state} ${now}`);
    const event = EVENTS[state];
    if (event !== undefined) payment.events.push(`${event} ${now}`);
    if (!state.startsWith('pending')) this.#release(payment, now);
  }

  #release(payment: LedgerPayment, now: number): void {
    for (const hold of this.holds) {
      if (hold.payment === payment.id && hold.to === null) hold.to = now;
    }
  }

  /** @param price What is due, and the whole amount, which costs this many cents. */
  #hold(
    { id }: LedgerPayment,
    slot: Pick<Hold, 'network' | 'address' | 'amount' | 'isRest'>,
    { due, whole, cents }: { due: bigint; whole: bigint; cents: number },
    now: number,
  ): void {
    const cent = whole / BigInt(cents);
    const cutBy = cent > whole / 1000n ? cent : whole / 1000n;
    // If less than this were missing, it could not be sent.
    const unsendable = slot.amount - this.#rules.leastOf(slot.network) + 1n;
    const most = (one: bigint, other: bigint) => (one > other ? one : other);
    this.holds.push({
      payment: id,
      ...slot,
      from: now,
      to: null,
      cutFrom: most(due - cutBy, 1n),
      aloneFrom: most(most(due - cent, unsendable), 1n),
    });
  }

  #deadlines({ isFixed, end, createdAt }: LedgerPayment, network: string, now: number) {
    const window = now + this.#rules.windowOf(network);
    return isFixed
      ? { end, quotedUntil: Math.min(window, end) }
      : { end: Math.min(window, createdAt + DAY), quotedUntil: null };
  }

  #payment(id: string): LedgerPayment {
    const payment = this.payments.get(id);
    if (payment === undefined) throw new Error(`there is no payment ${id}`);
    return payment;
  }
}

/** Whether it is in the inbox. */
function isWaiting({ payment, isDismissed, state }: LedgerDeposit): boolean {
  return payment === null && !isDismissed && (state === 'seen' || state === 'final');
}
