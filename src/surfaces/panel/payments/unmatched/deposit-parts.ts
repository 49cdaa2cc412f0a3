import { type Static, Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { isChangeAllowed } from '#accounts/access/permissions.ts';
import { ApiError } from '#errors/api-error.ts';
import { Uuid } from '#schemas/scalars.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import { findOwnDeposit } from '#storage/repositories/deposits/account-deposits.ts';
import { findAskedAssignment } from '#storage/repositories/deposits/asked-assignments.ts';
import {
  type DepositContext,
  findDepositContexts,
} from '#storage/repositories/deposits/context.ts';
import { findMeantPayments } from '#storage/repositories/deposits/deviations.ts';
import { findOwnPayments } from '#storage/repositories/payments/payments.ts';
import { membershipOf, sessionOf } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import type { FormFault } from '../../kit/form.ts';
import { ownUrl } from '../../kit/navigation.ts';
import type { RemedyFields } from './remedy.ts';

export const INBOX_PATH = '/merchants/:accountId/unmatched';
export const DEPOSIT_PATH = `${INBOX_PATH}/:depositId`;
export const DepositParams = Type.Object({ depositId: Uuid('ID of the deposit.') });

export type DepositRequest = FastifyRequest & { params: Static<typeof DepositParams> };

/** The payment that a deposit is assigned to. */
export const AskForm = Type.Object({ payment: Uuid('ID of the payment.') });

const consent = {
  /** `yes` from somebody who has read that it was meant for another payment. */
  sure: Type.String({ default: '' }),
  /** Both amounts, as the second person typed them to confirm. */
  arrived: Type.String({ default: '' }),
  due: Type.String({ default: '' }),
};
export const AssignForm = Type.Object({ ...AskForm.properties, ...consent });

export type AssignFields = Static<typeof AssignForm>;

/** What a form of a deposit's page was sent with, and why it was refused. */
export interface SentForm {
  readonly fault?: FormFault;
  /** What the form to dismiss it was sent with. */
  readonly fields?: RemedyFields;
  /** An assignment that needs a second person. */
  readonly wanted?: AssignFields | undefined;
}

/** What a deposit's page shows. */
export type DepositParts = Awaited<ReturnType<typeof readDepositParts>>;

/**
 * A deposit of the merchant, also one that somebody else has settled meanwhile.
 * @throws ApiError E3001 for one of another merchant.
 */
export async function requireDeposit(
  request: DepositRequest,
  { db }: Pick<PanelDependencies, 'db'>,
): Promise<Deposit> {
  const { accountId } = membershipOf(request);
  const deposit = await findOwnDeposit(db, accountId, request.params.depositId);
  if (deposit === undefined) throw new ApiError('E3001');
  return deposit;
}

/** Reads what a deposit's page shows. */
export async function readDepositParts(
  request: DepositRequest,
  deps: PanelDependencies,
  { fault, fields, wanted }: SentForm,
) {
  const { db } = deps;
  const membership = membershipOf(request);
  const { accountId } = membership;
  const deposit = await requireDeposit(request, deps);
  const [contexts, meant, asked] = await Promise.all([
    findDepositContexts(db, [deposit]),
    findMeantPayments(db, [deposit.id]),
    findAskedAssignment(db, deposit.id),
  ]);
  const context = contexts.get(deposit.id);
  if (context === undefined) throw new ApiError('E3001');
  const own = meant.get(deposit.id);
  const fits = dueOf(context);
  const shown = [...fits.keys(), asked?.paymentId ?? [], deposit.payment_id ?? []].flat();
  const payments = await findOwnPayments(db, accountId, shown);
  const askedFor = payments.get(asked?.paymentId ?? '');
  return {
    url: ownUrl(request, `/unmatched/${deposit.id}`),
    paymentsUrl: ownUrl(request, '/payments'),
    deposit,
    context,
    fault: fault ?? null,
    fields,
    wanted,
    /** An assignment of too little or too much that waits for a second person; undefined without one. */
    asked: asked && askedFor && { ...asked, payment: askedFor },
    /** The payment of this merchant that it was meant for; undefined without one. */
    meant: own?.merchant_id === accountId ? own : undefined,
    /** The payment of this merchant that it belongs to; undefined while it waits, and for another merchant's. */
    taker: payments.get(deposit.payment_id ?? ''),
    /** Payments that it may settle, the best fit first, with what each waits for in the asset's smallest unit. */
    fits: [...fits].flatMap(([id, tokenAmount]) => {
      const payment = payments.get(id);
      return payment === undefined ? [] : [{ payment, tokenAmount }];
    }),
    personId: sessionOf(request).person.id,
    maySettle: isChangeAllowed(membership, 'deposits.settle'),
  };
}

/** What each fitting payment waits for, by their IDs. One that was underpaid is listed twice, with its rest as well. */
function dueOf({ fits }: DepositContext): Map<string, string> {
  const due = new Map<string, string>();
  for (const { paymentId, tokenAmount } of fits) {
    const before = due.get(paymentId);
    const isLess = before === undefined || BigInt(tokenAmount) < BigInt(before);
    if (isLess) due.set(paymentId, tokenAmount);
  }
  return due;
}
