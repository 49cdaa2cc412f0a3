import type { NetworkFamily } from '#storage/database/network-tables.ts';
import { renderDisclosure } from '../../pages/disclosure.ts';
import { type Html, html } from '../../pages/html.ts';
import type { LookUpVerdict } from '../look-up.ts';
import { describeConfirmations } from './confirmations.ts';
import { renderExplorerLink } from './explorer-link.ts';
import type { CheckoutTexts } from './texts/en.ts';
import { type CheckoutView, type LookUp, merchantOf } from './view.ts';

/** Longer than any transaction hash: Solana's signatures have up to 88 characters. */
const HASH_MAXIMUM = 128;

/** What a transaction hash looks like. */
const SHAPES: Readonly<Record<NetworkFamily, keyof CheckoutTexts['lookUp']['shapes']>> = {
  bitcoin: 'hex',
  ethereum: 'prefixed',
  bnb: 'prefixed',
  avalanche: 'prefixed',
  solana: 'base58',
  tron: 'hex',
};

/** The form that looks up a transaction, and its result. */
export function renderLookUp(view: CheckoutView): Html {
  const { path, lookUp, locale } = view;
  const { title, label, button } = locale.texts.lookUp;
  const language =
    locale.query !== '' && html`<input type="hidden" name="lang" value="${locale.tag}">`;
  const content = html`<form class="look-up" method="get" action="${path}">${language}
<label for="transaction">${label}</label>
<div class="row"><input id="transaction" name="transaction" value="${lookUp?.text ?? ''}" maxlength="${HASH_MAXIMUM}" dir="ltr" required autocomplete="off" autocapitalize="off" spellcheck="false"><button class="quiet">${button}</button></div>
</form>
${lookUp && renderResult(view, lookUp.result)}`;
  return renderDisclosure('look-up', title, content, lookUp !== null);
}

function renderResult(view: CheckoutView, result: LookUp['result']): Html {
  const { transactionHash } = result;
  return html`<p class="answer" id="look-up-answer" role="status">${explain(view, result)} ${transactionHash && renderExplorerLink(view, transactionHash)}</p>`;
}

function explain(view: CheckoutView, { verdict, confirmations }: LookUp['result']): string {
  const { checkout, stage, locale } = view;
  const { lookUp } = locale.texts;
  // The form is shown once a network is chosen.
  const { name = '–', family = 'ethereum', asset_symbol: asset = '–' } = checkout.network ?? {};
  const merchant = merchantOf(view);
  const depth = confirmations && describeConfirmations(confirmations, locale);
  const texts: Readonly<Record<LookUpVerdict, string>> = {
    unreadable: lookUp.unreadable(name, lookUp.shapes[SHAPES[family]]),
    unknown: lookUp.unknown(name),
    seen: `${lookUp.seen(name)} ${depth ?? lookUp.notFinal}`,
    final: stage === 'paid' ? lookUp.paid : lookUp.less(merchant),
    reversed: lookUp.reversed(name),
    failed: lookUp.failed(name),
    not_found: lookUp.notFound(name),
    pending: lookUp.pending(name),
    included: `${lookUp.included(name)} ${depth ?? ''} ${lookUp.counted}`,
    replaced: lookUp.replaced,
    too_little: lookUp.tooLittle(merchant),
    too_late: lookUp.tooLate(merchant),
    too_early: lookUp.tooEarly,
    other_asset: lookUp.otherAsset(asset, name, merchant),
    other_address: lookUp.otherAddress(name),
    untraceable: lookUp.untraceable(merchant),
    elsewhere: lookUp.elsewhere(merchant),
  };
  return texts[verdict];
}
