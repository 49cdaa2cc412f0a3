import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { proposeAddress } from '#accounts/address-changes.ts';
import { HELD_FOR_MS } from '#accounts/address-holders.ts';
import { applyDueChanges, cancelChange } from '#accounts/apply-changes.ts';
import { OperationRefused } from '#accounts/audit/audited-change.ts';
import { addAddress, removeAddress, setAddress } from '#accounts/deposit-addresses.ts';
import { releaseAddress } from '#accounts/release-address.ts';
import { listOpenChanges } from '#storage/repositories/accounts/address-changes.ts';
import { listAddressesOn } from '#storage/repositories/accounts/deposit-addresses.ts';
import { releaseReservation } from '#storage/repositories/deposits/reservations.ts';
import { operatorOf } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { addPayment } from '../helpers/payments.ts';
import { runs } from '../helpers/property-runs.ts';
import { reserveDollar } from '../helpers/quotes.ts';
import {
  type Account,
  DELAY_MS,
  earn,
  HOUR_MS,
  newAddress,
  openAccount,
  personOf,
} from './account-of-changes.ts';

/**
 * Random histories of three merchants who want the same two addresses on two chains of a family, played by the
 * service and by rules in memory: who is refused, and that an address never has two holders unless an operator has
 * shared it.
 */

const RUNS = 18;
const NETWORKS = ['eth', 'bnb'] as const;
const KINDS = ['set', 'add', 'propose', 'share', 'remove', 'cancel', 'release', 'quote'] as const;

interface Act {
  readonly kind: (typeof KINDS)[number] | 'tick' | 'end quotes' | 'wait';
  /** Indexes of merchant, network and address. */
  readonly who: number;
  readonly network: number;
  readonly address: number;
  readonly ms: number;
}

type Kind = Act['kind'];

/** Useful sequences of acts, each by one merchant, for one address on one network. */
const SEQUENCES: readonly (readonly Kind[])[] = [
  ...KINDS.map(kind => [kind]),
  ...(['set', 'propose', 'share', 'remove', 'tick', 'wait', 'end quotes'] as const).map(kind => [
    kind,
  ]),
  ['propose', 'wait', 'tick'],
  ['set', 'quote', 'remove'],
  ['set', 'quote', 'end quotes', 'remove', 'wait'],
  ['set', 'quote', 'remove', 'release'],
];

const sequence: fc.Arbitrary<Act[]> = fc
  .record({
    kinds: fc.constantFrom(...SEQUENCES),
    who: fc.nat(2),
    network: fc.constantFrom(0, 0, 1),
    address: fc.constantFrom(0, 0, 1),
    ms: fc.constantFrom(HOUR_MS, DELAY_MS, HELD_FOR_MS / 2, HELD_FOR_MS),
  })
  .map(({ kinds, ...given }) => kinds.map(kind => ({ kind, ...given })));

const at = (who: number, kind: Kind, ms: number = DELAY_MS): Act => ({
  kind,
  who,
  network: 0,
  address: 0,
  ms,
});
/** A history that exercises every rule. */
const EXAMPLE: Act[] = [
  ...[at(0, 'propose'), at(1, 'set'), at(0, 'wait'), at(0, 'tick'), at(0, 'quote')],
  ...[at(0, 'remove'), at(1, 'propose'), at(0, 'release'), at(1, 'set'), at(0, 'share')],
];

/** A merchant's state for one address, by the rules; undefined where it has none. */
interface Hold {
  /** Networks on which it is in force. */
  readonly inForce: Set<number>;
  /** Networks with a pending change to it: the address in force at that time, and when the change is due. */
  readonly waiting: Map<number, { readonly former: string; readonly due: number }>;
  since: number;
  leftAt: number;
}

class Rules {
  now: number;
  /** By merchant, then by address. */
  readonly holds: Map<number, Hold>[] = [new Map(), new Map(), new Map()];
  /** By address, when a payer was last asked to pay there, and until when. */
  readonly asked = new Map<number, { at: number; open: number; until: number }>();
  readonly reached = new Set<string>();

  constructor(now: number) {
    this.now = now;
  }

