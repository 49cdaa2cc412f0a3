import type { PartnerPaymentRow } from '#schemas/partner-reports.ts';
import { type Html, html } from '../../pages/html.ts';
import type { PanelPage } from '../kit/document.ts';
import { renderTestTag } from '../kit/environment.ts';
import { dateTime, money } from '../kit/format.ts';
import { renderStatus } from '../kit/payment-status.ts';
import { renderFacts, renderTable } from '../kit/table.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';

/**
 * @param path Of the partner's pages, with the base path.
 * @param tested IDs of test merchants, which are marked.
 */
export function renderPartnerPayments(
  words: PanelTexts,
  path: string,
  payments: readonly PartnerPaymentRow[],
  tested: ReadonlySet<string>,
): Html {
  const { facts, title } = words.payments;
  return renderTable<PartnerPaymentRow>(
    title,
    [
      {
        title: facts.created,
        cell: ({ id, createdAt }) =>
          html`<a href="${path}/payments/${id}">${dateTime(words, createdAt)}</a>`,
      },
      { title: facts.amount, cell: ({ amount }) => money(amount), number: true },
      { title: facts.status, cell: row => renderPaymentStatus(words, row) },
      {
        title: words.partner.payment.merchant,
        cell: ({ merchantId, merchantName }) =>
          html`${merchantName}${tested.has(merchantId) && renderTestTag(words)}`,
        secondary: true,
      },
      { title: facts.network, cell: ({ blockchainId }) => blockchainId, secondary: true },
      {
        title: facts.reference,
        cell: ({ customerReferenceId }) => customerReferenceId,
        secondary: true,
      },
    ],
    payments,
  );
}

function renderPaymentStatus(
  words: PanelTexts,
  { status, sessionStatus }: PartnerPaymentRow,
): Html {
  const session = sessionStatus === 'completed' ? 'completed' : null;
  return renderStatus(words, { status, sessionStatus: session });
}

/**
 * @param path Of the partner's pages, with the base path.
 * @param tested IDs of test merchants, which are marked.
 */
export function partnerPaymentPage(
  words: PanelTexts,
  path: string,
  payment: PartnerPaymentRow,
  tested: ReadonlySet<string>,
): PanelPage {
  const { facts } = words.payments;
  const names = words.partner.payment;
  const text = (value: string | null) => (value === null ? null : html`<code>${value}</code>`);
  return {
    title: money(payment.amount),
    lead: html`${renderPaymentStatus(words, payment)} <code>${payment.id}</code>`,
    content: renderFacts([
      [
        names.merchant,
        html`<a href="${path}/merchants/${payment.merchantId}">${payment.merchantName}</a>${tested.has(payment.merchantId) && renderTestTag(words)}`,
      ],
      [names.branch, payment.branchName],
      [facts.created, dateTime(words, payment.createdAt)],
      [facts.expired, dateTime(words, payment.expiresAt)],
      [facts.paid, payment.paidAt === null ? null : dateTime(words, payment.paidAt)],
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
