import { EmptyQuerySchema } from '#schemas/list-payments.ts';
import {
  PartnerMerchantDetailSchema,
  PartnerMerchantPageSchema,
  PartnerMerchantParamsSchema,
  PartnerMerchantsQuerySchema,
} from '#schemas/partner-reports.ts';
import { principalOf } from '../../http/authentication.ts';
import { listMerchantReports, readMerchantReport } from '../../partners/merchant-reports.ts';
import type { SignedApp } from '../signed-app.ts';
import { type PartnerDependencies, partnerAccess } from './dependencies.ts';
import { LIST_MERCHANTS, READ_MERCHANT } from './operations.ts';

/** GET /external/partner/merchants and GET /external/partner/merchants/:merchantId */
export function registerPartnerMerchants(
  app: SignedApp,
  { reports, clock }: PartnerDependencies,
): void {
  const access = partnerAccess('partner_merchants:read');

  app.get(
    '/merchants',
    {
      config: { ...access, operation: LIST_MERCHANTS },
      schema: {
        querystring: PartnerMerchantsQuerySchema,
        response: { 200: PartnerMerchantPageSchema },
      },
    },
    request =>
      listMerchantReports(
        reports,
        principalOf(request).accountId,
        request.query,
        new Date(clock()),
      ),
  );

  app.get(
    '/merchants/:merchantId',
    {
      config: { ...access, operation: READ_MERCHANT },
      schema: {
        params: PartnerMerchantParamsSchema,
        querystring: EmptyQuerySchema,
        response: { 200: PartnerMerchantDetailSchema },
      },
    },
    request =>
      readMerchantReport(
        reports,
        principalOf(request).accountId,
        request.params.merchantId,
        new Date(clock()),
      ),
  );
}