  #isOver(hold: Hold, address: number): boolean {
    if (hold.inForce.size > 0 || hold.waiting.size > 0) return false;
    const asked = this.asked.get(address);
    if (asked === undefined || asked.at < hold.since) return true;
    if (asked.open > 0) return false;
    return this.now >= Math.max(hold.leftAt, asked.until) + HELD_FOR_MS;
  }

  /** The merchants that hold an address now. */
  holders(address: number): number[] {
    return [0, 1, 2].filter(who => {
      const hold = this.holds[who]?.get(address);
      return hold !== undefined && !this.#isOver(hold, address);
    });
  }

  /** Forgets merchants that no longer hold the address, and returns those that do. */
  #settle(address: number): number[] {
    const holders = this.holders(address);
    for (const who of [0, 1, 2]) {
      if (!holders.includes(who)) this.holds[who]?.delete(address);
    }
    return holders;
  }

  #hold(who: number, address: number): Hold {
    const fresh = { inForce: new Set<number>(), waiting: new Map(), since: this.now, leftAt: 0 };
    const hold = this.holds[who]?.get(address) ?? fresh;
    this.holds[who]?.set(address, hold);
    return hold;
  }

  present(who: number, network: number): string {
    const all = [...(this.holds[who] ?? [])].filter(([, { inForce }]) => inForce.has(network));
    return String(all.map(([address]) => address).sort());
  }

  isWaiting(who: number, network: number): boolean {
    return [...(this.holds[who]?.values() ?? [])].some(({ waiting }) => waiting.has(network));
  }

  #leave(who: number, address: number): void {
    const hold = this.holds[who]?.get(address);
    if (hold !== undefined && hold.inForce.size + hold.waiting.size === 0) hold.leftAt = this.now;
    this.#settle(address);
  }

  #put(kind: string, who: number, network: number, address: number): void {
    this.#hold(who, address).inForce.add(network);
    if (kind === 'add') return;
    for (const [other, { inForce }] of [...(this.holds[who] ?? [])]) {
      if (other !== address && inForce.delete(network)) this.#leave(who, other);
    }
  }

  /** Cancels the pending change on a network. */
  cancel(who: number, network: number): boolean {
    for (const [address, { waiting }] of [...(this.holds[who] ?? [])]) {
      if (!waiting.delete(network)) continue;
      this.#leave(who, address);
      return true;
    }
    return false;
  }

  /** @param beside The merchant that the operator names; undefined for none. */
  set(kind: string, { who, network, address }: Act, beside?: number): boolean {
    const others = this.#settle(address).filter(other => other !== who);
    const isOwn = this.holds[who]?.has(address) === true;
    if (beside !== undefined && !others.includes(beside)) return false;
    if (others.length > 0 && !isOwn) {
      if (beside === undefined) this.reached.add('refused');
      else this.reached.add('shared');
      if (beside === undefined) return false;
    }
    this.#put(kind, who, network, address);
    this.cancel(who, network);
    return true;
  }

  propose({ who, network, address }: Act): boolean {
    const present = this.present(who, network);
    if (present === String(address) || this.isWaiting(who, network)) return false;
    const others = this.holders(address).filter(other => other !== who);
    if (others.length > 0 && this.holds[who]?.has(address) !== true) {
      this.reached.add('refused');
      return false;
    }
    this.#settle(address);
    const due = this.now + DELAY_MS;
    this.#hold(who, address).waiting.set(network, { former: present, due });
    return true;
  }

  remove({ who, network, address }: Act): boolean {
    if (this.holds[who]?.get(address)?.inForce.delete(network) !== true) return false;
    this.#leave(who, address);
    if (this.holds[who]?.has(address)) this.reached.add('kept');
    this.cancel(who, network);
    return true;
  }

  release({ who, address }: Act): boolean {
    const hold = this.holds[who]?.get(address);
    if (hold === undefined || hold.inForce.size + hold.waiting.size > 0) return false;
    this.holds[who]?.delete(address);
    this.reached.add('released');
    return true;
  }

  tick(): void {
    for (const who of [0, 1, 2]) {
      for (const [address, { waiting }] of [...(this.holds[who] ?? [])]) {
        for (const [network, { former, due }] of [...waiting]) {
          if (due > this.now) continue;
          waiting.delete(network);
          if (former === this.present(who, network)) {
            this.#put('set', who, network, address);
            this.reached.add('applied');
          } else this.#leave(who, address);
        }
      }
    }
  }
}

let service: TestApp;
let accounts: Account[];
const reached = new Set<string>();

beforeAll(async () => {
  service = await startTestApp();
  accounts = [];
  for (let at = 0; at < 3; at++) {
    const account = await openAccount(service, ['admin']);
    await earn(service, account);
    accounts.push(account);
  }
});
afterAll(() => service.close());

/** Plays a history with the service, with its own addresses, and compares each outcome. */
class History {
  readonly #rules = new Rules(service.clock.now);
  readonly #addresses = [newAddress(), newAddress()];
  readonly #quotes: { readonly id: string; readonly address: number }[] = [];
  /** For each address, whether an operator has ever shared it. */
  #isShared = [false, false];

