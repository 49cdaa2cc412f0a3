import { billOf } from '../../checkout/bill.ts';
import type { Checkout, NetworkChoice } from '../../checkout/checkout.ts';
import { FINAL_STAGES, revisionOf } from '../../checkout/stage.ts';
import { hasLapsed } from '../../settlement/lapse-quotes.ts';
import { SIMULATION_CASES } from '../../settlement/simulate.ts';
import { renderDisclosure } from '../pages/disclosure.ts';
import { formatDollars } from '../pages/format-dollars.ts';
import { type Html, html } from '../pages/html.ts';
import { renderDocument } from './document.ts';
import { renderLookUp } from './look-up.ts';
import { renderNetworkPicker } from './network-picker.ts';
import { renderOutcome } from './outcome-view.ts';
import { textsOf } from './stage-texts.ts';
import { type CheckoutView, dueOf, merchantOf, quoteOf } from './view.ts';
import { renderDeadline, renderWaiting } from './waiting-view.ts';

/** Renders the page. All its state is in `main`, which the script replaces when the payment changes. */
export function renderCheckout(view: CheckoutView, basePath: string): string {
  const { checkout, stage, now, path } = view;
  const { payment, progress } = checkout;
  const { title, announcement } = textsOf(view);
  const isFinal = FINAL_STAGES.includes(stage);
  const main = html`<main id="checkout" data-page="${path}" data-stage="${stage}" data-revision="${revisionOf(payment, stage, progress)}" data-now="${now.toISOString()}" data-announcement="${announcement}"${isFinal && html` data-final`}>
${renderOrder(view)}
${view.notice && html`<p class="notice" id="notice" role="alert">${view.notice}</p>`}
${renderStage(view)}
${renderOptions(view)}
${view.simulation && isSimulated(checkout) && renderSimulation(path)}
</main>
<footer><p>Payment <code>${payment.id}</code></p></footer>`;
  return renderDocument({ title, content: main, basePath, simulation: view.simulation });
}

function renderOrder({ checkout }: CheckoutView): Html {
  const { order, fee, total } = billOf(checkout.payment);
  return html`<header class="order">
<p class="merchant">${merchantOf(checkout)}</p>
<p class="total">${formatDollars(total)}</p>
${fee > 0 && html`<p class="fee">Order ${formatDollars(order)} + service fee ${formatDollars(fee)}</p>`}
${checkout.network?.environment === 'test' && html`<p class="badge">Test network: coins without value</p>`}
</header>`;
}

function renderStage(view: CheckoutView): Html {
  const { checkout, stage } = view;
  const due = dueOf(checkout);
  if (stage === 'waiting' && due !== null) return renderWaiting(view, due);
  if (stage === 'choose' || stage === 'waiting') return renderChoose(view);
  return renderOutcome(view, stage, quoteOf(checkout));
}

function renderChoose(view: CheckoutView): Html {
  const { checkout, path, now } = view;
  const title = html`<h1 id="title" tabindex="-1">Choose how to pay</h1>`;
  if (checkout.choices.length === 0) {
    return html`<section class="card">${title}
<p>There is no way to pay just now. Please try again later, or contact ${merchantOf(checkout)}.</p></section>`;
  }
  return html`<section class="card">
<div class="lead">${title}
${renderDeadline(checkout.payment.expires_at)}</div>
${hasLapsed(checkout.payment, now) && html`<p class="notice" id="lapsed">The price that was held for you has lapsed. Do not send anything to the address that was shown: choose again for a new price. If you have sent something already, contact ${merchantOf(checkout)}.</p>`}
${renderNetworkPicker(path, checkout.choices, 'Ways to pay')}
</section>`;
}

/** What the customer can do besides paying. */
function renderOptions(view: CheckoutView): Html {
  const { checkout, stage, path } = view;
  const isOpen = stage === 'choose' || stage === 'waiting';
  const others = checkout.choices.filter(({ network }) => network.id !== checkout.network?.id);
  const options = [
    stage === 'waiting' &&
      others.length > 0 &&
      // What has arrived would be lost to the payment.
      checkout.progress.rest === null &&
      renderDisclosure('change', 'Pay another way', renderChange(path, others)),
    checkout.network !== null && stage !== 'paid' && renderLookUp(view),
    isOpen &&
      checkout.progress.rest === null &&
      renderDisclosure('cancel', 'Cancel payment', renderCancel(path)),
  ];
  return html`<div class="options">${options}</div>`;
}

/** Choosing another network abandons the address that is shown. */
function renderChange(path: string, others: readonly NetworkChoice[]): Html {
  return html`<p>Do not change if you have sent something to the address above already: it would not be recognised any more.</p>
${renderNetworkPicker(path, others, 'Other ways to pay')}`;
}

function renderCancel(path: string): Html {
  return html`<p>Do not cancel if you have sent something already: it would not be recognised any more.</p>
<form method="post" action="${path}/cancel"><button class="danger">Yes, cancel this payment</button></form>`;
}

/** Whether a transfer to the payment can be simulated: not on a chain that has a node. */
function isSimulated({ network, choices }: Checkout): boolean {
  const candidates = network === null ? choices.map(choice => choice.network) : [network];
  return candidates.length === 0 || candidates.some(each => each.settled_by === 'simulation');
}

function renderSimulation(path: string): Html {
  const buttons = Object.entries(SIMULATION_CASES).map(
    ([name, description]) =>
      html`<li><button name="case" value="${name}"><code>${name}</code> <span>${description}</span></button></li>
`,
  );
  const form = html`<form method="post" action="${path}/simulate"><ul>${buttons}</ul></form>`;
  return renderDisclosure('simulate', 'Simulate (not in production)', form);
}
