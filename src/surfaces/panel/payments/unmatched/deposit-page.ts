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
import { basePathOf } from '../../../pages/base-path.ts';
import { membershipOf, sessionOf } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { texts } from '../../hooks/language.ts';
import type { PanelPage } from '../../kit/document.ts';
import { accountPath } from '../../kit/navigation.ts';
import type { DepositParts } from './deposit-parts.ts';
import { depositPage } from './views.ts';

export const INBOX_PATH = '/merchants/:accountId/unmatched';
export const DEPOSIT_PATH = `${INBOX_PATH}/:depositId`;
export const DepositParams = Type.Object({ depositId: Uuid('ID of the deposit.') });

export type DepositRequest = FastifyRequest & { params: Static<typeof DepositParams> };

/** What a deposit's page shows beside the deposit. */
type Extra = Partial<Pick<DepositParts, 'fault' | 'fields' | 'wanted'>>;

/** The page of a deposit, which its forms show again. */
export interface DepositPages {
  /**
   * A deposit of the merchant, also one that somebody else has settled meanwhile.
   * @throws ApiError E3001 for one of another merchant.
   */
  find(request: DepositRequest): Promise<Deposit>;
  show(request: DepositRequest, extra?: Extra): Promise<PanelPage>;
}

export function createDepositPages({ db, panelUrl }: PanelDependencies): DepositPages {
  async function find(request: DepositRequest): Promise<Deposit> {
    const { accountId } = membershipOf(request);
    const deposit = await findOwnDeposit(db, accountId, request.params.depositId);
    if (deposit === undefined) throw new ApiError('E3001');
    return deposit;
  }

  return {
    find,
    async show(request, { fault = null, fields, wanted } = {}) {
      const membership = membershipOf(request);
      const { accountId } = membership;
      const deposit = await find(request);
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
      const accountUrl = basePathOf(panelUrl) + accountPath(membership);
      return depositPage(texts(request), {
        url: `${accountUrl}/unmatched/${deposit.id}`,
        paymentsUrl: `${accountUrl}/payments`,
        deposit,
        context,
        fault,
        fields,
        wanted,
        asked: asked && askedFor && { ...asked, payment: askedFor },
        meant: own?.merchant_id === accountId ? own : undefined,
        taker: payments.get(deposit.payment_id ?? ''),
        fits: [...fits].flatMap(([id, tokenAmount]) => {
          const payment = payments.get(id);
          return payment === undefined ? [] : [{ payment, tokenAmount }];
        }),
        personId: sessionOf(request).person.id,
        maySettle: isChangeAllowed(membership, 'deposits.settle'),
      });
    },
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
