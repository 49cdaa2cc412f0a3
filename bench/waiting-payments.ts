import { base58 } from '@scure/base';
import { sql } from 'kysely';
import { fromHexAddress } from '#chains/tron/json-rpc.ts';
import type { Database } from '#storage/database/connection.ts';
import { ADDRESSES } from '../test/helpers/accounts.ts';

/** What a payment asks for. */
export interface Waiting {
  readonly address: string;
  readonly tokenAmount: bigint;
}

interface Seeds {
  readonly blockchainId: string;
  readonly payments: number;
  /** Addresses that the payments share. */
  readonly addresses: number;
}

/** Inserts payments of a merchant that ask for distinct amounts on a network. */
export async function seedWaiting(
  db: Database,
  merchant: { readonly id: string; readonly branchId: string },
  { blockchainId, payments, addresses }: Seeds,
): Promise<Waiting[]> {
  const { rows } = await sql<{ address: string; tokenAmount: string }>`
    with seeds as (
      select gen_random_uuid() as id,
             ${addressOf(blockchainId, sql`(n % ${addresses})::integer`, addresses)} as address,
             1000000000000::numeric + n as amount
      from generate_series(1, ${payments}) as n
    ), created as (
      insert into payments (id, merchant_id, branch_id, created_by, flow, amount, commission_bps,
                            commission_payer, settlement_model, commission_amount,
                            offered_blockchain_ids, blockchain_id, address,
                            token_amount, token_decimals, created_at, expires_at)
      select id, ${merchant.id}, ${merchant.branchId}, 'bench', 'crypto', 1000, 0, 'merchant', 'direct', 0,
             array[${blockchainId}], ${blockchainId}, address, amount, 18,
             now(), now() + interval '1 day'
      from seeds
    ), reserved as (
      insert into reservations (payment_id, blockchain_id, address, token_amount, reserved_at)
      select id, ${blockchainId}, address, amount, now() - interval '1 second' from seeds
    )
    select address, amount::text as "tokenAmount" from seeds`.execute(db);
  await sql`analyze payments, reservations`.execute(db);
  return rows.map(({ address, tokenAmount }) => ({ address, tokenAmount: BigInt(tokenAmount) }));
}

/** The address with a number: any well-formed one, since nothing is ever spent from it. */
function addressOf(blockchainId: string, number: ReturnType<typeof sql>, addresses: number) {
  if (blockchainId.startsWith('tron')) {
    const all = Array.from({ length: addresses }, (_, index) =>
      fromHexAddress(`0x${(16_777_216 + index).toString(16).padStart(40, '0')}`),
    );
    return sql`(${all}::text[])[1 + ${number}]`;
  }
  if (blockchainId.startsWith('sol')) {
    const all = Array.from({ length: addresses }, (_, index) =>
      base58.encode(
        Buffer.alloc(32, 7)
          .fill(index & 255, 0, 1)
          .fill(index >> 8, 1, 2),
      ),
    );
    return sql`(${all}::text[])[1 + ${number}]`;
  }
  return blockchainId.startsWith('btc')
    ? sql`${blockchainId === 'btc' ? ADDRESSES.btc : ADDRESSES['btc-test']}::text`
    : sql`'0x' || lpad(to_hex(16777216 + ${number}), 40, '0')`;
}
