import { AddressTaken } from '#accounts/address-holders.ts';
import type { Operator } from '#accounts/audit/audited-change.ts';
import { type OwnAddress, setAddress } from '#accounts/deposit-addresses.ts';
import { createKey, type IssuedKey, type NewKey } from '#accounts/keys/manage-keys.ts';
import { createMerchant, type NewMerchant, setMerchant } from '#accounts/merchants.ts';
import { createPartner, createPartnerMember } from '#accounts/partners.ts';
import { addDomain } from '#accounts/redirect-domains.ts';
import type {
  Merchant,
  Partner,
  PartnerMember,
  PartnerRole,
} from '#storage/database/account-tables.ts';
import type { Clock } from '#time/clock.ts';
import type { TestApp } from './app.ts';

/** Valid deposit addresses, by network. */
export const ADDRESSES = {
  btc: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  'btc-test': 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx',
  eth: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  'eth-usdc': '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  'eth-test': '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  'tron-usdc': 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
} as const;

type Test = Pick<TestApp, 'db' | 'keyring'> & { readonly clock: Clock };

export interface MerchantWithKey extends IssuedKey {
  readonly merchant: Merchant;
}

interface MerchantOptions extends Partial<NewMerchant> {
  readonly addresses?: Readonly<Record<string, string>> | undefined;
  readonly domains?: readonly string[];
  readonly key?: Partial<Omit<NewKey, 'owner'>>;
  /** US merchants are approved unless this is false. */
  readonly approved?: boolean;
}

export function operatorOf({ db, clock }: Test): Operator {
  return { db, clock, actor: 'test' };
}

/** An active merchant with addresses on Bitcoin and Ethereum, and a key with every scope. */
export async function addMerchant(
  test: Test,
  options: MerchantOptions = {},
): Promise<MerchantWithKey> {
  const operator = operatorOf(test);
  const { addresses = { btc: ADDRESSES.btc, eth: ADDRESSES.eth }, domains = [], key } = options;
  const { approved = true, ...input } = options;
  let merchant = await createMerchant(operator, {
    name: 'Shop',
    email: 'shop@example.com',
    ...input,
  });
  if (merchant.account_kind === 'us' && approved) {
    merchant = await setMerchant(operator, merchant.id, { onboarding: 'approved' });
  }
  if (options.withoutMainBranch !== true) {
    for (const [network, address] of Object.entries(addresses)) {
      await setSharedAddress(operator, merchant.id, network, address);
    }
  }
  for (const domain of domains) await addDomain(operator, merchant.id, domain);
  return { merchant, ...(await addKey(test, { merchantId: merchant.id }, key)) };
}

/** Sets an address that another merchant of the same owner has, as an operator does. */
export function setSharedAddress(
  operator: Operator,
  merchantId: string,
  network: string,
  address: string,
): Promise<OwnAddress> {
  return setAddress(operator, { merchantId }, network, address).catch(error => {
    if (!(error instanceof AddressTaken)) throw error;
    return setAddress(operator, { merchantId }, network, address, error.holders[0]?.merchantId);
  });
}

export interface PartnerWithKey extends IssuedKey {
  readonly partner: Partner;
  readonly member: PartnerMember;
}

/** An active partner with self-service on, one member and that member's key. */
export async function addPartner(
  test: Test,
  options: { role?: PartnerRole; selfService?: boolean } = {},
): Promise<PartnerWithKey> {
  const operator = operatorOf(test);
  const { role = 'owner', selfService = true } = options;
  const partner = await createPartner(operator, { name: 'Partner', selfService });
  const member = await createPartnerMember(operator, {
    partnerId: partner.id,
    name: 'Member',
    email: 'member@example.com',
    role,
  });
  return { partner, member, ...(await addKey(test, { memberId: member.id })) };
}

export function addKey(
  test: Test,
  owner: NewKey['owner'],
  options: Partial<Omit<NewKey, 'owner'>> = {},
): Promise<IssuedKey> {
  return createKey(operatorOf(test), test.keyring, { owner, name: 'Test key', ...options });
}
