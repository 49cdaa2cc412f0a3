import { createHash } from 'node:crypto';
import { newId } from '#crypto/new-id.ts';
import type {
  AccountKind,
  ActiveStatus,
  CommissionPayer,
  Merchant,
  MerchantEnvironment,
  OnboardingStatus,
  SettlementModel,
} from '#storage/database/account-tables.ts';
import type { Connection } from '#storage/database/connection.ts';
import { removeLogo, replaceLogo } from '#storage/repositories/accounts/merchant-logos.ts';
import {
  findMerchant,
  findTestTwin,
  insertBranch,
  insertMerchant,
  lockMerchant,
  updateMerchant,
} from '#storage/repositories/accounts/merchants.ts';
import { audited, columnsToSet, OperationRefused, type Operator } from './audit/audited-change.ts';
import type { Logo } from './logo.ts';
import { requirePartner } from './partners.ts';

interface Terms {
  readonly settlement?: SettlementModel | undefined;
  readonly commissionPayer?: CommissionPayer | undefined;
  /** Commission on split payments, in basis points (hundredths of a per cent). */
  readonly commissionBps?: number | undefined;
  /** How much may be missing from an on-chain payment that still settles, in basis points. Default: 0. */
  readonly underpaymentToleranceBps?: number | undefined;
}

export interface NewMerchant extends Terms {
  readonly name: string;
  readonly email: string;
  readonly kind?: AccountKind | undefined;
  /** Default: live. It never changes. */
  readonly environment?: MerchantEnvironment | undefined;
  /**
   * The live merchant of which it is the test twin. Its onboarding status applies to the twin too, now and
   * when it changes.
   */
  readonly twinOf?: Pick<Merchant, 'id' | 'onboarding_status'> | undefined;
  readonly partnerId?: string | undefined;
  /** Creates no main branch; API payments need one. */
  readonly withoutMainBranch?: boolean | undefined;
}

/**
 * Terms apply to payments that are created afterwards; the tolerance to transfers that are seen
 * afterwards.
 */
export interface MerchantChange extends Terms {
  readonly name?: string | undefined;
  readonly email?: string | undefined;
  readonly status?: ActiveStatus | undefined;
  readonly onboarding?: OnboardingStatus | undefined;
  /** null unlinks the merchant from its partner. */
  readonly partnerId?: string | null | undefined;
  /** Shown to payers as the contact: an e-mail address or an https URL; null for none. */
  readonly supportContact?: string | null | undefined;
  /** Accent colour of the checkout, as `#rrggbb`; null for the service's own. */
  readonly accentColor?: string | null | undefined;
  /** Whether payers see the note of a payment. */
  readonly showsNote?: boolean | undefined;
  /** Shown on the checkout; null for none. */
  readonly logo?: Logo | null | undefined;
}

/** Maximum underpayment tolerance, in basis points: 2 %. */
export const TOLERANCE_BPS_MAXIMUM = 200;

const MAIN_BRANCH_NAME = 'Main';

/**
 * Creates a merchant and, by default, its main branch. The onboarding of a US merchant starts as pending,
 * that of a standard merchant as approved.
 * @throws OperationRefused for an unknown partner.
 */
export function createMerchant(operator: Operator, input: NewMerchant): Promise<Merchant> {
  return audited(operator, 'merchant.create', async (tx, now) => {
    const { partnerId = null, kind = 'standard', environment = 'live', twinOf } = input;
    if (partnerId !== null) await requirePartner(tx, partnerId);
    const merchant = await insertMerchant(tx, {
      id: newId(),
      partner_id: partnerId,
      name: input.name,
      email: input.email,
      account_kind: kind,
      environment,
      test_of: twinOf?.id ?? null,
      onboarding_status: twinOf?.onboarding_status ?? (kind === 'us' ? 'pending' : 'approved'),
      settlement_model: input.settlement ?? 'split',
      commission_payer: input.commissionPayer ?? 'merchant',
      commission_bps: input.commissionBps ?? 0,
      underpayment_tolerance_bps: input.underpaymentToleranceBps ?? 0,
      created_at: now,
    });
    if (input.withoutMainBranch !== true) {
      await insertBranch(tx, {
        id: newId(),
        merchant_id: merchant.id,
        name: MAIN_BRANCH_NAME,
        is_main: true,
        created_at: now,
      });
    }
    const detail = { name: input.name, kind, environment };
    return { result: merchant, objectId: merchant.id, detail };
  });
}

/**
 * Changes a merchant. A new onboarding status applies to its test twin too.
 * @throws OperationRefused for an unknown merchant or partner, or when nothing is to be set.
 */
export function setMerchant(
  operator: Operator,
  id: string,
  change: MerchantChange,
): Promise<Merchant> {
  const { logo, ...columns } = columnsToSet({
    name: change.name,
    email: change.email,
    status: change.status,
    onboarding_status: change.onboarding,
    partner_id: change.partnerId,
    settlement_model: change.settlement,
    commission_payer: change.commissionPayer,
    commission_bps: change.commissionBps,
    underpayment_tolerance_bps: change.underpaymentToleranceBps,
    support_contact: change.supportContact,
    accent_color: change.accentColor,
    shows_note: change.showsNote,
    logo: change.logo,
  });
  return audited(operator, 'merchant.set', async (tx, now) => {
    if (change.partnerId != null) await requirePartner(tx, change.partnerId);
    const before = await requireLockedMerchant(tx, id);
    const { onboarding_status: onboarding = before.onboarding_status } = columns;
    const changed = onboarding === before.onboarding_status ? {} : { onboarding_changed_at: now };
    const isLogoAlone = Object.keys(columns).length === 0;
    const result = isLogoAlone ? before : await updateMerchant(tx, id, { ...columns, ...changed });
    const hash = logo === undefined ? {} : { logo: await setLogo(tx, id, logo) };
    const twin = change.onboarding === undefined ? undefined : await findTestTwin(tx, id);
    if (twin !== undefined && twin.onboarding_status !== onboarding) {
      await setMerchant({ ...operator, db: tx, accountId: null }, twin.id, { onboarding });
    }
    return { result, objectId: id, detail: { ...columns, ...hash } };
  });
}

/** @returns The hash under which the logo is served; null for none. */
async function setLogo(tx: Connection, id: string, logo: Logo | null): Promise<string | null> {
  if (logo === null) {
    await removeLogo(tx, id);
    return null;
  }
  const hash = createHash('sha256').update(logo.content).digest('hex');
  await replaceLogo(tx, { merchant_id: id, hash, ...logo });
  return hash;
}

const requireBy =
  (read: typeof findMerchant) =>
  async (db: Connection, id: string): Promise<Merchant> => {
    const merchant = await read(db, id);
    if (merchant === undefined) throw new OperationRefused('merchant-unknown', { merchantId: id });
    return merchant;
  };

/** @throws OperationRefused for an unknown merchant. */
export const requireMerchant = requireBy(findMerchant);

/**
 * Reads a merchant and locks it until the transaction ends, so that concurrent changes which count its domains or keys
 * run one after the other.
 * @throws OperationRefused for an unknown merchant.
 */
export const requireLockedMerchant = requireBy(lockMerchant);
