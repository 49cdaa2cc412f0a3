import { sql } from 'kysely';
import type { Merchant, Partner } from '../../database/account-tables.ts';
import type { Connection } from '../../database/connection.ts';
import type { Network } from '../../database/network-tables.ts';
import { sharedAddresses } from '../accounts/address-holders.ts';
import type { NetworkOnChain } from '../chains/networks.ts';

/** Which prerequisites of a payment a merchant has. */
export interface AccountSetup
  extends Pick<Merchant, 'name' | 'status' | 'account_kind' | 'environment' | 'onboarding_status'> {
  /** null without a partner. */
  readonly partner_status: Partner['status'] | null;
  /** Whether the partner lets its merchants use keys of their own; null without a partner. */
  readonly self_service: boolean | null;
  readonly has_main_branch: boolean;
  readonly has_domain: boolean;
  /** A key of its own, of v1 or of the older contract, that may create payments. */
  readonly has_own_key: boolean;
  /** A key of an owner at its partner, which creates payments for it. */
  readonly has_partner_key: boolean;
  readonly has_endpoint: boolean;
  /** Whether a person signs in to its panel. */
  readonly has_person: boolean;
  /** Whether a payment has ever been successful. */
  readonly has_settled: boolean;
  /** Addresses that another merchant has too. */
  readonly shared_addresses: readonly string[];
}

/** A network, and whether a merchant's main branch has an address on it. */
export interface NetworkOfMerchant
  extends Pick<
    NetworkOnChain,
    'id' | 'chain' | 'is_active' | 'settled_by' | 'watched_until' | 'halted'
  > {
  readonly network_environment: Network['environment'];
  readonly has_address: boolean;
  /** Fingerprint of the main branch's wallet on it; null without one. */
  readonly wallet: string | null;
}

export interface MerchantAndNetworks {
  readonly setup: AccountSetup;
  /** All networks that the merchant may have addresses on, in the order of the documentation. */
  readonly networks: readonly NetworkOfMerchant[];
}

/** Reads all in one statement, whose many conditions are shorter in SQL; undefined for an unknown merchant. */
export async function findFirstPaymentSetup(
  db: Connection,
  merchantId: string,
  now: Date,
): Promise<MerchantAndNetworks | undefined> {
  const usable = sql`key.revoked_at is null and (key.expires_at is null or key.expires_at > ${now})
    and 'payment_prompts:write' = any (key.scopes)`;
  const { rows } = await sql<AccountSetup & NetworkOfMerchant>`
    with account as materialized (
      select merchant.name, merchant.status, merchant.account_kind, merchant.environment,
        merchant.onboarding_status,
        partner.status as partner_status, partner.self_service_api_payments as self_service,
        exists (select from branches where merchant_id = merchant.id and is_main) as has_main_branch,
        exists (select from redirect_domains where merchant_id = merchant.id) as has_domain,
        exists (select from api_keys as key where key.merchant_id = merchant.id and ${usable})
          or exists (select from merchant_users where merchant_id = merchant.id and status = 'active'
                     and role = 'admin' and client_id is not null) as has_own_key,
        exists (select from partner_members as member
                join api_keys as key on key.partner_member_id = member.id
                where member.partner_id = merchant.partner_id and partner.status = 'active'
                  and member.status = 'active' and member.role = 'owner'
                  and ${usable}) as has_partner_key,
        exists (select from webhook_endpoints
                where merchant_id = merchant.id and disabled_at is null) as has_endpoint,
        exists (select from merchant_users where merchant_id = merchant.id and status = 'active'
                and person_id is not null) as has_person,
        exists (select from payments
                where merchant_id = merchant.id and status = 'successful') as has_settled,
        ${sharedAddresses(merchantId)} as shared_addresses
      from merchants as merchant left join partners as partner on partner.id = merchant.partner_id
      where merchant.id = ${merchantId}
    )
    select account.*, network.id, network.chain, network.is_active, network.settled_by,
      network.environment as network_environment,
      chain.watched_until, chain.halted,
      exists (select from deposit_addresses
              join branches on branches.id = branch_id and is_main
              where blockchain_id = network.id and merchant_id = ${merchantId}) as has_address,
      (select fingerprint from deposit_addresses
       join branches on branches.id = branch_id and is_main
       join wallets on wallets.id = wallet_id
       where deposit_addresses.blockchain_id = network.id
         and branches.merchant_id = ${merchantId} limit 1) as wallet
    from account cross join networks as network join chains as chain on chain.id = network.chain
    where account.environment = 'live' or network.environment = 'test'
    order by network.position`.execute(db);
  const [setup] = rows;
  return setup === undefined ? undefined : { setup, networks: rows };
}
