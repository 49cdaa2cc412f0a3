import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  proposeAddress,
  proposeMainBranch,
  proposeOneAdmin,
  requireSecondAdmin,
} from '#accounts/address-changes.ts';
import { applyDueChanges, approveChange, cancelChange } from '#accounts/apply-changes.ts';
import { OperationRefused } from '#accounts/audit/audited-change.ts';
import { setMainBranch } from '#accounts/branches.ts';
import { addAddress, removeAddress, setAddress } from '#accounts/deposit-addresses.ts';
import { setMerchant } from '#accounts/merchants.ts';
import { setUser } from '#accounts/users.ts';
import type { AddressChangeKind } from '#storage/database/account-tables.ts';
import { listOpenChanges } from '#storage/repositories/accounts/address-changes.ts';
import { listAddressesOn } from '#storage/repositories/accounts/deposit-addresses.ts';
import { updateOpenPayment } from '#storage/repositories/payments/moves.ts';
import { updatePerson } from '#storage/repositories/people/people.ts';
import { addMerchant, operatorOf } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { addPayment } from '../helpers/payments.ts';
import { reserveDollar } from '../helpers/quotes.ts';
import {
  type Account,
  DELAY_MS,
  earn,
  HOUR_MS,
  killedAfter,
  NETWORK,
  newAddress,
  openAccount,
  personOf,
  readInForce,
} from './account-of-changes.ts';
import { ChangeModel, type Wish } from './address-change-model.ts';

/**
 * Random histories of an account, played by the service and by a model of the rules: what is in force and what is
 * pending must always agree, and a payment must keep the address that it was given.
 */

const RUNS = 16;
const ROLES = ['admin', 'admin', 'member'] as const;
/** Addresses of each run; the last one belongs to another merchant. */
const ADDRESSES = 4;

type Act =
  | {
      readonly kind: 'propose';
      readonly who: number;
      readonly wish: Wanted;
      readonly stale: boolean;
    }
  | {
      readonly kind: 'approve' | 'cancel';
      /** Anybody, or another admin than the one who has proposed it. */
      readonly who: number | 'another';
      readonly at: number;
    }
  | { readonly kind: 'command'; readonly wish: Wanted }
  | { readonly kind: 'remove'; readonly branch: number; readonly address: number }
  | { readonly kind: 'second admin'; readonly who: number }
  | {
      readonly kind: 'set user';
      readonly who: number;
      readonly admin: boolean;
      readonly active: boolean;
    }
  | { readonly kind: 'renew'; readonly who: number; readonly byLink: boolean }
  | { readonly kind: 'set merchant'; readonly active: boolean }
  | { readonly kind: 'earn' | 'tick' | 'pay' }
  | { readonly kind: 'kill'; readonly after: number }
  | { readonly kind: 'wait'; readonly hours: number };

/** A change whose address is one of the run's. */
interface Wanted {
  readonly kind: AddressChangeKind;
  readonly branch: number;
  readonly address: number;
}

/** Initially two admins and a member. */
const who = fc.constantFrom(0, 0, 1, 1, 2);
const branch = fc.nat(1);
const address = fc.nat(ADDRESSES - 1);
const wish: fc.Arbitrary<Wanted> = fc.record({
  kind: fc.constantFrom<AddressChangeKind[]>(
    ...(['address.set', 'address.set', 'address.set', 'address.add', 'branch.main'] as const),
    'merchant.one-admin',
  ),
  branch,
  address,
});
const constant = <K extends Act['kind']>(kind: K) => fc.constant(kind);
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      kind: constant('propose'),
      who,
      wish,
      stale: fc.integer({ min: 0, max: 9 }).map(n => n === 0),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom('approve' as const, 'approve' as const, 'approve', 'cancel' as const),
      who: fc.oneof(
        { weight: 3, arbitrary: fc.constant('another' as const) },
        { weight: 1, arbitrary: who },
      ),
      at: fc.constantFrom(0, 0, 0, 1, 2),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: constant('command'), wish }) },
  { weight: 2, arbitrary: fc.record({ kind: constant('remove'), branch, address }) },
  { weight: 1, arbitrary: fc.record({ kind: constant('second admin'), who }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: constant('set user'),
      who,
      admin: fc.boolean(),
      active: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: constant('renew'), who, byLink: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: constant('set merchant'), active: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('tick', 'tick', 'pay') }) },
  { weight: 1, arbitrary: fc.record({ kind: constant('earn') }) },
  { weight: 2, arbitrary: fc.record({ kind: constant('kill'), after: fc.nat(14) }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: constant('wait'), hours: fc.constantFrom(1, 12, 23, 24, 25) }),
  },
);

