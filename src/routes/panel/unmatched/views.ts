import type { Deposit, DepositOutcome } from '../../../database/deposit-tables.ts';
import type { Payment } from '../../../database/payment-tables.ts';
import { formatBaseUnits } from '../../../payments/token-amount.ts';
import type { DepositContext } from '../../../repositories/deposit-context.ts';
import { type Html, html } from '../../pages/html.ts';
import { type FormFault, renderFault, renderField } from '../form.ts';
import { dateTime, dollars } from '../format.ts';
import type { PanelPage } from '../layout.ts';
import { renderFacts, renderPaging, renderTable } from '../table.ts';

/** Why no payment took a deposit. */
const REASONS: Readonly<Partial<Record<DepositOutcome, string>>> = {
  ambiguous:
    'Several payments wait at the address, and its amount does not tell which one it is for.',
  duplicate: 'Its payment has this amount already.',
  late: 'The payment that asked for this amount had ended.',
  over: 'It is far more than its payment asks for.',
  under: 'It is neither the whole amount nor the rest that its payment waits for.',
  unknown: 'No payment asked for this amount.',
};

const SHORT_REASONS: Readonly<Partial<Record<DepositOutcome, string>>> = {
  ambiguous: 'ambiguous',
  duplicate: 'paid twice',
  late: 'too late',
  over: 'far too much',
  under: 'too little',
  unknown: 'unknown amount',
};

interface InboxParts {
  /** The page's address, with the base path. */
  readonly url: string;
  readonly deposits: readonly Deposit[];
  readonly contexts: ReadonlyMap<string, DepositContext>;
  readonly hasMore: boolean;
}

export function inboxPage({ url, deposits, contexts, hasMore }: InboxParts): PanelPage {
  const last = deposits.at(-1);
  return {
    title: 'Unmatched deposits',
    lead: 'What arrived at your addresses, and no payment took. The oldest come first.',
    content:
      deposits.length === 0
        ? html`<p>Nothing waits.</p>`
        : html`${renderTable<Deposit>(
            'Unmatched deposits',
            [
              {
                title: 'Arrived',
                cell: ({ id, observed_at: at }) => html`<a href="${url}/${id}">${dateTime(at)}</a>`,
              },
              {
                title: 'Amount',
                cell: deposit => amountOf(deposit, contexts.get(deposit.id)),
                number: true,
              },
              { title: 'Why', cell: ({ outcome }) => SHORT_REASONS[outcome] ?? outcome },
              { title: 'Network', cell: ({ blockchain_id: id }) => id, secondary: true },
              {
                title: 'State',
                cell: ({ state }) => (state === 'final' ? 'final' : 'confirming'),
                secondary: true,
              },
            ],
            deposits,
          )}
${renderPaging(null, hasMore && last !== undefined ? `${url}?after=${last.id}` : null)}`,
  };
}

interface DepositParts {
  readonly url: string;
  readonly paymentsUrl: string;
  readonly deposit: Deposit;
  readonly context: DepositContext;
  readonly fits: readonly { readonly payment: Payment; readonly tokenAmount: string }[];
  readonly fault: FormFault | null;
  /** Whether the reader may assign or dismiss it. */
  readonly maySettle: boolean;
}

export function depositPage(parts: DepositParts): PanelPage {
  const { url, deposit, context, fault, maySettle } = parts;
  return {
    title: amountOf(deposit, context),
    lead: REASONS[deposit.outcome] ?? deposit.outcome,
    content: html`${renderFault(fault)}
${renderFacts([
  ['Arrived', dateTime(deposit.observed_at)],
  ['State', deposit.state === 'final' ? 'final' : 'confirming: it may still be undone'],
  ['Network', deposit.blockchain_id],
  ['Address', html`<code>${deposit.address}</code>`],
  ['Transaction', html`<code>${deposit.transaction_hash}</code>`],
])}
${renderFits(parts)}
${
  maySettle &&
  html`<section aria-labelledby="dismiss"><h2 id="dismiss">Settled with the customer?</h2>
<form method="post" action="${url}/dismiss" class="stack">
${renderField({ name: 'note', label: 'How it was settled', hint: 'For the audit log, for example: sent back on 3 May.', maxlength: 200 }, fault)}
<button class="danger">Dismiss</button>
</form></section>`
}`,
  };
}

function renderFits({ url, paymentsUrl, deposit, context, fits, maySettle }: DepositParts): Html {
  const heading = html`<h2 id="fits">Payments that wait at its address</h2>`;
  if (fits.length === 0) {
    return html`<section aria-labelledby="fits">${heading}<p>None. Settle it with the customer, then dismiss it.</p></section>`;
  }
  const arrived = amountOf(deposit, context);
  return html`<section aria-labelledby="fits">${heading}
<p class="quiet">Assigning makes the payment successful once the deposit is final, whatever its amount; that cannot be undone.</p>
<ul class="rows">${fits.map(
    ({ payment, tokenAmount }) => html`<li><div>
<a href="${paymentsUrl}/${payment.id}">${dollars(payment.amount)}</a>${payment.customer_reference_id !== null && html`, ${payment.customer_reference_id}`}<br>
<span class="quiet">due ${formatBaseUnits(BigInt(tokenAmount), context.assetDecimals)} ${context.assetSymbol}, arrived ${arrived}</span></div>
${
  maySettle &&
  html`<form method="post" action="${url}/assign"><input type="hidden" name="payment" value="${payment.id}"><button>Assign</button></form>`
}</li>`,
  )}</ul></section>`;
}

function amountOf(deposit: Deposit, context: DepositContext | undefined): string {
  if (context === undefined) return deposit.token_amount;
  const amount = formatBaseUnits(BigInt(deposit.token_amount), context.assetDecimals);
  return `${amount} ${context.assetSymbol}`;
}
