import { Type } from '@sinclair/typebox';
import type { TypedApp } from '#http/typed-app.ts';
import { csvParts } from '#payments/csv.ts';
import { readCommissionRows } from '#reports/partners/commission.ts';
import {
  COMMISSION_COLUMNS,
  commissionFileName,
  signCommission,
} from '#reports/partners/commission-file.ts';
import { Uuid } from '#schemas/scalars.ts';
import { isClosed, MONTH_PATTERN, utcMonth } from '#time/months.ts';
import { membershipOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { requireOwnPage } from '../hooks/same-origin.ts';
import { EXPORT_PAGE, type Exports } from '../kit/exports.ts';
import { ownPath } from '../kit/navigation.ts';
import { addressOf } from '../kit/page-address.ts';
import { redirectTo } from '../kit/pages.ts';
import { commissionPage } from './commission-page.ts';

const PATH = '/partners/:accountId/commission';

const Month = Type.String({ pattern: MONTH_PATTERN });
const PageQuery = Type.Object({
  month: Type.Optional(Month),
  after: Type.Optional(Uuid('ID of the merchant that the page before ended with.')),
});
const FileQuery = Type.Object({ month: Type.Optional(Month) });

/** The commission of each month: a page, its file, and the file's signature. */
export function registerCommission(app: TypedApp, deps: PanelDependencies, exports: Exports): void {
  const { clock, db, keyring, publicUrl, reports } = deps;

  const reading = withPermission('partner', 'commission.read', { querystring: PageQuery });
  app.get(PATH, reading, request => {
    const { after, month = utcMonth(new Date(clock())) } = request.query;
    return commissionPage(request, deps, month, after);
  });

  const exporting = withPermission('partner', 'commission.export', { querystring: FileQuery });
  app.get(`${PATH}.csv`, exporting, (request, reply) => {
    requireOwnPage(request);
    const { month } = request.query;
    if (month === undefined) return redirectTo(ownPath(request, '/commission'));
    const { accountId } = membershipOf(request);
    return exports.send(request, reply, {
      name: commissionFileName(month),
      action: 'commission.export',
      filters: { month },
      parts: csvParts(
        COMMISSION_COLUMNS,
        readCommissionRows(reports, accountId, month, EXPORT_PAGE),
      ),
    });
  });

  app.get(`${PATH}.json`, exporting, (request, reply) => {
    requireOwnPage(request);
    const { month } = request.query;
    const { accountId } = membershipOf(request);
    // The page says why an unfinished month has no file.
    if (month === undefined || !isClosed(month, new Date(clock()))) {
      return redirectTo(addressOf(ownPath(request, '/commission'), { month }));
    }
    const signing = { db, reports, keyring, clock, publicUrl };
    return exports.sendSigned(request, reply, {
      name: `commission-${month}.json`,
      action: 'commission.evidence',
      objectId: accountId,
      detail: { month },
      sign: () => signCommission(signing, accountId, month),
    });
  });
}
