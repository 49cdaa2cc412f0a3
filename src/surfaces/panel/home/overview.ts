import type { FastifyInstance } from 'fastify';
import { visibleKeysOf } from '#accounts/access/key-holders.ts';
import { isAllowed } from '#accounts/access/permissions.ts';
import { toCents } from '#payments/dollars.ts';
import { readOverview } from '#reports/partners/overview.ts';
import type { PartnerOverview } from '#schemas/partner-reports.ts';
import { readPersonAttention } from '#storage/repositories/accounts/security-events.ts';
import { listKeysWithUse } from '#storage/repositories/keys/api-keys.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import { type Html, html } from '../../pages/html.ts';
import { membershipOf, sessionOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import { renderDays } from '../kit/chart.ts';
import { count, dateTime, money } from '../kit/format.ts';
import { accountPath } from '../kit/navigation.ts';
import { PLACES } from '../kit/places.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import { type Attention, renderAttention } from './attention-list.ts';
import {
  describeGuesses,
  describeKeys,
  describePerson,
  securityEventQueryOf,
} from './person-attention.ts';

/** Most notices about keys on the overview; the page of keys has all. */
const KEYS_TOLD = 20;

/** A partner's first page: its figures, and what needs attention. */
export function registerOverview(app: FastifyInstance, deps: PanelDependencies): void {
  const { clock, reports } = deps;
  app.get('/partners/:accountId', withPermission('partner', 'overview.read'), async request => {
    const words = texts(request);
    const membership = membershipOf(request);
    const { accountId } = membership;
    const now = new Date(clock());
    const { person } = sessionOf(request);
    const question = securityEventQueryOf(words, membership, person.id, now);
    const [overview, keys, { securityEvents, putAside }] = await Promise.all([
      readOverview(reports, accountId, now),
      listKeysWithUse(reports, visibleKeysOf(membership)),
      readPersonAttention(reports, question, accountId),
    ]);
    const isNews = ({ key }: Attention) => !putAside.includes(key);
    const keysPath = `${accountPath(membership)}${PLACES.partner.developer}/keys`;
    const attention = [
      ...describeGuesses(words, person, now).filter(isNews),
      ...describeKeys(words, keys, keysPath, now).filter(isNews).slice(0, KEYS_TOLD),
      ...describePerson(words, securityEvents, membership).filter(isNews),
      ...describeOnboarding(words, overview, membership).filter(isNews),
    ];
    return {
      title: overview.partner.name,
      content: html`${renderAttention(request, attention)}
${renderFigures(words, overview)}
${overview.metrics.totalMerchants === 0 && html`<p>${words.partner.overview.none}</p>`}`,
    };
  });
}

/** Merchants whose onboarding is pending. */
function describeOnboarding(
  words: PanelTexts,
  { attention }: PartnerOverview,
  membership: Membership,
): Attention[] {
  const maySee = isAllowed(membership.role, 'merchants.read');
  return attention.map(({ merchantId: id, merchantName, since }) => ({
    key: `onboarding:${id}:${since}`,
    text: words.partner.overview.onboarding(merchantName, dateTime(words, since)),
    href: maySee ? `${accountPath(membership)}/merchants/${id}` : null,
  }));
}

function renderFigures(words: PanelTexts, { metrics, volumeTrend }: PartnerOverview): Html {
  const { overview } = words.partner;
  const figure = (name: string, value: string) =>
    html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
  const days = volumeTrend.map(({ date, volume, payments }) => ({
    day: date,
    payments,
    cents: toCents(volume) ?? 0,
  }));
  return html`<dl class="figures">
${figure(overview.volume30d, money(metrics.volume30d))}
${figure(overview.totalVolume, money(metrics.totalVolume))}
${figure(overview.totalCommission, money(metrics.totalCommission))}
${figure(overview.payments, count(words, metrics.totalPayments))}
${figure(overview.merchants, count(words, metrics.totalMerchants))}
${figure(overview.approved, count(words, metrics.approvedMerchants))}
${figure(overview.actionRequired, count(words, metrics.actionRequired))}
</dl>
<section aria-labelledby="trend"><h2 id="trend">${overview.trend}</h2>
${renderDays(words, overview.chart, days)}</section>`;
}
