import type { PartnerMerchantDetail, PartnerMerchantRow } from '#schemas/partner-reports.ts';
import type { MerchantEnvironment } from '#storage/database/account-tables.ts';
import { type Html, html } from '../../pages/html.ts';
import type { PanelPage } from '../kit/document.ts';
import { renderTestTag } from '../kit/environment.ts';
import { count, dateTime, money } from '../kit/format.ts';
import { renderFacts, renderTable } from '../kit/table.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import { renderPartnerPayments } from './payment-views.ts';

/** The word for a value of a report whose schema does not list its values. */
function wordFor(words: Readonly<Partial<Record<string, string>>>, value: string): string {
  return words[value] ?? value;
}

/**
 * @param path Of the partner's pages, with the base path.
 * @param tested IDs of test merchants, which are marked.
 */
export function renderMerchants(
  words: PanelTexts,
  path: string,
  merchants: readonly PartnerMerchantRow[],
  tested: ReadonlySet<string>,
): Html {
  const { columns, title, neverPaid } = words.partner.merchants;
  return renderTable<PartnerMerchantRow>(
    title,
    [
      {
        title: columns.name,
        cell: ({ id, name }) =>
          html`<a href="${path}/merchants/${id}">${name}</a>${tested.has(id) && renderTestTag(words)}`,
      },
      { title: columns.state, cell: merchant => renderState(words, merchant) },
      { title: columns.volume30d, cell: ({ volume30d }) => money(volume30d), number: true },
      {
        title: columns.payments,
        cell: ({ totalPayments }) => count(words, totalPayments),
        number: true,
        secondary: true,
      },
      {
        title: columns.lastPayment,
        cell: ({ lastPaymentAt: at }) => (at === null ? neverPaid : dateTime(words, at)),
        secondary: true,
      },
    ],
    merchants,
  );
}

function renderState(
  { partner, shell }: PanelTexts,
  { status, onboardingStatus }: Pick<PartnerMerchantRow, 'status' | 'onboardingStatus'>,
): Html {
  if (status !== 'active') {
    return html`<span class="tag bad">${wordFor(partner.statuses, status)}</span>`;
  }
  const look = onboardingStatus === 'approved' ? ' good' : '';
  return html`<span class="tag${look}">${wordFor(shell.onboardingStatuses, onboardingStatus)}</span>`;
}

/** @param path Of the partner's pages, with the base path. */
export function merchantPage(
  words: PanelTexts,
  path: string,
  report: PartnerMerchantDetail,
  environment: MerchantEnvironment,
): PanelPage {
  const { merchant, branches, aggregates, recentPayments } = report;
  const isTest = environment === 'test';
  const { accountKinds, merchant: names } = words.partner;
  const facts: readonly (readonly [string, Html | string])[] = [
    [names.email, merchant.email],
    [names.accountKind, wordFor(accountKinds, merchant.accountKind)],
    [names.created, dateTime(words, merchant.createdAt)],
    [
      names.branches,
      branches.map(({ name, isMain }) => (isMain ? names.mainBranch(name) : name)).join(', '),
    ],
    [names.payments, count(words, aggregates.totalPayments)],
    [names.successful, count(words, aggregates.successfulPayments)],
    [names.totalVolume, money(aggregates.totalVolume)],
    [names.volume30d, money(aggregates.volume30d)],
    [names.commission, money(aggregates.totalCommission)],
  ];
  const tested = new Set(isTest ? [merchant.id] : []);
  return {
    title: merchant.name,
    lead: html`${renderState(words, merchant)}${isTest && renderTestTag(words)} <code>${merchant.id}</code>`,
    content: html`${isTest && html`<p class="notice">${names.test}</p>`}${renderFacts(facts)}
<section aria-labelledby="latest"><h2 id="latest">${names.latest}</h2>
${recentPayments.length === 0 ? html`<p>${words.payments.none}</p>` : renderPartnerPayments(words, path, recentPayments, tested)}
<p><a href="${path}/payments?merchant=${merchant.id}">${names.allPayments}</a></p></section>`,
  };
}
