import type { AccessRule } from '#accounts/keys/principal.ts';
import { ApiError } from '#errors/api-error.ts';
import { principalOf } from '#http/authentication.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { listPayments } from '#payments/list-payments.ts';
import { toPaymentObject } from '#payments/payment-object.ts';
import {
  EmptyQuerySchema,
  ListPaymentsQuerySchema,
  PaymentListSchema,
  PaymentParamsSchema,
} from '#schemas/list-payments.ts';
import { PaymentSchema } from '#schemas/payment.ts';
import { findMerchantPayment } from '#storage/repositories/payments/merchant-payments.ts';
import { toDate } from '#time/date-bound.ts';
import type { V1Dependencies } from './dependencies.ts';
import { LIST_PAYMENTS, READ_PAYMENT } from './operations.ts';

const ACCESS: AccessRule = { principals: ['merchant'], scope: 'payment_prompts:read' };

/** GET /external/v1/payments/:id and GET /external/v1/payments */
export function registerReadPayments(app: TypedApp, { reads }: V1Dependencies): void {
  app.get(
    '/payments/:id',
    {
      config: { access: ACCESS, operation: READ_PAYMENT },
      schema: {
        params: PaymentParamsSchema,
        querystring: EmptyQuerySchema,
        response: { 200: PaymentSchema },
      },
    },
    async request => {
      const { accountId } = principalOf(request);
      const payment = await findMerchantPayment(reads, accountId, request.params.id);
      if (payment === undefined) throw new ApiError('E3001', 'There is no such payment.');
      return toPaymentObject(payment);
    },
  );

  app.get(
    '/payments',
    {
      config: { access: ACCESS, operation: LIST_PAYMENTS },
      schema: { querystring: ListPaymentsQuerySchema, response: { 200: PaymentListSchema } },
    },
    request => {
      const { query } = request;
      return listPayments(reads, principalOf(request).accountId, query, {
        status: query.status,
        customerReferenceId: query.customerReferenceId,
        createdAfter: toDate(query.createdAfter),
        createdBefore: toDate(query.createdBefore),
      });
    },
  );
}
