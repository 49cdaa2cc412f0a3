import type { Static } from '@sinclair/typebox';
import { isChangeAllowed } from '#accounts/access/permissions.ts';
import { explorerPage } from '#accounts/explorer-url.ts';
import type { SimulationCase } from '#onchain/settlement/simulate.ts';
import { countTransfers } from '#payments/counted-transfers.ts';
import { readHistory } from '#payments/history.ts';
import { toPaymentObject } from '#payments/payment-object.ts';
import { listMerchantTransfers } from '#storage/repositories/deposits/transfers.ts';
import type { PaymentOnNetwork } from '#storage/repositories/payments/payments.ts';
import { type Html, html } from '../../pages/html.ts';
import { membershipOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import { renderCopied } from '../kit/copy.ts';
import type { PanelPage } from '../kit/document.ts';
import { type FormFault, renderSelect } from '../kit/form.ts';
import { dateTime, dollars } from '../kit/format.ts';
import { ownUrl } from '../kit/navigation.ts';
import { renderStatus } from '../kit/payment-status.ts';
import { renderFacts } from '../kit/table.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import { type PartForm, renderPartForm } from './parts.ts';
import { type PaymentRequest, requirePayment } from './require-payment.ts';
import { casesOf } from './simulated-cases.ts';
import { renderTimeline } from './timeline.ts';
import { renderTransfers } from './transfers.ts';

/** How often the page of a pending payment looks for news, in seconds. */
const REFRESH_SECONDS = 5;

/**
 * One payment with everything that happened to it.
 * @param returned What the form to record a return was sent with.
 */
export async function detailPage(
  request: PaymentRequest,
  deps: PanelDependencies,
  fault: FormFault | null,
  returned?: Static<typeof PartForm>,
): Promise<PanelPage> {
  const { reports } = deps;
  const words = texts(request);
  const payment = await requirePayment(request, deps);
  const membership = membershipOf(request);
  const maySimulate = isChangeAllowed(membership, 'payments.simulate');
  const maySettle = isChangeAllowed(membership, 'deposits.settle');
  const [transfers, facts, cases] = await Promise.all([
    listMerchantTransfers(reports, payment.id),
    readHistory(reports, payment),
    maySimulate ? casesOf(deps, membership, payment) : [],
  ]);
  const url = ownUrl(request, `/payments/${payment.id}`);
  const { facts: names, copied, timeline } = words.payments;
  const deposits = facts.flatMap(fact => (fact.kind === 'deposit' ? [fact.deposit] : []));
  const shown = toPaymentObject(payment);
  const { status } = payment;
  const { transactionHash: hash } = shown;
  const { address, explorer } = payment;
  const text = (value: string | null) => (value === null ? null : html`<code>${value}</code>`);
  const time = (value: string | null) => (value === null ? null : dateTime(words, value));
  return {
    title: dollars(payment.amount),
    lead: html`${renderStatus(words, shown)} ${renderCopied(words, { id: 'payment-id', name: copied.id, value: payment.id })}`,
    ...(status === 'pending' ? { refreshSeconds: REFRESH_SECONDS } : {}),
    fault,
    content: html`${renderTransfers(request, countTransfers(payment, transfers))}
${renderFacts([
  [names.created, dateTime(words, shown.createdAt)],
  [status === 'pending' ? names.expires : names.expired, dateTime(words, shown.expiresAt)],
  [names.paid, time(shown.paidAt)],
  [names.reference, shown.customerReferenceId],
  [names.note, payment.note],
  [names.tokenAmount, shown.tokenAmount && `${shown.tokenAmount} ${payment.asset_symbol ?? ''}`],
  [names.network, networkOf(words, payment)],
  [
    names.address,
    address && renderCopied(words, { id: 'payment-address', name: names.address, value: address }),
  ],
  [
    names.transaction,
    hash &&
      renderCopied(words, {
        id: 'payment-transaction',
        name: names.transaction,
        value: hash,
        link: explorer && explorerPage(explorer, hash),
      }),
  ],
  [names.processor, payment.processor],
  [names.processorReference, text(payment.external_id)],
  [names.commission, shown.commissionAmount === null ? null : dollars(shown.commissionAmount)],
  [names.redirect, payment.redirect_url],
  [names.lastError, lastError(shown.lastError)],
  [names.cancellation, shown.cancellationReason],
])}
${maySettle && renderPartForm(words, url, deposits, returned, fault)}
${cases.length > 0 && renderSimulation(words, url, cases)}
<section aria-labelledby="timeline"><h2 id="timeline">${timeline.title}</h2>
${renderTimeline(words, facts)}
<p><a href="${url}/evidence.json" download>${timeline.evidence}</a></p></section>`,
  };
}

function networkOf(
  { changes }: PanelTexts,
  { blockchain_id: id, network_name: name, asset_symbol: asset }: PaymentOnNetwork,
): Html | null {
  if (id === null) return null;
  return html`${changes.network(name ?? '', asset ?? '')} <code>${id}</code>`;
}

function lastError(error: ReturnType<typeof toPaymentObject>['lastError']): Html | null {
  return error === null ? null : html`${error.message} <code>${error.code}</code>`;
}

function renderSimulation(
  { payments: { simulation } }: PanelTexts,
  url: string,
  cases: readonly SimulationCase[],
): Html {
  const choices = cases.map(name => [name, `${name}: ${simulation.cases[name]}`] as const);
  return html`<section aria-labelledby="simulate"><h2 id="simulate">${simulation.title}</h2>
<form method="post" action="${url}/simulate" class="stack">
${renderSelect('case', simulation.case, choices)}
<button>${simulation.submit}</button>
</form></section>`;
}
