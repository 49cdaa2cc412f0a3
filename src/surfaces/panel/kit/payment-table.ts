import { formatBaseUnits } from '#payments/token-amount.ts';
import type { PaymentObject } from '#schemas/payment.ts';
import type { Deviation } from '#storage/database/deposit-tables.ts';
import type { Arrivals } from '#storage/repositories/deposits/deviations.ts';
import { type Html, html } from '../../pages/html.ts';
import { texts } from '../texts/index.ts';
import { dateTime, dollars } from './format.ts';
import { renderStatus } from './payment-status.ts';
import { renderTable } from './table.ts';

const { payments: paymentTexts } = texts;
const { facts } = paymentTexts;

/** How a payment's transfers differ from what it asks for, and the words for it. */
export const DEVIATIONS: Readonly<Record<Deviation, string>> = paymentTexts.deviations;

/**
 * @param path Of the list of payments, with the base path.
 * @param arrivals What has arrived for each payment, by its ID.
 */
export function renderPayments(
  path: string,
  payments: readonly PaymentObject[],
  arrivals: ReadonlyMap<string, Arrivals>,
): Html {
  return renderTable<PaymentObject>(
    paymentTexts.title,
    [
      {
        title: facts.created,
        cell: ({ id, createdAt }) => html`<a href="${path}/${id}">${dateTime(createdAt)}</a>`,
      },
      { title: facts.amount, cell: ({ amount }) => dollars(amount), number: true },
      {
        title: facts.status,
        cell: payment =>
          html`${renderStatus(payment)}${renderDeviations(arrivals.get(payment.id))}`,
      },
      {
        title: facts.received,
        cell: ({ id }) => receivedText(arrivals.get(id)),
        number: true,
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

function renderDeviations(arrivals: Arrivals | undefined): Html[] {
  return (Object.keys(DEVIATIONS) as Deviation[])
    .filter(kind => arrivals?.[kind] === true)
    .map(kind => html` <span class="tag bad">${DEVIATIONS[kind]}</span>`);
}

/** What has arrived, with its asset; null if nothing has. */
export function receivedText(arrivals: Arrivals | undefined): string | null {
  const { received = null, assetSymbol = null, assetDecimals = null } = arrivals ?? {};
  if (received === null || assetDecimals === null) return null;
  return `${formatBaseUnits(BigInt(received), assetDecimals)} ${assetSymbol}`;
}
