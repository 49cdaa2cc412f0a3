import { sql } from 'kysely';
import { solanaReference } from '#chains/solana-reference.ts';
import { ApiError } from '#errors/api-error.ts';
import { selectNetwork } from '#onchain/settlement/select-network.ts';
import { createFixedRates } from '#payments/rates/fixed-rates.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { createRandom, type Random } from '../../settlement/truth/random.ts';
import { makeBitcoin } from './bitcoin.ts';
import { makeEvm, moveEvm } from './evm.ts';
import type { GeneratedChain, MadeTransaction } from './generated-chain.ts';
import { mayLeaveOut } from './omission.ts';
import type { Moving, Paying } from './paying.ts';
import { makeSolana, moveSolana } from './solana.ts';
import type { ChainStage } from './stage.ts';
import type { Act, Amount, World } from './world.ts';

const RATES = createFixedRates();
const MAKERS = { evm: makeEvm, bitcoin: makeBitcoin, solana: makeSolana } as const;

/** What a customer was told to pay. */
interface Asked {
  readonly network: string;
  readonly address: string;
  readonly amount: bigint;
}

/** The customers of a chain. */
export interface Customers {
  /** IDs of the payments that were opened, by their indexes. */
  readonly ids: (string | undefined)[];
  /** Performs an act, and describes it for humans. */
  act(act: Act, now: number): Promise<string>;
  /** Does what has become due since it was scheduled: transactions leave the mempool, or are replaced. */
  goOn(now: number): string[];
}

