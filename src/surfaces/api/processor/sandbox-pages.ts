import { dueCents } from '#payments/commission.ts';
import type { Network } from '#storage/database/network-tables.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import type { Locale } from '../../checkout/page/locale.ts';
import { type Html, html } from '../../pages/html.ts';
import { renderPage } from './page.ts';
import { SANDBOX_TEXTS, type SandboxAction } from './texts.ts';

/** A payment as the sandbox shows it. */
type SandboxPayment = Payment & { readonly merchant_name: string };

/** Actions that the payment's state allows; none once it has ended. */
export function actionsFor(payment: Payment, now: Date): readonly SandboxAction[] {
  if (payment.status !== 'pending') return [];
  if (payment.session_status === 'completed') return ['settle', 'fail'];
  return payment.expires_at > now ? ['pay', 'hold', 'fail', 'cancel'] : [];
}

interface SandboxView {
  readonly payment: SandboxPayment;
  /** Networks that the customer may choose; the choice is not passed on to the merchant. */
  readonly networks: readonly Network[];
  readonly now: Date;
  readonly locale: Locale;
  /** Why the last action was refused. */
  readonly notice?: string;
}

export function renderSandbox({ payment, networks, now, locale, notice }: SandboxView): string {
  const { customer_reference_id: reference } = payment;
  const texts = SANDBOX_TEXTS[locale.tag];
  const actions = actionsFor(payment, now);
  const expired = payment.status === 'pending' && actions.length === 0;
  const ending = texts.endings[expired ? 'expired' : payment.status];
  const open = actions.includes('pay');
  const title = texts.title(locale.format.dollars(dueCents(payment)));
  return renderPage(
    title,
    html`<p class="quiet">${texts.sandbox}</p>
<h1>${title}</h1>
<p><bdi>${payment.merchant_name}</bdi></p>
${reference ? html`<p>${locale.texts.orderReference} <bdi>${reference}</bdi></p>` : null}
${payment.note ? html`<p dir="auto">${payment.note}</p>` : null}
${notice === undefined ? null : html`<p role="alert">${notice}</p>`}
${open ? renderDeadline(payment.expires_at, now, locale) : html`<p role="status">${ending}</p>`}
${actions.length === 0 ? null : renderForm(actions, open ? networks : [], locale)}`,
    { simulation: true, locale },
  );
}

/** A deadline; the page's script counts down to it. */
function renderDeadline(at: Date, now: Date, { texts, format }: Locale): Html {
  const text = texts.waiting.payBefore(format.timeOfDay(at));
  return html`<p class="quiet" role="timer" data-countdown="${at.toISOString()}" data-now="${now.toISOString()}" data-left="${texts.script.leftToPay}">${text}</p>`;
}

/** The form has no `action`, so it posts to the URL of the page, which contains the token. */
function renderForm(
  actions: readonly SandboxAction[],
  networks: readonly Network[],
  { tag }: Locale,
): Html {
  const { buttons, network } = SANDBOX_TEXTS[tag];
  const choice = html`<label for="network">${network}</label>
<select id="network" name="network">
${renderNetworks(networks, tag)}</select>`;
  return html`<form method="post">
${networks.length > 0 && choice}
${actions.map(action => html`<button name="action" value="${action}">${buttons[action]}</button>\n`)}</form>`;
}

/** Groups test networks separately if there are both kinds. */
function renderNetworks(networks: readonly Network[], tag: Locale['tag']): Html {
  const { mainNetworks, testNetworks } = SANDBOX_TEXTS[tag];
  const groups = [
    { label: mainNetworks, members: networks.filter(each => each.environment === 'production') },
    { label: testNetworks, members: networks.filter(each => each.environment === 'test') },
  ].filter(({ members }) => members.length > 0);
  const [only, ...others] = groups;
  if (only !== undefined && others.length === 0) return renderOptions(only.members);
  return html`${groups.map(
    ({ label, members }) =>
      html`<optgroup label="${label}">\n${renderOptions(members)}</optgroup>\n`,
  )}`;
}

function renderOptions(networks: readonly Network[]): Html {
  return html`${networks.map(
    ({ id, name, asset_symbol: symbol }) =>
      html`<option value="${id}">${symbol} · ${name}</option>\n`,
  )}`;
}
