import { EmptyQuerySchema } from '#schemas/list-payments.ts';
import { PartnerOverviewSchema, PartnerTeamSchema } from '#schemas/partner-reports.ts';
import { principalOf } from '../../http/authentication.ts';
import { readOverview, readTeam } from '../../partners/overview.ts';
import type { SignedApp } from '../signed-app.ts';
import { type PartnerDependencies, partnerAccess } from './dependencies.ts';
import { READ_OVERVIEW, READ_TEAM } from './operations.ts';

/** GET /external/partner/overview and GET /external/partner/team */
export function registerPartnerAccount(
  app: SignedApp,
  { reports, clock }: PartnerDependencies,
): void {
  app.get(
    '/overview',
    {
      config: { ...partnerAccess('partner_overview:read'), operation: READ_OVERVIEW },
      schema: { querystring: EmptyQuerySchema, response: { 200: PartnerOverviewSchema } },
    },
    request => readOverview(reports, principalOf(request).accountId, new Date(clock())),
  );

  app.get(
    '/team',
    {
      config: { ...partnerAccess('partner_team:read'), operation: READ_TEAM },
      schema: { querystring: EmptyQuerySchema, response: { 200: PartnerTeamSchema } },
    },
    request => readTeam(reports, principalOf(request).accountId),
  );
}
