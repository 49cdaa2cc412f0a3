import { sql } from 'kysely';
import type { Operator } from '#accounts/audit/audited-change.ts';
import { createMerchant } from '#accounts/merchants.ts';
import { createPartner } from '#accounts/partners.ts';
import { verifyPartner } from '#reports/partners/verify-rollups.ts';
import type { Database } from '#storage/database/connection.ts';
import { fillRollups } from './figures.ts';
import { fillPayments } from './fill-payments.ts';
import { timed, VoidRun } from './measure.ts';

/** A partner with its payments, and search terms from one of them. */
export interface PartnerHistory {
  readonly partnerId: string;
  /** How many payments the partner has. */
  readonly partnerPayments: number;
  /** One of its merchants. */
  readonly merchantId: string;
  readonly sample: { id: string; hash: string; address: string; reference: string };
}

/** Merchants with equal numbers of payments, and how many of them the partner has. */
interface Shape {
  readonly merchants: number;
  readonly linked: number;
}

/** The partner has a seventh of the payments. */
const SEVENTH: Shape = { merchants: 35, linked: 5 };

/** Five years. */
const DAYS = 5 * 365;
/** Unpaid payments expire this long after their creation, in milliseconds. */
const VALID_MS = 30 * 60_000;

/**
 * Fills an empty database with payments, with the triggers off, and builds the indexes and the rollups afterwards.
 * @throws VoidRun when the rollups do not match the payments.
 */
export async function fillHistory(
  db: Database,
  payments: number,
  { merchants, linked }: Shape = SEVENTH,
): Promise<PartnerHistory> {
  const operator: Operator = { db, clock: Date.now, actor: 'bench' };
  const partner = await createPartner(operator, { name: 'Bench Partner', selfService: true });
  for (let index = 0; index < merchants; index++) {
    await createMerchant(operator, {
      name: `Shop number ${index}`,
      email: `shop-${index}@example.com`,
      ...(index < linked ? { partnerId: partner.id } : {}),
    });
  }
  const link = { partnerId: partner.id, merchants: linked };
  const now = new Date();
  const openSince = new Date(now.getTime() - VALID_MS);
  await fillPayments(db, { payments, merchants, link, days: DAYS, now, openSince });
  await fillRollups(db);
  let wrong: unknown;
  const took = await timed(async () => {
    [wrong] = await verifyPartner(db, partner.id);
  });
  if (wrong !== undefined) throw new VoidRun(JSON.stringify(wrong));
  process.stdout.write(
    `verified rollups of ${payments} payments in ${(took / 1000).toFixed(1)} s\n`,
  );
  return { partnerId: partner.id, ...(await takeSample(db, partner.id)) };
}

async function takeSample(
  db: Database,
  partnerId: string,
): Promise<Omit<PartnerHistory, 'partnerId'>> {
  const { rows } = await sql<
    PartnerHistory['sample'] & Pick<PartnerHistory, 'merchantId' | 'partnerPayments'>
  >`
    with total as (
      select sum(payments)::bigint as payments from partner_created_days where partner_id = ${partnerId})
    select id, transaction_hash as hash, address, customer_reference_id as reference,
           merchant_id as "merchantId", total.payments as "partnerPayments"
    from payments, total where status = 'successful' and partner_id = ${partnerId}
    order by created_at desc offset (select payments / 3 from total) limit 1`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('the partner has no payments');
  const { merchantId, partnerPayments, ...sample } = row;
  return { merchantId, partnerPayments, sample };
}
