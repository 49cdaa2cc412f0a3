import type {
  PartnerMerchantDetail,
  PartnerMerchantRow,
  PartnerOverview,
  PartnerPaymentRow,
  PartnerTeam,
} from '#schemas/partner-reports.ts';
import { type Html, html } from '../../pages/html.ts';
import { toCents } from '../../payments/dollars.ts';
import { renderDays } from '../chart.ts';
import { count, dateTime, dollars } from '../format.ts';
import type { PanelPage } from '../layout.ts';
import { renderStatus } from '../status.ts';
import { type Column, renderFacts, renderTable } from '../table.ts';

/** Writes an amount of a report, which is in dollars, like all other amounts. */
export function money(amount: number): string {
  return dollars(toCents(amount) ?? 0);
}

/** @param path Of the partner's pages, with the base path. */
export function overviewPage(
  path: string,
  { partner, metrics, attention, volumeTrend }: PartnerOverview,
  maySeeMerchants: boolean,
): PanelPage {
  const figure = (name: string, value: string) =>
    html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
  const link = (id: string, name: string) =>
    maySeeMerchants ? html`<a href="${path}/merchants/${id}">${name}</a>` : html`${name}`;
  return {
    title: partner.name,
    content: html`<dl class="figures">
${figure('Volume, 30 days', money(metrics.volume30d))}
${figure('Volume in all', money(metrics.totalVolume))}
${figure('Commission in all', money(metrics.totalCommission))}
${figure('Payments', count(metrics.totalPayments))}
${figure('Merchants', count(metrics.totalMerchants))}
${figure('Approved', count(metrics.approvedMerchants))}
${figure('Need action', count(metrics.actionRequired))}
</dl>
<section aria-labelledby="trend"><h2 id="trend">Volume by day</h2>
${renderDays(
  'Volume of the last 30 days',
  volumeTrend.map(({ date, volume, payments }) => ({
    ...{ day: date, payments },
    cents: toCents(volume) ?? 0,
  })),
)}</section>
${
  attention.length > 0 &&
  html`<section aria-labelledby="attention"><h2 id="attention">Needs attention</h2>
<ul class="rows">${attention.map(
    ({ merchantId, merchantName, since }) =>
      html`<li><span>Onboarding of ${link(merchantId, merchantName)} is pending</span> <span class="quiet">since ${dateTime(since)}</span></li>`,
  )}</ul></section>`
}
${metrics.totalMerchants === 0 && html`<p>No merchants yet. Your operator links merchants to a partner.</p>`}`,
  };
}

export function renderMerchants(path: string, merchants: readonly PartnerMerchantRow[]): Html {
  return renderTable<PartnerMerchantRow>(
    'Merchants',
    [
      {
        title: 'Name',
        cell: ({ id, name }) => html`<a href="${path}/merchants/${id}">${name}</a>`,
      },
      { title: 'State', cell: merchant => renderMerchantState(merchant) },
      { title: 'Volume, 30 days', cell: ({ volume30d }) => money(volume30d), number: true },
      {
        title: 'Payments',
        cell: ({ totalPayments }) => count(totalPayments),
        number: true,
        secondary: true,
      },
      {
        title: 'Last payment',
        cell: ({ lastPaymentAt: at }) => (at === null ? 'none' : dateTime(at)),
        secondary: true,
      },
    ],
    merchants,
  );
}

function renderMerchantState({
  status,
  onboardingStatus,
}: Pick<PartnerMerchantRow, 'status' | 'onboardingStatus'>): Html {
  if (status !== 'active') return html`<span class="tag bad">${status}</span>`;
  const look = onboardingStatus === 'approved' ? ' good' : '';
  return html`<span class="tag${look}">${onboardingStatus}</span>`;
}

export function merchantPage(
  path: string,
  { merchant, branches, aggregates, recentPayments }: PartnerMerchantDetail,
): PanelPage {
  const facts: readonly (readonly [string, Html | string])[] = [
    ['E-mail', merchant.email],
    ['Account', merchant.accountKind],
    ['Since', dateTime(merchant.createdAt)],
    ['Branches', branches.map(({ name, isMain }) => (isMain ? `${name} (main)` : name)).join(', ')],
    ['Payments', count(aggregates.totalPayments)],
    ['Successful', count(aggregates.successfulPayments)],
    ['Volume', money(aggregates.totalVolume)],
    ['Volume, 30 days', money(aggregates.volume30d)],
    ['Commission', money(aggregates.totalCommission)],
  ];
  return {
    title: merchant.name,
    lead: html`${renderMerchantState(merchant)} <code>${merchant.id}</code>`,
    content: html`${renderFacts(facts)}
<section aria-labelledby="latest"><h2 id="latest">Latest payments</h2>
${recentPayments.length === 0 ? html`<p>No payment yet.</p>` : renderPartnerPayments(path, recentPayments)}
<p><a href="${path}/payments?merchant=${merchant.id}">All of its payments</a></p></section>`,
  };
}

