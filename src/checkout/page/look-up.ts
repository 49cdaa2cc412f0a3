import type { NetworkFamily } from '../../database/network-tables.ts';
import { renderDisclosure } from '../../pages/disclosure.ts';
import { type Html, html } from '../../pages/html.ts';
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

/** The form that looks up a transaction, and its result. It is a GET form, so it works without a script. */
export function renderLookUp(view: CheckoutView): Html {
  const { path, lookUp, locale } = view;
  const { title, label, button } = locale.texts.lookUp;
  const language =
    locale.query !== '' && html`<input type="hidden" name="lang" value="${locale.tag}">`;
  const content = html`<form class="look-up" method="get" action="${path}">${language}
<label for="transaction">${label}</label>
<div class="row"><input id="transaction" name="transaction" value="${lookUp?.text ?? ''}" maxlength="${HASH_MAXIMUM}" dir="ltr" required autocomplete="off" autocapitalize="off" spellcheck="false"><button class="quiet">${button}</button></div>
</form>
${lookUp && renderResponse(view, lookUp.knowledge)}`;
  return renderDisclosure('look-up', title, content, lookUp !== null);
}

function renderResponse(view: CheckoutView, knowledge: LookUp['knowledge']): Html {
  const { transactionHash } = knowledge;
  return html`<p class="answer" id="look-up-answer" role="status">${explain(view, knowledge)} ${transactionHash && renderExplorerLink(view, transactionHash)}</p>`;
}

function explain(view: CheckoutView, { verdict, confirmations }: LookUp['knowledge']): string {
  const { checkout, stage, locale } = view;
  const { lookUp } = locale.texts;
  // The form is shown once a network is chosen.
  const network = checkout.network?.name ?? '–';
  const merchant = merchantOf(view);
  const depth = confirmations && describeConfirmations(confirmations, locale);
  switch (verdict) {
    case 'unreadable': {
      const family = checkout.network?.family ?? 'ethereum';
      return lookUp.unreadable(network, lookUp.shapes[SHAPES[family]]);
    }
    case 'unknown':
      return lookUp.unknown(network);
    case 'seen':
      return `${lookUp.seen(network)} ${depth ?? lookUp.notFinal}`;
    case 'final':
      return stage === 'paid' ? lookUp.paid : lookUp.less(merchant);
    case 'reversed':
      return lookUp.reversed(network);
    case 'failed':
      return lookUp.failed(network);
    case 'not_found':
      return lookUp.notFound(network);
    case 'pending':
      return lookUp.pending(network);
    case 'included':
      return `${lookUp.included(network)} ${depth ?? ''} ${lookUp.counted}`;
    case 'replaced':
      return lookUp.replaced;
    case 'too_little':
      return lookUp.tooLittle(merchant);
    case 'too_late':
      return lookUp.tooLate(merchant);
    case 'too_early':
      return lookUp.tooEarly;
    case 'other_asset':
      return lookUp.otherAsset(checkout.network?.asset_symbol ?? '–', network, merchant);
    case 'other_address':
      return lookUp.otherAddress(network);
    case 'untraceable':
      return lookUp.untraceable(merchant);
    case 'elsewhere':
      return lookUp.elsewhere(merchant);
  }
}