  async play(acts: readonly Act[]): Promise<void> {
    // Left by an earlier history.
    await sql`delete from deposit_addresses`.execute(service.db);
    await sql`update address_changes set outcome = 'cancelled', ended_at = now()
              where outcome is null`.execute(service.db);
    for (const each of acts) {
      await this.#step(each);
      await this.#check();
    }
    for (const what of this.#rules.reached) reached.add(what);
  }

  async #step(given: Act): Promise<void> {
    const { kind, who, network, ms } = given;
    const rules = this.#rules;
    service.clock.now += 1000;
    rules.now = service.clock.now;
    const account = accounts[who];
    if (account === undefined) throw new Error('no such merchant');
    const [branchId] = account.branches;
    const owner = { merchantId: account.merchant.id, branchId };
    const id = NETWORKS[network] ?? 'eth';
    const text = this.#addresses[given.address] ?? '';
    const operator = operatorOf(service);
    switch (kind) {
      case 'set':
        return this.#expect(rules.set(kind, given), setAddress(operator, owner, id, text));
      case 'add':
        return this.#expect(rules.set(kind, given), addAddress(operator, owner, id, text));
      case 'share': {
        const beside = (who + 1) % 3;
        const other = accounts[beside]?.merchant.id;
        const isTaken = rules.set('set', given, beside);
        if (isTaken) this.#isShared[given.address] = true;
        return this.#expect(isTaken, setAddress(operator, owner, id, text, other));
      }
      case 'propose': {
        const seen = await listAddressesOn(service.db, branchId, id);
        const wanted = { ...owner, kind: 'address.set' as const, blockchainId: id, text };
        const proposed = proposeAddress(personOf(account, 0), wanted, seen, DELAY_MS);
        return this.#expect(rules.propose(given), proposed);
      }
      case 'remove':
        return this.#expect(rules.remove(given), removeAddress(operator, owner, id, text));
      case 'cancel': {
        const open = await listOpenChanges(service.db, owner.merchantId);
        const change = open.find(({ blockchain_id }) => blockchain_id === id);
        expect(change !== undefined).toBe(rules.cancel(who, network));
        if (change === undefined) return;
        await cancelChange(personOf(account, 0), owner.merchantId, change.id);
        return;
      }
      case 'release': {
        const released = { merchantId: owner.merchantId, blockchainId: id, address: text };
        return this.#expect(rules.release(given), releaseAddress(operator, released));
      }
      case 'quote':
        return this.#quote(account, id);
      case 'end quotes':
        return this.#endQuotes();
      case 'tick':
        rules.tick();
        await applyDueChanges(service.db, service.clock, 50);
        return;
      case 'wait':
        service.clock.now += ms;
        rules.now = service.clock.now;
    }
  }

  async #expect(isTaken: boolean, change: Promise<unknown>): Promise<void> {
    const outcome = await change.then(
      () => true,
      error => {
        if (error instanceof OperationRefused) return false;
        throw error;
      },
    );
    expect(outcome).toBe(isTaken);
  }

  async #quote({ merchant }: Account, network: string): Promise<void> {
    const now = new Date(service.clock.now);
    const payment = await addPayment(service.db, merchant, { created_at: now });
    const reserved = await reserveDollar(service.db, payment, network, now);
    if (reserved === undefined) return;
    const address = this.#addresses.indexOf(reserved.address);
    const asked = this.#rules.asked.get(address) ?? { at: 0, open: 0, until: 0 };
    this.#rules.asked.set(address, { ...asked, at: now.getTime(), open: asked.open + 1 });
    this.#quotes.push({ id: payment.id, address });
  }

  async #endQuotes(): Promise<void> {
    for (const { id, address } of this.#quotes.splice(0)) {
      await releaseReservation(service.db, id, new Date(service.clock.now));
      const asked = this.#rules.asked.get(address);
      if (asked === undefined) throw new Error('nobody was asked');
      this.#rules.asked.set(address, { ...asked, open: asked.open - 1, until: service.clock.now });
    }
  }

  /** Reads addresses in force and pending from their own tables, not from the table of holders. */
  async #check(): Promise<void> {
    const { rows } = await sql<{ address: string; merchants: string[] }>`
      select address, array_agg(distinct merchant_id::text) as merchants from (
        select address, merchant_id
        from deposit_addresses join branches on branches.id = branch_id
        union all
        select address, merchant_id from address_changes where outcome is null
      ) as used group by address`.execute(service.db);
    for (const [at, address] of this.#addresses.entries()) {
      const merchants = rows.find(row => row.address === address)?.merchants ?? [];
      if (this.#isShared[at] !== true) expect(merchants.length).toBeLessThan(2);
      const wanted = accounts.filter((_, who) => {
        const hold = this.#rules.holds[who]?.get(at);
        return hold !== undefined && hold.inForce.size + hold.waiting.size > 0;
      });
      expect(merchants.toSorted()).toEqual(wanted.map(({ merchant }) => merchant.id).sort());
    }
  }
}

test('an address never has two holders unless it is shared, and is refused only by the rules', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(sequence, { minLength: 5, maxLength: 14 }), async acts => {
      await new History().play(acts.flat());
    }),
    { numRuns: runs(RUNS), examples: [[[EXAMPLE]]] },
  );
  expect([...reached].sort()).toEqual(['applied', 'kept', 'refused', 'released', 'shared']);
});
