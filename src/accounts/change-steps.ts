import { newId } from '#crypto/new-id.ts';
import type { AddressChange } from '#storage/database/account-tables.ts';
import { untilHeard } from '#storage/database/change-feed.ts';
import { transact } from '#storage/database/transaction.ts';
import {
  type ChangedThing,
  findNamedChange,
  findOpenChangeOf,
  insertAddressChange,
  updateAddressChange,
} from '#storage/repositories/accounts/address-changes.ts';
import { leaveAddresses } from './address-holders.ts';
import { audited, type Operator } from './audit/audited-change.ts';
import { namedBy, notifyAdmins } from './mail/notices.ts';
import { leaveWallet } from './wallets.ts';

/**
 * Whoever stopped being an admin within this time before a proposal still gets the mails about the change, in
 * milliseconds; if the change waits longer, its own delay counts. A day, since most people look in once a day.
 */
export const FORMER_TOLD_MS = 24 * 60 * 60_000;

/** What happens to a change of where money goes. */
type ChangeStep = 'propose' | 'approve' | 'cancel' | 'lapse' | 'apply';

/** What a change does, as people are told: a wallet is set in another way than an address. */
type ChangeName = AddressChange['kind'] | 'wallet.set';

export function changeName({
  kind,
  wallet_id,
}: Pick<AddressChange, 'kind' | 'wallet_id'>): ChangeName {
  return wallet_id === null ? kind : 'wallet.set';
}

/** A change as it is proposed. */
export type ChangeColumns = Pick<
  AddressChange,
  'kind' | 'merchant_id' | 'branch_id' | 'blockchain_id' | 'address' | 'former'
> & { readonly wallet_id?: string | null };

/**
 * Reports a step of a change, operators' steps included, in the transaction of the step: to the audit log, and by
 * mail to the admins. In the audit log an applied change is named after what it does, such as `address.set`.
 */
export async function tellOfChange(
  operator: Operator,
  step: ChangeStep,
  change: AddressChange,
): Promise<AddressChange> {
  await mailAdmins(operator, step, change);
  const [objectType] = change.kind.split('.');
  const action = step === 'apply' ? change.kind : `${objectType}.${step}`;
  return audited(operator, action, async () => ({
    result: change,
    objectId: change.branch_id ?? change.merchant_id,
    detail: { ...detailOf(change), ...stepDetail(step, change) },
  }));
}

/**
 * An approval has no mail of its own: the mail about the change that it applied, or let lapse, in the same
 * transaction names the approver. Admins until shortly before the proposal get each mail too: an intruder may
 * have removed them.
 */
async function mailAdmins(
  operator: Operator,
  step: ChangeStep,
  { id, kind, wallet_id, merchant_id, address, former, person_id, ...change }: AddressChange,
): Promise<void> {
  // Setting the only address again changes nothing.
  const [only] = former;
  const isSame =
    kind === 'address.set' && wallet_id === null && former.length === 1 && only === address;
  if (step === 'approve' || isSame) return;
  const { db, clock } = operator;
  const waitsMs = change.effective_at.getTime() - change.proposed_at.getTime();
  const toldMs = Math.max(FORMER_TOLD_MS, waitsMs);
  const named = await findNamedChange(db, merchant_id, id);
  const { network_name: name = null, asset = null, branch_name: branchName = null } = named ?? {};
  await notifyAdmins(
    db,
    { kind: 'merchant', accountId: merchant_id },
    {
      kind: 'money-change',
      facts: {
        step,
        changeId: id,
        kind: changeName({ kind, wallet_id }),
        branch: branchName,
        network: name === null || asset === null ? null : { name, asset },
        proposedBy: person_id === null ? null : change.proposed_by,
        approvedBy: change.approved_by,
        by: namedBy(operator),
        effectiveAt: change.effective_at.toISOString(),
        needsApproval: change.needs_approval,
      },
      now: new Date(clock()),
    },
    { formerSince: new Date(change.proposed_at.getTime() - toldMs) },
  );
}

function detailOf({
  kind,
  blockchain_id: blockchainId,
  address,
  wallet_id: wallet,
  former,
}: AddressChange) {
  if (kind === 'merchant.one-admin') return { needsSecondAdmin: false };
  if (kind === 'branch.main') return former.length > 0 ? { replaced: former } : {};
  const replaced = kind === 'address.set' ? former.filter(other => other !== address) : [];
  return {
    blockchainId,
    address,
    ...(wallet === null ? {} : { wallet }),
    ...(replaced.length > 0 ? { replaced } : {}),
  };
}

/** A change by an operator is applied without earlier steps. */
function stepDetail(step: ChangeStep, { id, kind, person_id, ...change }: AddressChange) {
  if (person_id === null && step === 'apply') return {};
  const { effective_at: effectiveAt, needs_approval: needsApproval, approved_by } = change;
  return {
    change: id,
    ...(step === 'apply' ? {} : { kind }),
    ...(step === 'propose' ? { effectiveAt, needsApproval } : {}),
    ...(step === 'apply' && approved_by !== null ? { approvedBy: approved_by } : {}),
  };
}

/** Ends an open change without applying it, and reports that. */
export async function endChange(
  operator: Operator,
  change: AddressChange,
  outcome: 'cancelled' | 'lapsed',
): Promise<AddressChange> {
  const ended_at = new Date(operator.clock());
  const ended = await updateAddressChange(operator.db, change.id, { outcome, ended_at });
  const { merchant_id: merchantId, blockchain_id: blockchainId, address, wallet_id } = change;
  if (wallet_id !== null) await leaveWallet(operator, wallet_id);
  if (blockchainId !== null && address !== null) {
    await leaveAddresses(operator, { merchantId, blockchainId }, [address]);
  }
  return tellOfChange(operator, outcome === 'lapsed' ? 'lapse' : 'cancel', ended);
}

/** Lets a waiting change lapse, because the same thing is being changed at once. */
export async function lapseOpen(
  operator: Operator,
  merchantId: string,
  thing: ChangedThing,
): Promise<void> {
  const open = await findOpenChangeOf(operator.db, merchantId, thing);
  if (open !== undefined) await endChange(operator, open, 'lapsed');
}

/** Records a change that an operator has made by command, and notifies the merchant's admins. */
export async function recordOperatorChange(
  operator: Operator,
  columns: ChangeColumns,
): Promise<void> {
  const now = new Date(operator.clock());
  const change = await insertAddressChange(operator.db, {
    ...columns,
    id: newId(),
    proposed_by: operator.actor,
    person_id: null,
    proposed_at: now,
    effective_at: now,
    needs_approval: false,
    outcome: 'applied',
    ended_at: now,
  });
  await tellOfChange(operator, 'apply', change);
}

/**
 * Runs several audited changes in one transaction, then waits until they are in effect on every replica.
 * Within an open transaction it neither commits nor waits, like `audited`.
 */
export async function inOneTransaction<T>(
  operator: Operator,
  work: (operator: Operator) => Promise<T>,
): Promise<T> {
  const { db } = operator;
  if (db.isTransaction) return work(operator);
  const result = await transact(db, tx => work({ ...operator, db: tx }));
  await untilHeard(db);
  return result;
}
