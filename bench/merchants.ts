import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { createKey } from '#accounts/keys/manage-keys.ts';
import { createMerchant } from '#accounts/merchants.ts';
import type { Credentials } from '#client/sign.ts';
import { createKeyring } from '#crypto/keyring.ts';
import type { Database } from '#storage/database/connection.ts';
import { ADDRESSES, setSharedAddress } from '../test/helpers/accounts.ts';
import { watchNetworks } from '../test/helpers/watch-networks.ts';
import { insertPayments } from './payment-history.ts';

/** A merchant with a key that has every scope. */
export interface BenchMerchant {
  readonly id: string;
  readonly branchId: string;
  readonly credentials: Credentials;
  /** IDs of its payments before the bench creates more, in the order of a list. */
  readonly payments: readonly string[];
}

export interface BenchMerchants {
  readonly merchants: readonly BenchMerchant[];
  /** Encrypts the secrets of their keys; in base64, as MASTER_KEY takes it. */
  readonly masterKey: string;
}

const MERCHANTS = 20;
const PAYMENTS_EACH = 500;

/** Fills an empty database with merchants and payments. */
export async function addMerchants(db: Database): Promise<BenchMerchants> {
  await watchNetworks(db);
  const operator = { db, clock: Date.now, actor: 'bench' };
  const masterKey = randomBytes(32);
  const keyring = createKeyring([masterKey]);
  const added: Omit<BenchMerchant, 'payments'>[] = [];
  for (let index = 0; index < MERCHANTS; index++) {
    const { id } = await createMerchant(operator, {
      name: `Shop number ${index}`,
      email: `shop-${index}@example.com`,
    });
    await setSharedAddress(operator, id, 'btc', ADDRESSES.btc);
    const { branchId } = await setSharedAddress(operator, id, 'eth', ADDRESSES.eth);
    const credentials = await createKey(operator, keyring, {
      owner: { merchantId: id },
      name: 'bench',
    });
    added.push({ id, branchId, credentials });
  }
  await insertPayments(db, MERCHANTS * PAYMENTS_EACH, { merchants: MERCHANTS });
  await sql`vacuum (analyze) payments`.execute(db);
  const listed = await db
    .selectFrom('payments')
    .select(['id', 'merchant_id'])
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  const payments = Map.groupBy(listed, payment => payment.merchant_id);
  return {
    merchants: added.map(merchant => ({
      ...merchant,
      payments: (payments.get(merchant.id) ?? []).map(({ id }) => id),
    })),
    masterKey: masterKey.toString('base64'),
  };
}
