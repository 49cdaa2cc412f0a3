import { createKeyring } from '#crypto/keyring.ts';
import { connect, type Database } from '#storage/database/connection.ts';
import { addMerchant, addPartner } from '../helpers/accounts.ts';
import { watchNetworks } from '../helpers/watch-networks.ts';

/** A pool of two connections to a database that processes of the service use. */
export function openDatabase(url: string): Database {
  const onIdleError = () => undefined;
  return connect({ url, poolSize: 2, applicationName: 'test', onIdleError });
}

/** A partner and its merchant, whose keys work with every process that has the master key. */
export async function openAccounts(db: Database, masterKey: Buffer) {
  const clock = Object.assign(() => Date.now(), { now: 0 });
  const operated = { db, clock, keyring: createKeyring([masterKey]) };
  await watchNetworks(db);
  const partner = await addPartner(operated);
  const shop = await addMerchant(operated, { partnerId: partner.partner.id });
  return { operated, partner, shop };
}
