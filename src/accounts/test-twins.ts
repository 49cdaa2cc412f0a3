import type { Merchant } from '#storage/database/account-tables.ts';
import type { Connection } from '#storage/database/connection.ts';
import {
  findUserOfPerson,
  listMerchantUsers,
} from '#storage/repositories/accounts/merchant-users.ts';
import { findTestTwin, lockMerchant } from '#storage/repositories/accounts/merchants.ts';
import { setPerson } from '#storage/repositories/people/memberships.ts';
import { hasAdmin } from '#storage/repositories/people/team.ts';
import { audited, OperationRefused, type Operator } from './audit/audited-change.ts';
import { inOneTransaction } from './change-steps.ts';
import { setExampleAddresses } from './example-addresses.ts';
import { createMerchant, requireLockedMerchant } from './merchants.ts';
import { createUser, setUser } from './users.ts';

const SUFFIX = ' (test)';
/** Most characters of a merchant's name. */
const NAME_MAXIMUM = 200;

/**
 * Makes the test twin of a live merchant: a test merchant on the same terms, with the same people in the same
 * roles. It has example addresses, but no domains, keys or endpoints yet. Returns an existing twin; if nobody signs in as
 * its admin any more, the people of the live merchant are admitted to it again.
 * @throws OperationRefused for an unknown merchant, and for a test merchant.
 */
export function makeTestTwin(operator: Operator, liveId: string): Promise<Merchant> {
  return inOneTransaction(operator, async within => {
    const { db: tx } = within;
    // Locked, so that concurrent calls make one twin.
    const live = await requireLockedMerchant(tx, liveId);
    if (live.environment === 'test') throw new OperationRefused('merchant-already-test');
    const present = await findTestTwin(tx, liveId);
    // The audit log files changes of the twin under the twin.
    const ofTwin = { ...within, accountId: null };
    if (present !== undefined) {
      await lockMerchant(tx, present.id);
      if (!(await hasAdmin(tx, 'merchant', present.id))) {
        await admitPeople(ofTwin, liveId, present.id);
      }
      return present;
    }
    return audited(within, 'merchant.twin', async () => {
      const twin = await createMerchant(ofTwin, { ...termsOf(live), twinOf: live });
      if (twin.account_kind === 'standard') await setExampleAddresses(ofTwin, twin.id);
      await admitPeople(ofTwin, liveId, twin.id);
      return { result: twin, objectId: liveId, detail: { twinId: twin.id } };
    });
  });
}

function termsOf(live: Merchant) {
  return {
    name: [...live.name].slice(0, NAME_MAXIMUM - SUFFIX.length).join('') + SUFFIX,
    email: live.email,
    kind: live.account_kind,
    partnerId: live.partner_id ?? undefined,
    environment: 'test' as const,
    settlement: live.settlement_model,
    commissionPayer: live.commission_payer,
    commissionBps: live.commission_bps,
    underpaymentToleranceBps: live.underpayment_tolerance_bps,
  };
}

/**
 * Lets everybody who signs in to the live merchant sign in to its twin, without an invitation. Its admins
 * become admins of the twin, whatever they were there before.
 */
async function admitPeople(operator: Operator, liveId: string, twinId: string): Promise<void> {
  const db: Connection = operator.db;
  const now = new Date(operator.clock());
  for (const { name, email, role, status, person_id } of await listMerchantUsers(db, liveId)) {
    if (status !== 'active' || person_id === null) continue;
    const present = await findUserOfPerson(db, { merchant_id: twinId, person_id });
    if (present !== undefined) {
      if (role === 'admin') await setUser(operator, present.id, { role, status });
      continue;
    }
    const user = await createUser(operator, { merchantId: twinId, name, email, role });
    await setPerson(db, 'merchant', user.id, { personId: person_id, now });
  }
}
