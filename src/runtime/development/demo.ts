import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Operator } from '#accounts/audit/audited-change.ts';
import { setAddress } from '#accounts/deposit-addresses.ts';
import { createKey, type KeyOwner } from '#accounts/keys/manage-keys.ts';
import { createMerchant, setMerchant } from '#accounts/merchants.ts';
import { createPartner, createPartnerMember } from '#accounts/partners.ts';
import { addDomain } from '#accounts/redirect-domains.ts';
import { readConfig } from '#config/config.ts';
import type { Keyring } from '#crypto/keyring.ts';
import type { Database } from '#storage/database/connection.ts';
import type { NetworkFamily } from '#storage/database/network-tables.ts';
import { listMerchants } from '#storage/repositories/accounts/merchants.ts';
import { listNetworks } from '#storage/repositories/chains/networks.ts';
import { DEMO_FILE, type DemoCredentials, readDemo } from './demo-credentials.ts';

type KeyOperator = Operator & { readonly keyring: Keyring };
type DemoOperator = Omit<KeyOperator, 'db'> & { readonly db: Database };

type Addresses = Readonly<Record<NetworkFamily, string>>;

/**
 * Deposit addresses of the demo merchants on test networks. The two merchants share none, since a deposit at
 * an address that two merchants have is shown to neither. All are public examples: test vectors of BIP-173, the first accounts
 * of Hardhat's and Anvil's published mnemonic, and those of the documentation of Solana, Tron and block
 * explorers. Never send anything of value to them.
 */
const SHOP_ADDRESSES: Addresses = {
  bitcoin: 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx',
  ethereum: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  bnb: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  avalanche: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  solana: '7v91N7iZ9mNicL8WfG6cgSCKyRXydQjLh6UYBWwm6y1Q',
  tron: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
};
const LINKED_SHOP_ADDRESSES: Addresses = {
  bitcoin: 'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7',
  ethereum: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  bnb: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  avalanche: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  solana: '83astBRguLMdt2h5U1Tpdq5tjFoJ6noeGwaY3mDLVcri',
  tron: 'TZ4UXDV5ZhNW7fb2AMSbgfAEZ7hWsnYS2g',
};

/**
 * Fills an empty database with one merchant of each kind and a partner, and writes a key for each to
 * a file. The file is written before the transaction commits: after a crash in between, the database
 * is empty and the next start creates the demo again.
 */
export async function makeDemo(
  dataDirectory: string,
  { db, ...operator }: DemoOperator,
): Promise<void> {
  await db.transaction().execute(async tx => {
    if ((await listMerchants(tx, { limit: 1 })).length > 0) return;
    const credentials = await createAccounts({ ...operator, db: tx });
    await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
    const file = join(dataDirectory, DEMO_FILE);
    await writeFile(file, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 });
  });
}

/**
 * Prints the commands to try next, and where to look around, if there is a demo.
 * @param url Where the service listens.
 * @param panelLink Signs in to the panel, once; null without a panel.
 */
export async function printNextStep(
  dataDirectory: string,
  url: string,
  panelLink: string | null,
): Promise<void> {
  if ((await readDemo(dataDirectory)) === undefined) return;
  // The other terminal may have another environment, so the command names this directory.
  const isDefault = dataDirectory === readConfig({}).dataDirectory;
  const directory = isDefault ? '' : `DATA_DIRECTORY='${dataDirectory.replaceAll("'", "'\\''")}' `;
  process.stdout.write(`
The External Payments Service is listening on ${url}
Try next, in another terminal:

  ${directory}npx --no mp request POST /external/v1/payments/prompt --body '{"amount":5000}'

Events of its payments, to a server of yours, and a test of that server:

  ${directory}npx --no mp listen --forward-to http://localhost:8080/hooks
  ${directory}npx --no mp webhook test --url http://localhost:8080/hooks

${panelLink === null ? '' : `Panel (signs you in, once): ${panelLink}\n`}Documentation: ${url}/docs

`);
}

async function createAccounts(operator: KeyOperator): Promise<DemoCredentials> {
  const partner = await createPartner(operator, { name: 'Demo Partner', selfService: true });
  const member = await createPartnerMember(operator, {
    partnerId: partner.id,
    name: 'Demo Owner',
    email: 'owner@partner.example',
    role: 'owner',
  });
  const shop = await createMerchant(operator, {
    name: 'Demo Shop',
    email: 'shop@merchant.example',
    environment: 'test',
    commissionBps: 100,
  });
  const us = await createMerchant(operator, {
    name: 'Demo US Shop',
    email: 'us@merchant.example',
    kind: 'us',
    environment: 'test',
    commissionBps: 100,
  });
  await setMerchant(operator, us.id, { onboarding: 'approved' });
  // A live merchant, so that its partner's reports have figures, and a test twin can be made of it.
  const linked = await createMerchant(operator, {
    name: 'Demo Linked Shop',
    email: 'linked@merchant.example',
    partnerId: partner.id,
    settlement: 'direct',
  });
  for (const [merchant, addresses] of [
    [shop, SHOP_ADDRESSES],
    [linked, LINKED_SHOP_ADDRESSES],
  ] as const) {
    await setTestAddresses(operator, merchant.id, addresses);
    await addDomain(operator, merchant.id, 'localhost');
  }
  return {
    merchant: { ...(await issue(operator, { merchantId: shop.id })), merchantId: shop.id },
    us: { ...(await issue(operator, { merchantId: us.id })), merchantId: us.id },
    partner: { ...(await issue(operator, { memberId: member.id })), partnerId: partner.id },
    linked: { ...(await issue(operator, { merchantId: linked.id })), merchantId: linked.id },
  };
}

async function setTestAddresses(
  operator: KeyOperator,
  merchantId: string,
  addresses: Addresses,
): Promise<void> {
  const networks = await listNetworks(operator.db);
  for (const { id, family, environment } of networks) {
    if (environment === 'test') {
      await setAddress(operator, { merchantId }, id, addresses[family]);
    }
  }
}

async function issue(operator: KeyOperator, owner: KeyOwner) {
  const { keyId, secret, passphrase } = await createKey(operator, operator.keyring, {
    owner,
    name: 'Demo key',
  });
  return { keyId, secret, passphrase };
}