/** A proposed change, and another act before it is approved or due. */
const waiting: fc.Arbitrary<Act[]> = fc
  .record({
    proposer: fc.nat(1),
    wish,
    isApproved: fc.boolean(),
    other: fc.oneof({ weight: 2, arbitrary: act }, { weight: 1, arbitrary: fc.constant(null) }),
  })
  .map(({ proposer, wish, other, isApproved }) => [
    { kind: 'propose', who: proposer, wish, stale: false },
    other ?? { kind: 'set user', who: proposer, admin: false, active: true },
    ...(isApproved
      ? [{ kind: 'approve', who: 'another', at: 0 } as const]
      : [{ kind: 'wait', hours: 25 } as const, { kind: 'tick' } as const]),
  ]);
const acts = fc
  .array(
    fc.oneof(
      waiting,
      act.map(each => [each]),
    ),
    { minLength: 4, maxLength: 12 },
  )
  .map(parts => parts.flat());

const PROPOSAL: Act = {
  kind: 'propose',
  who: 0,
  wish: { kind: 'address.set', branch: 0, address: 1 },
  stale: false,
};
/** Histories that are always played, so that every case occurs. */
const EXAMPLES: readonly [hasEarned: boolean, Act[]][] = [
  [true, [PROPOSAL, PROPOSAL, { kind: 'pay' }, { kind: 'approve', who: 'another', at: 0 }]],
  [true, [PROPOSAL, { kind: 'wait', hours: 25 }, { kind: 'tick' }, { kind: 'pay' }]],
  [
    true,
    [
      PROPOSAL,
      { kind: 'set user', who: 0, admin: false, active: true },
      { kind: 'approve', who: 'another', at: 0 },
    ],
  ],
];

let service: TestApp;
let foreign: string;

beforeAll(async () => {
  service = await startTestApp();
  foreign = newAddress();
  await addMerchant(service, { addresses: { [NETWORK]: foreign } });
});
afterAll(() => service.close());

test('what is in force always follows the rules, and no payment ever shows another address', async () => {
  const property = fc.asyncProperty(
    fc.constantFrom(true, true, false),
    acts,
    async (hasEarned, played) => {
      const history = await History.begin(hasEarned);
      for (const each of played) await history.play(each);
    },
  );
  await fc.assert(property, { numRuns: RUNS, endOnFailure: true, examples: [...EXAMPLES] });
});

test('the histories reach every case they are about', () => {
  for (const what of ['taken', 'refused', 'approved', 'lapsed', 'applied late', 'shown']) {
    expect(reached.get(what) ?? 0, what).toBeGreaterThan(0);
  }
});

/** How often each case occurred. */
const reached = new Map<string, number>();
const reach = (what: string) => reached.set(what, (reached.get(what) ?? 0) + 1);

/** Whether a change is accepted, rather than refused. */
async function isTaken(change: Promise<unknown>): Promise<boolean> {
  try {
    await change;
    return true;
  } catch (error) {
    if (error instanceof OperationRefused) return false;
    throw error;
  }
}

/** An account, and the model of it. */
class History {
  readonly #account: Account;
  readonly #model: ChangeModel;
  readonly #addresses: readonly string[];
  /** The address of each payment. */
  readonly #shown = new Map<string, string>();

