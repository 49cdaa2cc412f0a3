import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '#errors/api-error.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { accountingFile, accountingFileName, FORMATS } from '#reports/accounting/file.ts';
import { requireReplayed } from '#reports/evidence/replica-caught-up.ts';
import { findMerchant } from '#storage/repositories/accounts/merchants.ts';
import {
  addMonths,
  closingOf,
  isClosed,
  MONTH_PATTERN,
  monthsBetween,
  utcMonth,
} from '#time/months.ts';
import { type Html, html } from '../../pages/html.ts';
import { membershipOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import { requireOwnPage } from '../hooks/same-origin.ts';
import { CSV, type Exports } from '../kit/exports.ts';
import { renderSelect } from '../kit/form.ts';
import { ownPath, ownUrl } from '../kit/navigation.ts';
import { redirectTo } from '../kit/pages.ts';

const PATH = '/merchants/:accountId/payments';
const TYPES = { csv: CSV, jsonl: 'application/x-ndjson; charset=utf-8' };

const FileQuery = Type.Object({
  month: Type.Optional(Type.String({ pattern: MONTH_PATTERN })),
});

/** The files of a merchant's movements in a finished month. */
export function registerAccounting(
  app: TypedApp,
  { clock, db, keyring, publicUrl, reports }: PanelDependencies,
  exports: Exports,
): void {
  const exporting = withPermission('merchant', 'payments.export', { querystring: FileQuery });
  for (const format of FORMATS) {
    app.get(`${PATH}/accounting.${format}`, exporting, async (request, reply) => {
      requireOwnPage(request);
      const { month } = request.query;
      // The list offers the months that have files.
      if (month === undefined || !isClosed(month, new Date(clock()))) {
        return redirectTo(ownPath(request, '/payments'));
      }
      await requireReplayed({ primary: db, replica: reports }, closingOf(month), new Date(clock()));
      const merchant = await requireMerchant(request);
      const deps = { db, reports, keyring, clock, publicUrl };
      return exports.send(request, reply, {
        name: accountingFileName(month, format),
        type: TYPES[format],
        action: 'accounting.export',
        filters: { month, format },
        parts: accountingFile(deps, merchant, month, format),
      });
    });
  }

  async function requireMerchant(request: FastifyRequest) {
    const merchant = await findMerchant(reports, membershipOf(request).accountId);
    if (merchant === undefined) throw new ApiError('E3001');
    return merchant;
  }
}

/** The form that asks for the file of a month; null while no month of the merchant's is finished. */
export function renderAccounting(request: FastifyRequest, deps: PanelDependencies): Html | null {
  const { accounting: words } = texts(request).payments;
  const membership = membershipOf(request);
  const url = ownUrl(request, '/payments');
  const now = new Date(deps.clock());
  if (membership.kind !== 'merchant') return null;
  const last = addMonths(utcMonth(now), -1);
  const months = monthsBetween(utcMonth(membership.since), last).filter(each =>
    isClosed(each, now),
  );
  if (months.length === 0) return null;
  const choices = months.map(month => [month, month] as const);
  return html`<section aria-labelledby="accounting"><h2 id="accounting">${words.title}</h2>
<p>${words.lead} <a href="${deps.publicUrl}/docs/evidence#accounting">${words.columns}</a></p>
<form method="get" action="${url}/accounting.csv" class="filters">
${renderSelect('month', words.month, choices)}
<button>${words.csv}</button>
<button class="plain" formaction="${url}/accounting.jsonl">${words.jsonl}</button>
</form></section>`;
}
