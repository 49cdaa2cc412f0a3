import { type Static, Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { isChangeAllowed } from '#accounts/access/permissions.ts';
import { ApiError } from '#errors/api-error.ts';
import { countTransfers } from '#payments/counted-transfers.ts';
import { readHistory } from '#payments/history.ts';
import { Uuid } from '#schemas/scalars.ts';
import { listMerchantTransfers } from '#storage/repositories/deposits/transfers.ts';
import { findOwnPayment, type PaymentOnNetwork } from '#storage/repositories/payments/payments.ts';
import { basePathOf } from '../../pages/base-path.ts';
import { membershipOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import type { PanelPage } from '../kit/document.ts';
import type { FormFault } from '../kit/form.ts';
import { accountPath } from '../kit/navigation.ts';
import { detailPage } from './detail.ts';
import type { PartForm } from './parts.ts';
import { casesOf } from './simulated-cases.ts';

export const PAYMENT_PATH = '/merchants/:accountId/payments/:paymentId';
export const PaymentParams = Type.Object({ paymentId: Uuid('ID of the payment.') });

type PaymentRequest = FastifyRequest & { params: Static<typeof PaymentParams> };

/** The page of a payment, which its forms show again. */
export interface PaymentPages {
  /** @throws ApiError E3001 for a payment of another merchant. */
  find(request: PaymentRequest): Promise<PaymentOnNetwork>;
  /** @param returned What the form to record a return was sent with. */
  show(
    request: PaymentRequest,
    fault: FormFault | null,
    returned?: Static<typeof PartForm>,
  ): Promise<PanelPage>;
  /** Its path without the base path. */
  pathOf(request: PaymentRequest): string;
}

export function createPaymentPages(deps: PanelDependencies): PaymentPages {
  const { db, panelUrl, reports } = deps;

  async function find(request: PaymentRequest): Promise<PaymentOnNetwork> {
    const { accountId } = membershipOf(request);
    const payment = await findOwnPayment(db, accountId, request.params.paymentId);
    if (payment === undefined) throw new ApiError('E3001');
    return payment;
  }

  return {
    find,
    async show(request, fault, returned) {
      const payment = await find(request);
      const membership = membershipOf(request);
      const accountUrl = basePathOf(panelUrl) + accountPath(membership);
      const maySimulate = isChangeAllowed(membership, 'payments.simulate');
      const [transfers, facts, cases] = await Promise.all([
        listMerchantTransfers(reports, payment.id),
        readHistory(reports, payment),
        maySimulate ? casesOf(deps, payment) : [],
      ]);
      return detailPage(texts(request), {
        partForm: { fields: returned, maySettle: isChangeAllowed(membership, 'deposits.settle') },
        transfers: {
          transfers: countTransfers(payment, transfers),
          merchantId: membership.accountId,
          accountUrl,
        },
        url: `${accountUrl}/payments/${payment.id}`,
        payment,
        facts,
        cases,
        fault,
      });
    },
    pathOf: request => `${accountPath(membershipOf(request))}/payments/${request.params.paymentId}`,
  };
}
