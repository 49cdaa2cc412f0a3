import type {
  PartnerMerchantDetail,
  PartnerMerchantRow,
  PartnerPaymentRow,
} from '#schemas/partner-reports.ts';
import { type Html, html } from '../../pages/html.ts';
import type { PanelPage } from '../kit/document.ts';
import { renderTestTag } from '../kit/environment.ts';
import { count, dateTime, money } from '../kit/format.ts';
import { renderStatus } from '../kit/payment-status.ts';
import { type Column, renderFacts, renderTable } from '../kit/table.ts';
import { texts } from '../texts/index.ts';

const { partner: partnerTexts, payments: paymentTexts } = texts;
const { onboardingStatuses } = texts.shell;

/** The word for a value of a report whose schema does not list its values. */
function wordFor(words: Readonly<Partial<Record<string, string>>>, value: string): string {
  return words[value] ?? value;
}

/** @param tested IDs of test merchants, which are marked. */
export function renderMerchants(
  path: string,
  merchants: readonly PartnerMerchantRow[],
  tested: ReadonlySet<string>,
): Html {
  const { columns, title, neverPaid } = partnerTexts.merchants;
  return renderTable<PartnerMerchantRow>(
    title,
    [
      {
        title: columns.name,
        cell: ({ id, name }) =>
          html`<a href="${path}/merchants/${id}">${name}</a>${tested.has(id) && renderTestTag(texts)}`,
      },
      { title: columns.state, cell: merchant => renderMerchantState(merchant) },
      { title: columns.volume30d, cell: ({ volume30d }) => money(volume30d), number: true },
      {
        title: columns.payments,
        cell: ({ totalPayments }) => count(texts, totalPayments),
        number: true,
        secondary: true,
      },
      {
        title: columns.lastPayment,
        cell: ({ lastPaymentAt: at }) => (at === null ? neverPaid : dateTime(texts, at)),
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
  if (status !== 'active') {
    return html`<span class="tag bad">${wordFor(partnerTexts.statuses, status)}</span>`;
  }
  const look = onboardingStatus === 'approved' ? ' good' : '';
  return html`<span class="tag${look}">${wordFor(onboardingStatuses, onboardingStatus)}</span>`;
}

export function merchantPage(
  path: string,
  { merchant, branches, aggregates, recentPayments }: PartnerMerchantDetail,
  tested: ReadonlySet<string>,
): PanelPage {
  const isTest = tested.has(merchant.id);
  const names = partnerTexts.merchant;
  const facts: readonly (readonly [string, Html | string])[] = [
    [names.email, merchant.email],
    [names.accountKind, wordFor(partnerTexts.accountKinds, merchant.accountKind)],
    [names.created, dateTime(texts, merchant.createdAt)],
    [
      names.branches,
      branches.map(({ name, isMain }) => (isMain ? names.mainBranch(name) : name)).join(', '),
    ],
    [names.payments, count(texts, aggregates.totalPayments)],
    [names.successful, count(texts, aggregates.successfulPayments)],
    [names.totalVolume, money(aggregates.totalVolume)],
    [names.volume30d, money(aggregates.volume30d)],
    [names.commission, money(aggregates.totalCommission)],
  ];
  return {
    title: merchant.name,
    lead: html`${renderMerchantState(merchant)}${isTest && renderTestTag(texts)} <code>${merchant.id}</code>`,
    content: html`${isTest && html`<p class="notice">${names.test}</p>`}${renderFacts(facts)}
<section aria-labelledby="latest"><h2 id="latest">${names.latest}</h2>
${recentPayments.length === 0 ? html`<p>${paymentTexts.none}</p>` : renderPartnerPayments(path, recentPayments, tested)}
<p><a href="${path}/payments?merchant=${merchant.id}">${names.allPayments}</a></p></section>`,
  };
}

/** @param tested IDs of test merchants, which are marked. */
export function renderPartnerPayments(
  path: string,
  payments: readonly PartnerPaymentRow[],
  tested: ReadonlySet<string>,
): Html {
  const { facts, title } = paymentTexts;
  const columns: readonly Column<PartnerPaymentRow>[] = [
    {
      title: facts.created,
      cell: ({ id, createdAt }) =>
        html`<a href="${path}/payments/${id}">${dateTime(texts, createdAt)}</a>`,
    },
    { title: facts.amount, cell: ({ amount }) => money(amount), number: true },
    { title: facts.status, cell: row => renderPaymentStatus(row) },
    {
      title: partnerTexts.payment.merchant,
      cell: ({ merchantId, merchantName }) =>
        html`${merchantName}${tested.has(merchantId) && renderTestTag(texts)}`,
      secondary: true,
    },
    { title: facts.network, cell: ({ blockchainId }) => blockchainId, secondary: true },
    {
      title: facts.reference,
      cell: ({ customerReferenceId }) => customerReferenceId,
      secondary: true,
    },
  ];
  return renderTable(title, columns, payments);
}

function renderPaymentStatus({ status, sessionStatus }: PartnerPaymentRow): Html {
  const session = sessionStatus === 'completed' ? 'completed' : null;
  return renderStatus(texts, { status, sessionStatus: session });
}

export function partnerPaymentPage(
  path: string,
  payment: PartnerPaymentRow,
  tested: ReadonlySet<string>,
): PanelPage {
  const { facts } = paymentTexts;
  const names = partnerTexts.payment;
  const text = (value: string | null) => (value === null ? null : html`<code>${value}</code>`);
  return {
    title: money(payment.amount),
    lead: html`${renderPaymentStatus(payment)} <code>${payment.id}</code>`,
    content: renderFacts([
      [
        names.merchant,
        html`<a href="${path}/merchants/${payment.merchantId}">${payment.merchantName}</a>${tested.has(payment.merchantId) && renderTestTag(texts)}`,
      ],
      [names.branch, payment.branchName],
      [facts.created, dateTime(texts, payment.createdAt)],
      [facts.expired, dateTime(texts, payment.expiresAt)],
      [facts.paid, payment.paidAt === null ? null : dateTime(texts, payment.paidAt)],
      [
        facts.commission,
        payment.commissionAmount === null ? null : money(payment.commissionAmount),
      ],
      [names.flow, payment.flow === 'crypto' ? names.crypto : names.regulated],
      [names.system, payment.paymentSystem],
      [facts.network, payment.blockchainId],
      [facts.tokenAmount, payment.tokenAmount],
      [facts.address, text(payment.address)],
      [facts.transaction, text(payment.transactionHash)],
      [facts.reference, payment.customerReferenceId],
      [facts.note, payment.note],
    ]),
  };
}

/** The switch for the API keys of the partner's merchants. */
export function settingsPage(
  url: string,
  {
    isOn,
    merchants,
    maySwitch,
  }: { readonly isOn: boolean; readonly merchants: number; readonly maySwitch: boolean },
): PanelPage {
  const { settings } = partnerTexts;
  return {
    title: settings.title,
    content: html`<section aria-labelledby="self-service"><h2 id="self-service">${settings.selfService}</h2>
<p>${isOn ? settings.on(merchants) : settings.off(merchants)}</p>
${
  maySwitch &&
  html`<form method="post" action="${url}/self-service">
<button name="self-service" value="${isOn ? 'off' : 'on'}"${isOn && html` class="danger"`}>${isOn ? settings.switchOff : settings.switchOn}</button>
</form>`
}</section>`,
  };
}
