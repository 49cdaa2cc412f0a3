import { hasLapsed } from '#onchain/settlement/lapse-quotes.ts';
import { CASE_MEANINGS } from '#onchain/settlement/simulate.ts';
import { renderDisclosure } from '../../pages/disclosure.ts';
import { type Html, html } from '../../pages/html.ts';
import { billOf } from '../bill.ts';
import type { Checkout, NetworkChoice } from '../checkout.ts';
import { FINAL_STAGES, revisionOf } from '../stage.ts';
import { renderDocument } from './document.ts';
import { renderLookUp } from './look-up.ts';
import { renderNetworkPicker } from './network-picker.ts';
import { renderOutcome } from './outcome-view.ts';
import { textsOf } from './stage-texts.ts';
import { LANGUAGE_TAGS, languageOf } from './texts/languages.ts';
import { renderTransfers } from './transfers.ts';
import { type CheckoutView, dueOf, hasParts, merchantOf, quoteOf } from './view.ts';
import { renderDeadline, renderPlainCode, renderWaiting } from './waiting-view.ts';

/** Renders the page. Its state is in `main`, which the script replaces when the payment changes. */
export function renderCheckout(view: CheckoutView): string {
  const { checkout, stage, now, path, basePath, locale, simulation, example } = view;
  const { payment } = checkout;
  const { title, announcement } = textsOf(view);
  const isFinal = FINAL_STAGES.includes(stage);
  const content = html`<main id="checkout" data-page="${path}" data-stage="${stage}" data-revision="${revisionOf(checkout, stage)}" data-now="${now.toISOString()}" data-announcement="${announcement}"${isFinal && html` data-final`}>
${renderOrder(view)}
${view.notice && html`<p class="notice" id="notice" role="alert">${view.notice}</p>`}
${renderStage(view)}
${renderOptions(view)}
${!isFinal && isSimulated(checkout) && renderSimulation(view)}
</main>
<footer><p>${locale.texts.payment} <code>${payment.id}</code></p>
${renderLanguages(view)}</footer>`;
  const { accentColor, isTest } = checkout.shop;
  return renderDocument({
    title,
    content,
    basePath,
    locale,
    accentColor,
    simulation,
    isTest,
    example,
  });
}

function renderOrder(view: CheckoutView): Html {
  const { checkout, logoUrl, locale } = view;
  const { payment, shop, network } = checkout;
  const { texts, format } = locale;
  const { order, fee, total } = billOf(payment);
  const { customer_reference_id: reference, note } = payment;
  return html`<header class="order">
${logoUrl && html`<img class="logo" src="${logoUrl}" alt="">`}
<p class="merchant"><bdi>${merchantOf(view)}</bdi></p>
<p class="total">${format.dollars(total)}</p>
${fee > 0 && html`<p class="fee">${texts.fee(format.dollars(order), format.dollars(fee))}</p>`}
${reference && html`<p class="reference">${texts.orderReference} <bdi>${reference}</bdi></p>`}
${shop.showsNote && note && html`<p class="note" dir="auto">${note}</p>`}
${network?.environment === 'test' && html`<p class="badge">${texts.testBadge}</p>`}
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
  const { checkout, now, locale } = view;
  const { choose } = locale.texts;
  const title = html`<h1 id="title" tabindex="-1">${choose.title}</h1>`;
  if (checkout.choices.length === 0) {
    return html`<section class="card">${title}
<p>${choose.nothing(merchantOf(view))}</p>
${renderTransfers(view)}</section>`;
  }
  return html`<section class="card">
<div class="lead">${title}
${renderDeadline(locale, 'choose', checkout.payment.expires_at)}
<p class="windows">${choose.windows}</p></div>
${hasLapsed(checkout.payment, now) && html`<p class="notice" id="lapsed">${hasParts(checkout) ? choose.lapsedParts : choose.lapsed(merchantOf(view))}</p>`}
${renderTransfers(view)}
${renderNetworkPicker(view, checkout.choices, choose.ways)}
</section>`;
}

/** What the customer can do besides paying. */
function renderOptions(view: CheckoutView): Html {
  const { checkout, stage, locale } = view;
  const { options: texts } = locale.texts;
  const isOpen = stage === 'choose' || stage === 'waiting';
  const others = checkout.choices.filter(({ network }) => network.id !== checkout.network?.id);
  // Once something has arrived, changing the network or cancelling would lose it for this payment.
  const isFree = checkout.progress.rest === null;
  const due = checkout.progress.rest === 'awaited' ? null : dueOf(checkout);
  const options = [
    stage === 'waiting' && due !== null && renderPlainCode(view, due),
    stage === 'waiting' &&
      others.length > 0 &&
      isFree &&
      renderDisclosure('change', texts.change, renderChange(view, others)),
    checkout.network !== null && stage !== 'paid' && renderLookUp(view),
    isOpen && isFree && renderDisclosure('cancel', texts.cancel, renderCancel(view)),
  ];
  return html`<div class="options">${options}</div>`;
}

/** Choosing another network abandons the address that is shown. */
function renderChange(view: CheckoutView, others: readonly NetworkChoice[]): Html {
  const { options, choose } = view.locale.texts;
  return html`<p>${options.changeWarning}</p>
<p>${choose.windows}</p>
${renderNetworkPicker(view, others, choose.otherWays)}`;
}

function renderCancel({ path, locale }: CheckoutView): Html {
  const { cancelWarning, confirmCancel } = locale.texts.options;
  return html`<p>${cancelWarning}</p>
<form method="post" action="${path}/cancel${locale.query}"><button class="danger">${confirmCancel}</button></form>`;
}

/** Whether a transfer to the payment can be simulated: not on a chain that has a node, but for a test merchant. */
function isSimulated({ isSimulable, network, choices, shop }: Checkout): boolean {
  if (!isSimulable || shop.isTest) return isSimulable;
  const candidates = network === null ? choices.map(choice => choice.network) : [network];
  return candidates.length === 0 || candidates.some(each => each.settled_by === 'simulation');
}

/** For developers, so its cases are described in English only. */
function renderSimulation({ path, locale }: CheckoutView): Html {
  const buttons = Object.entries(CASE_MEANINGS).map(
    ([name, description]) =>
      html`<li><button name="case" value="${name}"><code>${name}</code> <span>${description}</span></button></li>
`,
  );
  const clock = html`<li><button name="advance" value="1h" formaction="${path}/clock${locale.query}"><code>clock</code> <span>an hour passes for this payment</span></button></li>`;
  const form = html`<form method="post" action="${path}/simulate${locale.query}"><ul lang="en" dir="ltr">${buttons}${clock}</ul></form>`;
  return renderDisclosure('simulate', locale.texts.options.simulate, form);
}

/** Links to the page in all languages. The choice is in the URL, so that it needs no cookie. */
function renderLanguages({ path, locale }: CheckoutView): Html {
  const links = LANGUAGE_TAGS.map(tag => {
    const current = tag === locale.tag && html` aria-current="true"`;
    return html`<li><a href="${path}?lang=${tag}" lang="${tag}" hreflang="${tag}" dir="${languageOf(tag).direction}"${current}>${languageOf(tag).name}</a></li>
`;
  });
  return html`<nav class="languages" aria-label="${locale.texts.language}"><ul>
${links}</ul></nav>`;
}