  private constructor(account: Account) {
    this.#account = account;
    this.#model = new ChangeModel(service.clock.now, ROLES, foreign);
    this.#addresses = [...Array.from({ length: ADDRESSES - 1 }, newAddress), foreign];
  }

  /** @param hasEarned Whether a payment was successful and the people have been there for long. */
  static async begin(hasEarned: boolean): Promise<History> {
    const history = new History(await openAccount(service, ROLES));
    if (!hasEarned) return history;
    await history.play({ kind: 'command', wish: { kind: 'address.set', branch: 0, address: 0 } });
    await history.play({ kind: 'earn' });
    await history.play({ kind: 'wait', hours: 25 });
    return history;
  }

  async play(act: Act): Promise<void> {
    this.#wait(1);
    const before = this.#model.inForce;
    const [really, byModel] = await this.#both(act);
    expect(really, JSON.stringify(act)).toBe(byModel);
    const inForce = await readInForce(service.db, this.#account);
    expect(inForce, JSON.stringify(act)).toEqual(this.#model.inForce);
    await this.#checkPayments();
    reach(really ? 'taken' : 'refused');
    const ended = inForce.open.length < before.open.length;
    if (!ended || (act.kind !== 'approve' && act.kind !== 'tick')) return;
    const how = act.kind === 'approve' ? 'approved' : 'applied late';
    reach(inForce.applied > before.applied ? how : 'lapsed');
  }

  /** Whether the service accepts an act, and whether the model does. */
  async #both(act: Act): Promise<readonly [boolean, boolean]> {
    const { db, clock } = service;
    const { merchant } = this.#account;
    const model = this.#model;
    switch (act.kind) {
      case 'propose': {
        const { wish, who, stale } = act;
        const asked = this.#wishOf(wish);
        const taken = await isTaken(this.#propose(who, asked, stale));
        const isAddress = wish.kind === 'address.set' || wish.kind === 'address.add';
        return [taken, !(stale && isAddress) && model.propose(who, asked)];
      }
      case 'approve':
      case 'cancel': {
        const id = (await listOpenChanges(db, merchant.id)).toReversed()[act.at]?.id ?? merchant.id;
        const who = act.who === 'another' ? (model.open[act.at]?.by === 0 ? 1 : 0) : act.who;
        const person = personOf(this.#account, who);
        if (act.kind === 'cancel') {
          const cancelled = await isTaken(cancelChange(person, merchant.id, id));
          return [cancelled, model.cancel(who, act.at)];
        }
        const approved = await isTaken(approveChange(person, merchant.id, id, DELAY_MS));
        return [approved, model.approve(who, act.at)];
      }
      case 'command': {
        const asked = this.#wishOf(act.wish);
        return [await isTaken(this.#command(asked)), model.command(asked)];
      }
      case 'remove': {
        const owner = { merchantId: merchant.id, branchId: this.#branchOf(act.branch) };
        const text = this.#addressOf(act.address);
        const removal = removeAddress(operatorOf(service), owner, NETWORK, text);
        return [await isTaken(removal), model.remove(act.branch, text)];
      }
      case 'second admin': {
        const person = personOf(this.#account, act.who);
        const taken = await isTaken(requireSecondAdmin(person, merchant.id));
        return [taken, model.secondAdmin(act.who)];
      }
      case 'set user': {
        const { userId } = personOf(this.#account, act.who);
        const status = act.active ? 'active' : 'inactive';
        await setUser(operatorOf(service), userId, {
          role: act.admin ? 'admin' : 'member',
          status,
        });
        model.setUser(act.who, act.admin, act.active);
        return [true, true];
      }
      case 'renew': {
        const now = new Date(clock());
        await updatePerson(db, personOf(this.#account, act.who).personId, {
          factors_since: now,
          ...(act.byLink ? { recovered_at: now } : {}),
        });
        model.renew(act.who, act.byLink);
        return [true, true];
      }
      case 'set merchant':
        await setMerchant(operatorOf(service), merchant.id, {
          status: act.active ? 'active' : 'inactive',
        });
        model.isMerchantActive = act.active;
        return [true, true];
      case 'earn':
        if (model.main !== null) {
          await earn(service, this.#account);
          model.hasEarned = true;
        }
        return [true, true];
      case 'tick':
        await applyDueChanges(db, clock, 50);
        model.tick();
        return [true, true];
      case 'kill':
        // The first worker's transaction is rolled back, so another worker finds the change unaltered.
        await applyDueChanges(killedAfter(db, act.after), clock, 50).catch(() => undefined);
        await applyDueChanges(db, clock, 50);
        model.tick();
        return [true, true];
      case 'wait':
        this.#wait(act.hours * HOUR_MS);
        return [true, true];
      case 'pay':
        await this.#pay();
        return [true, true];
    }
  }

  async #propose(at: number, { kind, branch, address }: Wish, stale: boolean): Promise<unknown> {
    const person = personOf(this.#account, at);
    const merchantId = this.#account.merchant.id;
    if (kind === 'merchant.one-admin') return proposeOneAdmin(person, merchantId, DELAY_MS);
    const branchId = this.#branchOf(branch);
    if (kind === 'branch.main') {
      return proposeMainBranch(person, { merchantId, branchId }, DELAY_MS);
    }
    const present = await listAddressesOn(service.db, branchId, NETWORK);
    const wanted = { kind, merchantId, branchId, blockchainId: NETWORK, text: address };
    return proposeAddress(person, wanted, stale ? [...present, 'another'] : present, DELAY_MS);
  }

  async #command({ kind, branch, address }: Wish): Promise<unknown> {
    const operator = operatorOf(service);
    if (kind === 'merchant.one-admin') throw new OperationRefused('nothing-to-change');
    const branchId = this.#branchOf(branch);
    if (kind === 'branch.main') return setMainBranch(operator, branchId);
    const owner = { merchantId: this.#account.merchant.id, branchId };
    const change = kind === 'address.set' ? setAddress : addAddress;
    return change(operator, owner, NETWORK, address);
  }

  /** A payer chooses a network: the payment must show an address that is in force now. */
  async #pay(): Promise<void> {
    const { db, clock } = service;
    const { main } = this.#model;
    if (main === null) return;
    const now = new Date(clock());
    const payment = await addPayment(db, this.#account.merchant, { created_at: now });
    const reserved = await reserveDollar(db, payment, NETWORK, now);
    const inForce = this.#model.addresses[main] ?? new Set();
    expect(reserved !== undefined).toBe(inForce.size > 0);
    if (reserved === undefined) return;
    const { address, tokenAmount: token_amount } = reserved;
    expect([...inForce]).toContain(address);
    const chosen = { blockchain_id: NETWORK, address, token_amount, token_decimals: 18 };
    await updateOpenPayment(db, payment.id, chosen);
    this.#shown.set(payment.id, address);
    reach('shown');
  }

  async #checkPayments(): Promise<void> {
    if (this.#shown.size === 0) return;
    const rows = await service.db
      .selectFrom('payments')
      .select(['id', 'address'])
      .where('id', 'in', [...this.#shown.keys()])
      .execute();
    expect(new Map(rows.map(({ id, address }) => [id, address]))).toEqual(this.#shown);
  }

  #wait(milliseconds: number): void {
    service.clock.now += milliseconds;
    this.#model.now = service.clock.now;
  }

  #wishOf({ kind, branch, address }: Wanted): Wish {
    return { kind, branch, address: this.#addressOf(address) };
  }

  #branchOf(at: number): string {
    return this.#account.branches[at] ?? '';
  }

  #addressOf(at: number): string {
    return this.#addresses[at] ?? '';
  }
}