export function createCustomers(
  { db, networks }: ChainStage,
  world: World,
  chain: GeneratedChain,
  random: Random,
): Customers {
  const ids: (string | undefined)[] = [];
  const asked = new Map<number, Asked>();
  const later: { readonly at: number; readonly run: () => string }[] = [];
  const make = MAKERS[world.slot.family];
  /** Streams of their own, so that they change no other draw. */
  const ancestries = createRandom('ancestors', world.seed);
  const elsewheres = createRandom('elsewhere in wallet', world.seed);
  let serial = 0;

  return {
    ids,
    async act(each, now) {
      if (each.kind === 'move') return move(each, now);
      return each.kind === 'pay' ? pay(each, now) : choose(each, now);
    },
    goOn(now) {
      const due = later.filter(({ at }) => at <= now);
      for (const each of due) later.splice(later.indexOf(each), 1);
      return due.map(({ run }) => run());
    },
  };

  async function choose({ payment }: Extract<Act, { kind: 'open' | 'choose' }>, now: number) {
    const found = await findPayment(db, ids[payment] ?? '');
    const { network = '' } = world.payments[payment] ?? {};
    if (found === undefined) throw new Error(`payment ${payment} is not there`);
    try {
      const choice = { payment: found, blockchainId: network, offering: 'watched' } as const;
      const { address, token_amount: amount } = await selectNetwork(
        db,
        RATES,
        choice,
        new Date(now),
      );
      asked.set(payment, { network, address: address ?? '', amount: BigInt(amount ?? 0) });
      return `payment ${payment} is asked for ${amount} of ${network} at ${address}`;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return `payment ${payment} chooses ${network}: ${error.errorCode}`;
    }
  }

  async function pay(act: Extract<Act, { kind: 'pay' }>, now: number): Promise<string> {
    const quote = asked.get(act.payment);
    if (quote === undefined) return `payment ${act.payment} asks for nothing`;
    const amount = await amountOf(act.amount, quote, ids[act.payment] ?? '');
    const named = act.names === null ? undefined : ids[act.names];
    const paying: Paying = {
      ...quote,
      amount,
      fate: act.fate,
      sentAt: now,
      payment: act.payment,
      spends: nextName(),
      contract: networks.get(quote.network)?.contract ?? null,
      names: named === undefined ? null : act.names,
      reference: named === undefined ? null : solanaReference(named),
    };
    const ancestors = world.slot.family === 'bitcoin' ? sendAncestors(paying) : [];
    const parent = ancestors.at(-1);
    const own = parent === undefined ? paying : { ...paying, parent, spends: nextName() };
    const made = make(random, nextName(), own);
    chain.send(made);
    if (world.omission?.act === act && mayLeaveOut(world.omission, made)) chain.leftOut = made;
    if (act.fate !== 'plain' && act.fate !== 'failed') replaceLater(ancestors[0] ?? made, paying);
    const descent = parent === undefined ? '' : `, which spends what ${parent.hash} pays`;
    return `${act.fate}: ${act.amount} for payment ${act.payment}, ${amount} by ${made.hash}${descent}`;
  }

  /**
   * Transactions that pay nobody, each spending an output of the previous one: none, a parent, or a grandparent as
   * well.
   */
  function sendAncestors(paying: Paying): MadeTransaction[] {
    const ancestors: MadeTransaction[] = [];
    for (let left = ancestries.pick([0, 0, 1, 2]); left > 0; left--) {
      const parent = ancestors.at(-1);
      const spends = parent === undefined ? paying.spends : nextName();
      const made = makeBitcoin(ancestries, nextName(), {
        ...paying,
        fate: 'failed',
        spends,
        parent,
      });
      chain.send(made);
      ancestors.push(made);
    }
    return ancestors;
  }

  /** The merchant moves the funds of the address, which has more than it was ever paid. */
  function move({ payment, share }: Extract<Act, { kind: 'move' }>, now: number): string {
    const quote = asked.get(payment);
    if (quote === undefined) return 'nothing has come that could be moved';
    const moving: Moving = {
      ...quote,
      amount: (quote.amount * BigInt(share)) / 100n,
      sentAt: now,
      spends: nextName(),
      contract: networks.get(quote.network)?.contract ?? null,
    };
    const make = world.slot.family === 'solana' ? moveSolana : moveEvm;
    const made = make(nextName(), moving);
    chain.send(made);
    return `${moving.amount} of ${quote.network} leave ${quote.address} by ${made.hash}`;
  }

  function nextName(): string {
    serial += 1;
    return `${world.seed} ${serial}`;
  }

  /** Schedules that the transaction leaves the mempool, where there is one, and that another may take its place. */
  function replaceLater(made: MadeTransaction, paying: Paying): void {
    const at = paying.sentAt + random.pick([2, 30, 200, 900]) * 1_000;
    const mayBeMined = paying.fate !== 'dropped' && random.chance(25);
    later.push({
      at,
      run() {
        chain.leave(made, mayBeMined);
        if (paying.fate === 'dropped') return `${made.hash} is dropped`;
        const elsewhere = paying.fate === 'double spent' ? elsewhereInWallet(paying) : null;
        const fate = paying.fate === 'sent again' || elsewhere !== null ? 'plain' : 'failed';
        const other = make(random, nextName(), { ...paying, ...elsewhere, sentAt: at, fate });
        chain.send(other);
        const what =
          elsewhere !== null
            ? `pays ${elsewhere.amount} to ${elsewhere.address}`
            : fate === 'plain'
              ? 'pays the same'
              : 'does not pay';
        return `${made.hash} is replaced by ${other.hash}, which ${what}`;
      },
    });
  }

  /** Another address of the wallet that a replacement pays, some of them as much as is asked for there; null for none. */
  function elsewhereInWallet({
    address,
    amount,
  }: Paying): Pick<Paying, 'address' | 'amount'> | null {
    const others = world.wallet?.addresses.filter(each => each !== address) ?? [];
    if (others.length === 0 || !elsewheres.chance(70)) return null;
    const wanted = others.filter(each => [...asked.values()].some(quote => quote.address === each));
    const other = elsewheres.pick(wanted.length > 0 && elsewheres.chance(80) ? wanted : others);
    const due = [...asked.values()].findLast(quote => quote.address === other)?.amount;
    return { address: other, amount: elsewheres.chance(50) ? (due ?? amount) : amount };
  }

  async function amountOf(amount: Amount, { amount: due }: Asked, id: string): Promise<bigint> {
    switch (amount) {
      case 'exact':
        return due;
      case 'half':
        return due / 2n;
      case 'third':
        return due / 3n;
      case 'bit over':
        return due + due / 100n;
      case 'too much':
        return due + due / 20n;
      case 'tolerated':
        return due - (due * BigInt(world.toleranceBps)) / 10_000n;
      case 'dust':
        return due / 500n + 1n;
      case 'cut':
        return due - (due % shorterUnit(due));
      case 'rounded':
        return due + shorterUnit(due) / 2n - ((due + shorterUnit(due) / 2n) % shorterUnit(due));
      case 'rest': {
        const { rows } = await sql<{ amount: string }>`
          select token_amount as amount from reservations
          where payment_id = ${id} and rest_of is not null and released_at is null`.execute(db);
        return rows[0] === undefined ? due - due / 2n : BigInt(rows[0].amount);
      }
    }
  }
}

/** The unit of an amount with two decimals fewer. */
function shorterUnit(amount: bigint): bigint {
  let unit = 100n;
  while ((amount * 100n) % (unit * 10n) === 0n) unit *= 10n;
  return unit > amount ? 1n : unit;
}
