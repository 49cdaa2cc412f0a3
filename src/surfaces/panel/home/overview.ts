import type { FastifyInstance } from 'fastify';
import { visibleKeysOf } from '#accounts/access/key-holders.ts';
import { isAllowed } from '#accounts/access/permissions.ts';
import { toCents } from '#payments/dollars.ts';
import { readOverview } from '#reports/partners/overview.ts';
import type { PartnerOverview } from '#schemas/partner-reports.ts';
import { readSecurityEvents } from '#storage/repositories/accounts/security-events.ts';
import { listKeysWithUse } from '#storage/repositories/keys/api-keys.ts';
import { basePathOf } from '../../pages/base-path.ts';
import { html } from '../../pages/html.ts';
import { membershipOf, sessionOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { renderDays } from '../kit/chart.ts';
import { renderClosedCodes } from '../kit/closed-codes.ts';
import type { PanelPage } from '../kit/document.ts';
import { count, dateTime, money } from '../kit/format.ts';
import { accountPath } from '../kit/navigation.ts';
import { PLACES } from '../kit/places.ts';
import { texts } from '../texts/index.ts';
import { describeKeys, describePerson, securityEventQueryOf } from './person-attention.ts';

const { partner: partnerTexts } = texts;

/** Most notices about keys on the overview; the page of keys has all. */
const KEYS_TOLD = 20;

/** A partner's first page: its figures, and what needs attention. */
export function registerOverview(
  app: FastifyInstance,
  { clock, panelUrl, reports }: PanelDependencies,
): void {
  app.get('/partners/:accountId', withPermission('partner', 'overview.read'), async request => {
    const membership = membershipOf(request);
    const { accountId, role } = membership;
    const now = new Date(clock());
    const { person } = sessionOf(request);
    const [overview, keys, events] = await Promise.all([
      readOverview(reports, accountId, now),
      listKeysWithUse(reports, visibleKeysOf(membership)),
      readSecurityEvents(reports, securityEventQueryOf(membership, person.id, now)),
    ]);
    const keysPath = `${accountPath(membership)}${PLACES.partner.developer}/keys`;
    const own = [
      ...describeKeys(keys, keysPath, now).slice(0, KEYS_TOLD),
      ...describePerson(events, membership),
    ].map(({ text, href }) => ({ text, url: basePathOf(panelUrl) + href }));
    const page = overviewPage(basePathOf(panelUrl) + accountPath(membership), overview, {
      own,
      maySeeMerchants: isAllowed(role, 'merchants.read'),
    });
    const notice = renderClosedCodes(texts, person, now, basePathOf(panelUrl));
    return { ...page, content: html`${notice}${page.content}` };
  });
}

/** @param path Of the partner's pages, with the base path. */
function overviewPage(
  path: string,
  { partner, metrics, attention, volumeTrend }: PartnerOverview,
  {
    own,
    maySeeMerchants,
  }: {
    /** What needs the attention of the person themselves. */
    readonly own: readonly { readonly text: string; readonly url: string }[];
    readonly maySeeMerchants: boolean;
  },
): PanelPage {
  const { overview } = partnerTexts;
  const figure = (name: string, value: string) =>
    html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
  const link = (id: string, name: string) =>
    maySeeMerchants ? html`<a href="${path}/merchants/${id}">${name}</a>` : html`${name}`;
  return {
    title: partner.name,
    content: html`<dl class="figures">
${figure(overview.volume30d, money(metrics.volume30d))}
${figure(overview.totalVolume, money(metrics.totalVolume))}
${figure(overview.totalCommission, money(metrics.totalCommission))}
${figure(overview.payments, count(texts, metrics.totalPayments))}
${figure(overview.merchants, count(texts, metrics.totalMerchants))}
${figure(overview.approved, count(texts, metrics.approvedMerchants))}
${figure(overview.actionRequired, count(texts, metrics.actionRequired))}
</dl>
<section aria-labelledby="trend"><h2 id="trend">${overview.trend}</h2>
${renderDays(
  texts,
  overview.chart,
  volumeTrend.map(({ date, volume, payments }) => ({
    day: date,
    payments,
    cents: toCents(volume) ?? 0,
  })),
)}</section>
${
  attention.length + own.length > 0 &&
  html`<section aria-labelledby="attention"><h2 id="attention">${overview.attention}</h2>
<ul class="rows">${own.map(({ text, url }) => html`<li><a href="${url}">${text}</a></li>`)}${attention.map(
    ({ merchantId, merchantName, since }) =>
      html`<li><span>${overview.onboarding(link(merchantId, merchantName))}</span> <span class="quiet">${overview.since(dateTime(texts, since))}</span></li>`,
  )}</ul></section>`
}
${metrics.totalMerchants === 0 && html`<p>${overview.none}</p>`}`,
  };
}
