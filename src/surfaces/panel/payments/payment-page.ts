import { type Static, Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '#errors/api-error.ts';
import { Uuid } from '#schemas/scalars.ts';
import { findOwnPayment, type PaymentOnNetwork } from '#storage/repositories/payments/payments.ts';
import { membershipOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import type { PanelPage } from '../kit/document.ts';
import type { FormFault } from '../kit/form.ts';
import { ownPath } from '../kit/navigation.ts';
import { detailPage } from './detail.ts';
import type { PartForm } from './parts.ts';

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
  async function find(request: PaymentRequest): Promise<PaymentOnNetwork> {
    const { accountId } = membershipOf(request);
    const payment = await findOwnPayment(deps.db, accountId, request.params.paymentId);
    if (payment === undefined) throw new ApiError('E3001');
    return payment;
  }

  return {
    find,
    show: async (request, fault, returned) =>
      detailPage(request, deps, await find(request), fault, returned),
    pathOf: request => ownPath(request, `/payments/${request.params.paymentId}`),
  };
}
