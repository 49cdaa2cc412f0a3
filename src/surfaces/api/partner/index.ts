import type { TSchema } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import type { Scope } from '#accounts/keys/scopes.ts';
import { principalOf } from '#http/authentication.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { listMerchantReports, readMerchantReport } from '#reports/partners/merchant-reports.ts';
import { readFilters, readOverview, readTeam } from '#reports/partners/overview.ts';
import { listPaymentReports, readPaymentReport } from '#reports/partners/payment-reports.ts';
import { EmptyQuerySchema } from '#schemas/list-payments.ts';
import {
  PartnerFiltersSchema,
  PartnerMerchantDetailSchema,
  PartnerMerchantPageSchema,
  PartnerMerchantParamsSchema,
  PartnerMerchantsQuerySchema,
  PartnerOverviewSchema,
  PartnerPaymentPageSchema,
  PartnerPaymentParamsSchema,
  PartnerPaymentSchema,
  PartnerPaymentsQuerySchema,
  PartnerTeamSchema,
} from '#schemas/partner-reports.ts';
import type { Database } from '#storage/database/connection.ts';
import { DatabaseTooSlow } from '#storage/database/errors.ts';
import { WORK_TIMEOUT_MS } from '#storage/database/time-limits.ts';
import type { Clock } from '#time/clock.ts';
import { toDate, toInclusiveEnd } from '#time/date-bound.ts';
import { within } from '#time/within.ts';
import type { Operation } from '../operation.ts';
import {
  LIST_MERCHANTS,
  LIST_PARTNER_PAYMENTS,
  READ_FILTERS,
  READ_MERCHANT,
  READ_OVERVIEW,
  READ_PARTNER_PAYMENT,
  READ_TEAM,
} from './operations.ts';

/** Prefix of the partner reports; part of every signed path. */
export const PARTNER_PREFIX = '/external/partner';

const NO_INPUT = { querystring: EmptyQuerySchema };

interface PartnerDependencies {
  /** A pool for reports only, so that a slow report cannot hold up the creation of payments. */
  readonly reports: Database;
  readonly clock: Clock;
}

/** Registers the reports. Each runs several statements, and fails if together they take too long. */
export function registerPartnerRoutes(
  app: TypedApp,
  { reports, clock }: PartnerDependencies,
): void {
  const partnerOf = (request: FastifyRequest) => principalOf(request).accountId;

  app.addHook('onRoute', route => {
    const { handler } = route;
    route.handler = function (request, reply) {
      const report = Promise.resolve(handler.call(this, request, reply));
      return within(WORK_TIMEOUT_MS, report, () => new DatabaseTooSlow());
    };
  });

  app.get(
    '/overview',
    report('partner_overview:read', READ_OVERVIEW, PartnerOverviewSchema, NO_INPUT),
    request => readOverview(reports, partnerOf(request), new Date(clock())),
  );

  app.get('/team', report('partner_team:read', READ_TEAM, PartnerTeamSchema, NO_INPUT), request =>
    readTeam(reports, partnerOf(request)),
  );

  app.get(
    '/merchants',
    report('partner_merchants:read', LIST_MERCHANTS, PartnerMerchantPageSchema, {
      querystring: PartnerMerchantsQuerySchema,
    }),
    async request => {
      const now = new Date(clock());
      const found = await listMerchantReports(reports, partnerOf(request), request.query, now);
      const { tested: _, ...page } = found;
      return page;
    },
  );

  app.get(
    '/merchants/:merchantId',
    report('partner_merchants:read', READ_MERCHANT, PartnerMerchantDetailSchema, {
      ...NO_INPUT,
      params: PartnerMerchantParamsSchema,
    }),
    async request => {
      const { merchantId } = request.params;
      const now = new Date(clock());
      const { report } = await readMerchantReport(reports, partnerOf(request), merchantId, now);
      return report;
    },
  );

  app.get(
    '/payments',
    report('partner_payments:read', LIST_PARTNER_PAYMENTS, PartnerPaymentPageSchema, {
      querystring: PartnerPaymentsQuerySchema,
    }),
    async request => {
      const { startDate: start, endDate: end, ...query } = request.query;
      const days = { startDate: toDate(start), endDate: toInclusiveEnd(end) };
      const found = await listPaymentReports(reports, partnerOf(request), { ...query, ...days });
      const { tested: _, ...page } = found;
      return page;
    },
  );

  app.get(
    '/payments/:paymentId',
    report('partner_payments:read', READ_PARTNER_PAYMENT, PartnerPaymentSchema, {
      ...NO_INPUT,
      params: PartnerPaymentParamsSchema,
    }),
    async request => {
      const { paymentId } = request.params;
      return (await readPaymentReport(reports, partnerOf(request), paymentId)).report;
    },
  );

  app.get(
    '/payment-filters',
    report('partner_payments:read', READ_FILTERS, PartnerFiltersSchema, NO_INPUT),
    request => readFilters(reports, partnerOf(request)),
  );
}

/** Options of a report's route, for partner keys that have the scope. */
function report<I, R extends TSchema>(scope: Scope, operation: Operation, response: R, input: I) {
  return {
    config: { access: { principals: ['partner' as const], scope }, operation },
    schema: { ...input, response: { 200: response } },
  };
}
