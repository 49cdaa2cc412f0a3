import type { AddressChangeKind } from '#storage/database/account-tables.ts';
import { DELAY_MS, HOUR_MS, type InForce } from './account-of-changes.ts';

/** A model in memory of the rules who may change deposit addresses, and when changes take effect. */

interface Person {
  isAdmin: boolean;
  isActive: boolean;
  /** Since when this person has had their role and their current factors. */
  since: number;
  recoveredAt: number | null;
}

interface Change {
  readonly kind: AddressChangeKind;
  readonly by: number;
  readonly branch: number | null;
  readonly address: string | null;
  readonly former: readonly string[];
  readonly effectiveAt: number;
  needsApproval: boolean;
}

/** A proposed change; branch and address count where the kind has them. */
export interface Wish {
  readonly kind: AddressChangeKind;
  readonly branch: number;
  readonly address: string;
}

export class ChangeModel {
  now: number;
  readonly addresses: [Set<string>, Set<string>] = [new Set(), new Set()];
  main: number | null = 0;
  needsSecondAdmin = false;
  hasEarned = false;
  isMerchantActive = true;
  open: Change[] = [];
  applied = 0;
  readonly #people: Person[];
  /** An address of another merchant. */
  readonly #foreign: string;

  constructor(now: number, roles: readonly string[], foreign: string) {
    this.now = now;
    this.#foreign = foreign;
    this.#people = roles.map(role => ({
      isAdmin: role === 'admin',
      isActive: true,
      since: now,
      recoveredAt: null,
    }));
  }

  /** @returns Whether it is accepted. */
  propose(by: number, { kind, branch, address }: Wish): boolean {
    if (!this.#mayPropose(by) || !this.isMerchantActive) return false;
    const isAddress = kind === 'address.set' || kind === 'address.add';
    const present = this.#formerOf(kind, branch);
    if (isAddress) {
      const isOnly = present.length === 1 || kind === 'address.add';
      if (address === this.#foreign || (present.includes(address) && isOnly)) return false;
    }
    if (kind === 'branch.main' && this.main === branch) return false;
    if (kind === 'merchant.one-admin' && !this.needsSecondAdmin) return false;
    if (this.open.some(other => this.#isSameThing(other, kind, branch))) return false;
    const waits = kind === 'merchant.one-admin' || this.hasEarned;
    const change: Change = {
      kind,
      by,
      former: present,
      branch: kind === 'merchant.one-admin' ? null : branch,
      address: isAddress ? address : null,
      effectiveAt: this.now + (waits ? DELAY_MS : 0),
      needsApproval: kind !== 'merchant.one-admin' && this.needsSecondAdmin,
    };
    if (waits || change.needsApproval) this.open.push(change);
    else this.#apply(change);
    return true;
  }

  approve(by: number, at: number): boolean {
    const change = this.open[at];
    const person = this.#person(by);
    if (change === undefined || change.by === by || !this.#mayPropose(by)) return false;
    if (this.now < person.since + DELAY_MS) return false;
    this.#settle(change);
    return true;
  }

  cancel(by: number, at: number): boolean {
    const change = this.open[at];
    if (change === undefined || !this.#isAdmin(by)) return false;
    this.#end(change);
    return true;
  }

  /** What the worker does. */
  tick(): void {
    const due = this.open.filter(
      ({ effectiveAt, needsApproval }) => effectiveAt <= this.now && !needsApproval,
    );
    for (const change of due) this.#settle(change);
  }

  /** What an operator does, with immediate effect. */
  command({ kind, branch, address }: Wish): boolean {
    if (kind === 'merchant.one-admin') return false;
    if (kind === 'branch.main' && this.main === branch) return false;
    if (kind !== 'branch.main' && address === this.#foreign) return false;
    const same = this.open.filter(other => this.#isSameThing(other, kind, branch));
    for (const change of same) this.#end(change);
    this.#apply({ kind, branch, address });
    return true;
  }

  remove(branch: number, address: string): boolean {
    if (!this.addresses[branch]?.delete(address)) return false;
    const same = this.open.filter(other => this.#isSameThing(other, 'address.set', branch));
    for (const change of same) this.#end(change);
    return true;
  }

  secondAdmin(by: number): boolean {
    if (!this.#mayPropose(by)) return false;
    if (!this.#people.some((_, other) => other !== by && this.#isAdmin(other))) return false;
    this.needsSecondAdmin = true;
    for (const change of this.open) change.needsApproval ||= change.kind !== 'merchant.one-admin';
    return true;
  }

  setUser(of: number, isAdmin: boolean, isActive: boolean): void {
    const person = this.#person(of);
    if (person.isAdmin === isAdmin && person.isActive === isActive) return;
    Object.assign(person, { isAdmin, isActive, since: this.now });
  }

  /** New factors, by the person or by a link. */
  renew(of: number, byLink: boolean): void {
    const person = this.#person(of);
    person.since = this.now;
    if (byLink) person.recoveredAt = this.now;
  }

  get inForce(): InForce {
    return {
      addresses: this.addresses.map(set => [...set].sort()),
      main: this.main,
      needsSecondAdmin: this.needsSecondAdmin,
      open: this.open.map(({ kind, address, needsApproval: needs_approval }) => ({
        kind,
        address,
        needs_approval,
      })),
      applied: this.applied,
      audited: this.applied,
    };
  }

  #person(at: number): Person {
    const person = this.#people[at];
    if (person === undefined) throw new Error(`there is no person ${at}`);
    return person;
  }

  #isAdmin(at: number): boolean {
    const { isAdmin, isActive } = this.#person(at);
    return isAdmin && isActive;
  }

  #mayPropose(at: number): boolean {
    const { recoveredAt } = this.#person(at);
    return this.#isAdmin(at) && (recoveredAt === null || this.now >= recoveredAt + 24 * HOUR_MS);
  }

  #formerOf(kind: AddressChangeKind, branch: number | null): readonly string[] {
    if (kind === 'merchant.one-admin') return [];
    if (kind === 'branch.main') return this.main === null ? [] : [String(this.main)];
    return [...(this.addresses[branch ?? 0] ?? [])].sort();
  }

  #isSameThing(change: Change, kind: AddressChangeKind, branch: number): boolean {
    const isAddress = kind === 'address.set' || kind === 'address.add';
    if (!isAddress) return change.kind === kind;
    return change.address !== null && change.branch === branch;
  }

  #settle(change: Change): void {
    this.#end(change);
    const isUnchanged =
      String(change.former) === String(this.#formerOf(change.kind, change.branch)) &&
      (change.kind !== 'merchant.one-admin' || this.needsSecondAdmin);
    if (isUnchanged && this.isMerchantActive && this.#isAdmin(change.by)) this.#apply(change);
  }

  #end(change: Change): void {
    this.open = this.open.filter(other => other !== change);
  }

  #apply({ kind, branch, address }: Pick<Change, 'kind' | 'branch' | 'address'>): void {
    this.applied += 1;
    const set = this.addresses[branch ?? 0];
    if (kind === 'merchant.one-admin') this.needsSecondAdmin = false;
    else if (kind === 'branch.main') this.main = branch;
    else if (set !== undefined && address !== null) {
      if (kind === 'address.set') set.clear();
      set.add(address);
    }
  }
}
