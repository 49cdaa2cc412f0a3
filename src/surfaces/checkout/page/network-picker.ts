import { deadlinesFrom } from '#onchain/settlement/deadlines.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { type Html, html } from '../../pages/html.ts';
import type { NetworkChoice } from '../checkout.ts';
import { groupByCoin } from '../coin-groups.ts';
import { networkFeeOf } from '../network-fee.ts';
import { renderCoinMark } from './coin-marks.ts';
import type { Locale } from './locale.ts';
import type { CheckoutView } from './view.ts';

/** A list of at least this many networks gets a search field; a shorter one is read at a glance. */
const SEARCHED_FROM = 8;

/** A submit button for each network, below its coin: choosing takes one click and no script. */
export function renderNetworkPicker(
  { checkout, now, path, locale }: CheckoutView,
  choices: readonly NetworkChoice[],
  label: string,
): Html {
  const { choose } = locale.texts;
  const groups = groupByCoin(choices).map(({ symbol, name, choices: networks }) => {
    const buttons = networks.map(choice =>
      renderChoice(choice, timeToPay(checkout.payment, choice, now), locale),
    );
    return html`<li class="coin-group">
<div class="coin-head">${renderCoinMark(symbol)}<span class="asset">${name} <span class="symbol">${symbol}</span></span></div>
<ul>
${buttons}</ul>
</li>
`;
  });
  const search = html`<p class="search" hidden><input type="search" id="network-search" aria-label="${choose.search}" placeholder="${choose.search}" autocomplete="off" spellcheck="false"></p>
<p class="no-match" role="status" hidden>${choose.noMatch}</p>
`;
  // The search field is outside of the form: inside, Enter would choose the first network.
  return html`<div class="picker">
${choices.length >= SEARCHED_FROM && search}<form method="post" action="${path}/network${locale.query}">
<ul class="networks" aria-label="${label}">
${groups}</ul>
</form>
</div>`;
}

/** How long the payer has once this network is chosen, in milliseconds; at most until the payment ends. */
function timeToPay(payment: Payment, { network }: NetworkChoice, now: Date): number {
  const { quoted_until: until, expires_at: end } = deadlinesFrom(
    payment,
    network.window_minutes,
    now,
  );
  return (until ?? end).getTime() - now.getTime();
}

function renderChoice(
  { network, available, tokenAmount }: NetworkChoice,
  payMs: number,
  locale: Locale,
): Html {
  const { id, asset_symbol: symbol, asset_name: asset, asset_decimals: decimals, name } = network;
  const { texts, format } = locale;
  const amount = tokenAmount !== null && format.about(tokenAmount, decimals, symbol);
  const window = texts.choose.window(format.duration(payMs));
  const hints = [describeFee(network, locale), window].filter(each => each !== null);
  const hint = available ? hints.join(' · ') : texts.choose.unavailable;
  return html`<li><button class="network" name="network" value="${id}"${available ? '' : html` disabled`}>
<span class="where"><span class="visually-hidden">${asset} ${symbol}, </span><bdi>${name}</bdi>${network.environment === 'test' && html` <span class="test">${texts.choose.test}</span>`}</span>
${amount && html`<span class="estimate">${amount}</span>`}
<span class="hint">${hint}</span>
</button></li>
`;
}

/** The usual network fee; null on a test network, whose coins have no value. */
function describeFee(network: NetworkChoice['network'], { texts, format }: Locale): string | null {
  if (network.environment === 'test') return null;
  const { upTo, high } = texts.choose.networkFees;
  const cents = networkFeeOf(network);
  return cents === null ? high : upTo(format.dollars(cents));
}
