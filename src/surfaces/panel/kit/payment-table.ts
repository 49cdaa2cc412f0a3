import { formatBaseUnits } from '#payments/token-amount.ts';
import type { PaymentObject } from '#schemas/payment.ts';
import type { Deviation } from '#storage/database/deposit-tables.ts';
import type { Arrivals } from '#storage/repositories/deposits/deviations.ts';
import { type Html, html } from '../../pages/html.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import { dateTime, dollars } from './format.ts';
import { renderStatus } from './payment-status.ts';
import { renderTable } from './table.ts';

/** How a payment's transfers may differ from what it asks for. */
export const DEVIATIONS = [
  'under',
  'over',
  'duplicate',
  'late',
] as const satisfies readonly Deviation[];

/**
 * @param path Of the list of payments, with the base path.
 * @param arrivals What has arrived for each payment, by its ID.
 */
export function renderPayments(
  words: PanelTexts,
  path: string,
  payments: readonly PaymentObject[],
  arrivals: ReadonlyMap<string, Arrivals>,
): Html {
  const { facts, title } = words.payments;
  return renderTable<PaymentObject>(
    title,
    [
      {
        title: facts.created,
        cell: ({ id, createdAt }) =>
          html`<a href="${path}/${id}">${dateTime(words, createdAt)}</a>`,
      },
      { title: facts.amount, cell: ({ amount }) => dollars(amount), number: true },
      {
        title: facts.status,
        cell: payment =>
          html`${renderStatus(words, payment)}${renderDeviations(words, arrivals.get(payment.id))}`,
      },
      {
        title: facts.received,
        cell: ({ id }) => receivedText(arrivals.get(id)),
        number: true,
        secondary: true,
      },
      {
        title: facts.network,
        cell: ({ id }) => networkText(words, arrivals.get(id)),
        secondary: true,
      },
      {
        title: facts.reference,
        cell: ({ customerReferenceId }) => customerReferenceId,
        secondary: true,
      },
    ],
    payments,
  );
}

function renderDeviations(
  { payments: { deviations } }: PanelTexts,
  arrivals: Arrivals | undefined,
): Html[] {
  return DEVIATIONS.filter(kind => arrivals?.[kind] === true).map(
    kind => html` <span class="tag bad">${deviations[kind]}</span>`,
  );
}

/** The network that the customer has chosen, with its asset; null for none. */
function networkText(
  { changes }: PanelTexts,
  { networkName = null, assetSymbol = null }: Partial<Arrivals> = {},
): string | null {
  return networkName && assetSymbol && changes.network(networkName, assetSymbol);
}

/** What has arrived, with its asset; null if nothing has. */
export function receivedText(arrivals: Arrivals | undefined): string | null {
  const { received = null, assetSymbol = null, assetDecimals = null } = arrivals ?? {};
  if (received === null || assetDecimals === null) return null;
  return `${formatBaseUnits(BigInt(received), assetDecimals)} ${assetSymbol}`;
}
