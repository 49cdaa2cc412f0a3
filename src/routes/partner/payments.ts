import { EmptyQuerySchema } from '#schemas/list-payments.ts';
import {
  PartnerFiltersSchema,
  PartnerPaymentPageSchema,
  PartnerPaymentParamsSchema,
  PartnerPaymentSchema,
  PartnerPaymentsQuerySchema,
} from '#schemas/partner-reports.ts';
import { principalOf } from '../../http/authentication.ts';
import { readFilters } from '../../partners/overview.ts';
import { listPaymentReports, readPaymentReport } from '../../partners/payment-reports.ts';
import { toDate, toInclusiveEnd } from '../../time/date-bound.ts';
import type { SignedApp } from '../signed-app.ts';
import { type PartnerDependencies, partnerAccess } from './dependencies.ts';
import { LIST_PARTNER_PAYMENTS, READ_FILTERS, READ_PARTNER_PAYMENT } from './operations.ts';

/**
 * GET /external/partner/payments, GET /external/partner/payments/:paymentId and
 * GET /external/partner/payment-filters
 */
export function registerPartnerPayments(app: SignedApp, { reports }: PartnerDependencies): void {
  const access = partnerAccess('partner_payments:read');

  app.get(
    '/payments',
    {
      config: { ...access, operation: LIST_PARTNER_PAYMENTS },
      schema: {
        querystring: PartnerPaymentsQuerySchema,
        response: { 200: PartnerPaymentPageSchema },
      },
    },
    request => {
      const { startDate, endDate, ...query } = request.query;
      return listPaymentReports(reports, principalOf(request).accountId, {
        ...query,
        startDate: toDate(startDate),
        endDate: toInclusiveEnd(endDate),
      });
    },
  );

  app.get(
    '/payments/:paymentId',
    {
      config: { ...access, operation: READ_PARTNER_PAYMENT },
      schema: {
        params: PartnerPaymentParamsSchema,
        querystring: EmptyQuerySchema,
        response: { 200: PartnerPaymentSchema },
      },
    },
    request => readPaymentReport(reports, principalOf(request).accountId, request.params.paymentId),
  );

  app.get(
    '/payment-filters',
    {
      config: { ...access, operation: READ_FILTERS },
      schema: { querystring: EmptyQuerySchema, response: { 200: PartnerFiltersSchema } },
    },
    request => readFilters(reports, principalOf(request).accountId),
  );
}