export function renderPartnerPayments(path: string, payments: readonly PartnerPaymentRow[]): Html {
  const columns: readonly Column<PartnerPaymentRow>[] = [
    {
      title: 'Created',
      cell: ({ id, createdAt }) =>
        html`<a href="${path}/payments/${id}">${dateTime(createdAt)}</a>`,
    },
    { title: 'Amount', cell: ({ amount }) => money(amount), number: true },
    { title: 'Status', cell: row => renderPaymentStatus(row) },
    { title: 'Merchant', cell: ({ merchantName }) => merchantName, secondary: true },
    { title: 'Network', cell: ({ blockchainId }) => blockchainId, secondary: true },
    {
      title: 'Reference',
      cell: ({ customerReferenceId }) => customerReferenceId,
      secondary: true,
    },
  ];
  return renderTable('Payments', columns, payments);
}

function renderPaymentStatus({ status, sessionStatus }: PartnerPaymentRow): Html {
  const session = sessionStatus === 'completed' ? 'completed' : null;
  return renderStatus({ status, sessionStatus: session });
}

export function partnerPaymentPage(path: string, payment: PartnerPaymentRow): PanelPage {
  const text = (value: string | null) => (value === null ? null : html`<code>${value}</code>`);
  return {
    title: money(payment.amount),
    lead: html`${renderPaymentStatus(payment)} <code>${payment.id}</code>`,
    content: renderFacts([
      [
        'Merchant',
        html`<a href="${path}/merchants/${payment.merchantId}">${payment.merchantName}</a>`,
      ],
      ['Branch', payment.branchName],
      ['Created', dateTime(payment.createdAt)],
      ['Time to pay until', dateTime(payment.expiresAt)],
      ['Paid', payment.paidAt === null ? null : dateTime(payment.paidAt)],
      ['Commission', payment.commissionAmount === null ? null : money(payment.commissionAmount)],
      ['Paid by', payment.flow === 'crypto' ? 'crypto' : 'the processor'],
      ['System', payment.paymentSystem],
      ['Network', payment.blockchainId],
      ['Amount on chain', payment.tokenAmount],
      ['Address', text(payment.address)],
      ['Transaction', text(payment.transactionHash)],
      ['Reference', payment.customerReferenceId],
      ['Note', payment.note],
    ]),
  };
}

export function teamPage({ data }: PartnerTeam): PanelPage {
  return {
    title: 'Team',
    lead: 'Owners see everything of the partner; developers the overview and their own API keys. Your operator adds members.',
    content: renderTable<PartnerTeam['data'][number]>(
      'Team',
      [
        { title: 'Name', cell: ({ name }) => name },
        { title: 'Role', cell: ({ role }) => role },
        { title: 'Status', cell: ({ status }) => status },
        { title: 'E-mail', cell: ({ email }) => email, secondary: true },
        { title: 'Since', cell: ({ createdAt }) => dateTime(createdAt), secondary: true },
      ],
      data,
    ),
  };
}

/** The switch for the API keys of the partner's merchants. */
export function settingsPage(url: string, isOn: boolean, merchants: number): PanelPage {
  return {
    title: 'Settings',
    content: html`<section aria-labelledby="self-service"><h2 id="self-service">API keys of your merchants</h2>
<p>${isOn ? 'On: your merchants may create payments with API keys of their own.' : 'Off: API keys of your merchants are refused with E2103.'} It concerns ${count(merchants)} ${merchants === 1 ? 'merchant' : 'merchants'}.</p>
<form method="post" action="${url}/self-service">
<button name="self-service" value="${isOn ? 'off' : 'on'}"${isOn && html` class="danger"`}>${isOn ? 'Switch off' : 'Switch on'}</button>
</form></section>`,
  };
}
