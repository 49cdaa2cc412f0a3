import { v7 as uuidv7 } from 'uuid';
import type { Connection } from '../database/connection.ts';
import type {
  AccountKind,
  ActiveStatus,
  Branch,
  CommissionPayer,
  Merchant,
  OnboardingStatus,
  SettlementModel,
} from '../database/tables.ts';
import {
  clearMainBranch,
  findMerchant,
  insertBranch,
  insertMerchant,
  lockMerchant,
  updateMerchant,
} from '../repositories/merchants.ts';
import { findPartner } from '../repositories/partners.ts';
import { audited, given, OperationRefused, type Operator, requireSomething } from './operation.ts';

export interface NewMerchant {
  readonly name: string;
  readonly email: string;
  readonly kind?: AccountKind | undefined;
  readonly settlement?: SettlementModel | undefined;
  readonly commissionPayer?: CommissionPayer | undefined;
  /** Commission in basis points (hundredths of a per cent) of a split payment. */
  readonly commissionBps?: number | undefined;
  readonly partnerId?: string | undefined;
  /** Leaves the merchant without the branch that payments are created on. */
  readonly withoutMainBranch?: boolean | undefined;
}

export interface MerchantChange {
  readonly status?: ActiveStatus | undefined;
  readonly onboarding?: OnboardingStatus | undefined;
  /** null unlinks the merchant from its partner. */
  readonly partnerId?: string | null | undefined;
}

const MAIN_BRANCH_NAME = 'Main';

/**
 * Creates a merchant, with its Main branch unless told otherwise. US merchants start with onboarding
 * pending, standard ones approved.
 * @throws OperationRefused for an unknown partner.
 */
export function createMerchant(operator: Operator, input: NewMerchant): Promise<Merchant> {
  return audited(operator, 'merchant.create', async (tx, now) => {
    const { partnerId = null, kind = 'standard' } = input;
    await requirePartner(tx, partnerId);
    const merchant = await insertMerchant(tx, {
      id: uuidv7(),
      partner_id: partnerId,
      name: input.name,
      email: input.email,
      account_kind: kind,
      onboarding_status: kind === 'us' ? 'pending' : 'approved',
      settlement_model: input.settlement ?? 'split',
      commission_payer: input.commissionPayer ?? 'merchant',
      commission_bps: input.commissionBps ?? 0,
      created_at: now,
    });
    if (input.withoutMainBranch !== true) {
      await insertBranch(tx, {
        id: uuidv7(),
        merchant_id: merchant.id,
        name: MAIN_BRANCH_NAME,
        is_main: true,
        created_at: now,
      });
    }
    return { result: merchant, objectId: merchant.id, detail: { name: input.name, kind } };
  });
}

/** @throws OperationRefused for an unknown merchant or partner, and without anything to set. */
export function setMerchant(
  operator: Operator,
  id: string,
  change: MerchantChange,
): Promise<Merchant> {
  const columns = given({
    status: change.status,
    onboarding_status: change.onboarding,
    partner_id: change.partnerId,
  });
  requireSomething(columns);
  return audited(operator, 'merchant.set', async (tx, _now) => {
    await requirePartner(tx, change.partnerId ?? null);
    const merchant = await updateMerchant(tx, id, columns);
    if (merchant === undefined) throw noMerchant(id);
    return { result: merchant, objectId: id, detail: columns };
  });
}

/**
 * Adds a branch; a main one takes over from the branch that was main.
 * @throws OperationRefused for an unknown merchant.
 */
export function createBranch(
  operator: Operator,
  input: { merchantId: string; name: string; main: boolean },
): Promise<Branch> {
  return audited(operator, 'branch.create', async (tx, now) => {
    if ((await lockMerchant(tx, input.merchantId)) === undefined) {
      throw noMerchant(input.merchantId);
    }
    if (input.main) await clearMainBranch(tx, input.merchantId);
    const branch = await insertBranch(tx, {
      id: uuidv7(),
      merchant_id: input.merchantId,
      name: input.name,
      is_main: input.main,
      created_at: now,
    });
    return { result: branch, objectId: branch.id, detail: { ...input } };
  });
}

/** @throws OperationRefused for an unknown merchant. */
export async function requireMerchant(db: Connection, id: string): Promise<Merchant> {
  const merchant = await findMerchant(db, id);
  if (merchant === undefined) throw noMerchant(id);
  return merchant;
}

async function requirePartner(db: Connection, id: string | null): Promise<void> {
  if (id !== null && (await findPartner(db, id)) === undefined) {
    throw new OperationRefused(`There is no partner ${id}.`);
  }
}

function noMerchant(id: string): OperationRefused {
  return new OperationRefused(`There is no merchant ${id}.`);
}
