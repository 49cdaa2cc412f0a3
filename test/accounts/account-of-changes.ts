import { randomBytes } from 'node:crypto';
import { type KyselyPlugin, sql } from 'kysely';
import type { Operator } from '#accounts/audit/audited-change.ts';
import { createBranch } from '#accounts/branches.ts';
import { createMerchant } from '#accounts/merchants.ts';
import { createUser } from '#accounts/users.ts';
import { parseAddress } from '#chains/address.ts';
import { newId } from '#crypto/new-id.ts';
import type { AddressChange, Merchant, UserRole } from '#storage/database/account-tables.ts';
import type { Database } from '#storage/database/connection.ts';
import { findMainBranch } from '#storage/repositories/accounts/merchants.ts';
import { setPerson } from '#storage/repositories/people/memberships.ts';
import { insertPerson } from '#storage/repositories/people/people.ts';
import { operatorOf } from '../helpers/accounts.ts';
import type { TestApp } from '../helpers/app.ts';
import { addPayment } from '../helpers/payments.ts';

export const NETWORK = 'eth';
export const HOUR_MS = 60 * 60_000;
/** How long changes wait in production. */
export const DELAY_MS = 24 * HOUR_MS;

/** A valid address that no merchant has. */
export function newAddress(): string {
  return parseAddress('ethereum', 'production', `0x${randomBytes(20).toString('hex')}`);
}

/** A merchant with a main branch and another one, and people who sign in. */
export interface Account {
  readonly merchant: Merchant;
  /** IDs; the first branch is the initial main branch. */
  readonly branches: readonly [string, string];
  readonly people: readonly (Operator & { readonly personId: string; readonly userId: string })[];
}

/** Creates an account without addresses. */
export async function openAccount(
  service: TestApp,
  roles: readonly UserRole[] = ['admin', 'admin', 'member'],
): Promise<Account> {
  const { db, clock } = service;
  const operator = operatorOf(service);
  const merchant = await createMerchant(operator, { name: 'Shop', email: 'shop@example.com' });
  const input = { merchantId: merchant.id, name: 'Other', main: false };
  const { id: other } = await createBranch(operator, input);
  const main = await findMainBranch(db, merchant.id);
  if (main === undefined) throw new Error('there is no main branch');
  const people = [];
  for (const role of roles) {
    const personId = newId();
    const email = `${personId}@example.com`;
    const now = new Date(clock());
    const times = { created_at: now, factors_since: now };
    await insertPerson(db, { id: personId, name: 'Ada', email, ...times });
    const user = { merchantId: merchant.id, name: 'Ada', email, role };
    const { id: userId } = await createUser(operator, user);
    await setPerson(db, 'merchant', userId, { personId, now });
    const from = { actor: email, accountId: merchant.id, address: '10.0.0.1' };
    people.push({ db, clock, ...from, origin: 'panel' as const, personId, userId });
  }
  return { merchant, branches: [main.id, other], people };
}

/** A person of an account, by index. */
export function personOf({ people }: Account, at: number): Account['people'][number] {
  const person = people[at];
  if (person === undefined) throw new Error(`the account has no person ${at}`);
  return person;
}

/** Makes changes of this merchant wait from now on. */
export async function earn({ db, clock }: TestApp, { merchant }: Account): Promise<void> {
  const now = new Date(clock());
  await addPayment(db, merchant, {
    created_at: now,
    status: 'successful',
    session_status: 'completed',
    paid_at: now,
  });
}

/** What is in force in an account, and what is pending. */
export interface InForce {
  /** The addresses of each branch, sorted. */
  readonly addresses: readonly (readonly string[])[];
  /** Index of the main branch; null for none. */
  readonly main: number | null;
  readonly needsSecondAdmin: boolean;
  readonly open: readonly Pick<AddressChange, 'kind' | 'address' | 'needs_approval'>[];
  /** How many changes were applied, by anybody. */
  readonly applied: number;
  /** How many of them the audit log has. */
  readonly audited: number;
}

export async function readInForce(db: Database, account: Account): Promise<InForce> {
  const { merchant, branches } = account;
  const { rows } = await sql<InForce & { main: string | null }>`
    select
      (select json_agg(coalesce((
          select json_agg(address order by address) from deposit_addresses
          where branch_id = own.id), '[]') order by at)
        from unnest(${branches}::uuid[]) with ordinality as own (id, at)) as addresses,
      (select id from branches where merchant_id = ${merchant.id} and is_main) as main,
      (select needs_second_admin from merchants where id = ${merchant.id}) as "needsSecondAdmin",
      (select coalesce(json_agg(json_build_object(
          'kind', kind, 'address', address, 'needs_approval', needs_approval) order by id), '[]')
        from address_changes where merchant_id = ${merchant.id} and outcome is null) as open,
      (select count(*)::integer from address_changes
        where merchant_id = ${merchant.id} and outcome = 'applied') as applied,
      (select count(*)::integer from audit_log
        where action in ('address.set', 'address.add', 'branch.main', 'merchant.one-admin')
          and object_id = any(${[merchant.id, ...branches]})) as audited`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('nothing was read');
  const main = branches.indexOf(row.main ?? '');
  return { ...row, main: main === -1 ? null : main };
}

/** Connections of a process that is killed after this many statements: open transactions are rolled back. */
export function killedAfter(db: Database, statements: number): Database {
  let left = statements;
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      if (left-- <= 0) throw new Error('killed');
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  return db.withPlugin(plugin);
}
