import type { NetworkChoice } from '../../checkout/checkout.ts';
import { type Html, html } from '../pages/html.ts';

/** A submit button for each network: choosing takes one click and no script. */
export function renderNetworkPicker(
  path: string,
  choices: readonly NetworkChoice[],
  label: string,
): Html {
  return html`<form method="post" action="${path}/network">
<ul class="networks" aria-label="${label}">
${choices.map(renderChoice)}
</ul>
</form>`;
}

function renderChoice({ network, available }: NetworkChoice): Html {
  const { id, asset_symbol: symbol, asset_name: asset, name } = network;
  const where = available ? name : `${name} · not available just now`;
  return html`<li><button class="network" name="network" value="${id}"${available ? '' : html` disabled`}>
<span class="coin" aria-hidden="true">${symbol.replace(/^t(?=[A-Z])/, '').slice(0, 1)}</span>
<span class="asset">${asset} <span class="symbol">${symbol}</span></span>
<span class="where">${where}</span>
</button></li>
`;
}
