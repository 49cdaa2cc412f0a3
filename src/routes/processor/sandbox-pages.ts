import type { Network } from '../../database/network-tables.ts';
import type { Payment } from '../../database/payment-tables.ts';
import { dueCents } from '../../payments/commission.ts';
import { formatDollars } from '../pages/format-dollars.ts';
import { type Html, html } from '../pages/html.ts';
import { renderPage } from './page.ts';

/** A payment as the sandbox shows it. */
export type SandboxPayment = Payment & { readonly merchant_name: string };

/** Value that a button of the page submits. */
export type SandboxAction = 'pay' | 'hold' | 'settle' | 'fail' | 'cancel';

const TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone: 'UTC' });

const BUTTONS: Readonly<Record<SandboxAction, string>> = {
  pay: 'Pay',
  hold: 'Pay, but do not settle yet',
  settle: 'Settle',
  fail: 'Let the payment fail',
  cancel: 'Cancel',
};

const ENDINGS: Readonly<Record<Payment['status'], string>> = {
  pending: 'The payment has been seen and is not settled yet.',
  successful: 'The payment is settled. You can close this page.',
  unsuccessful: 'The payment failed. Nothing was taken.',
  expired: 'The time to pay is over. Nothing was taken.',
  cancelled: 'The payment was cancelled. Nothing was taken.',
};

/** Actions that the payment's state allows; none once it has ended. */
export function actionsFor(payment: Payment, now: Date): readonly SandboxAction[] {
  if (payment.status !== 'pending') return [];
  if (payment.session_status === 'completed') return ['settle', 'fail'];
  return payment.expires_at > now ? ['pay', 'hold', 'fail', 'cancel'] : [];
}

interface SandboxView {
  readonly payment: SandboxPayment;
  /** Networks that the customer may choose. The merchant does not learn the choice. */
  readonly networks: readonly Network[];
  readonly now: Date;
  /** Why the last action was refused. */
  readonly notice?: string;
}

export function renderSandbox({ payment, networks, now, notice }: SandboxView): string {
  const actions = actionsFor(payment, now);
  const expired = payment.status === 'pending' && actions.length === 0;
  const ending = ENDINGS[expired ? 'expired' : payment.status];
  const open = actions.includes('pay');
  const title = `Pay ${formatDollars(dueCents(payment))}`;
  return renderPage(
    title,
    html`<p class="quiet">Sandbox: no money moves here.</p>
<h1>${title}</h1>
<p>to ${payment.merchant_name}</p>
${payment.note ? html`<p>${payment.note}</p>` : null}
${notice === undefined ? null : html`<p role="alert">${notice}</p>`}
${open ? renderDeadline(payment.expires_at, now) : html`<p role="status">${ending}</p>`}
${actions.length === 0 ? null : renderForm(actions, open ? networks : [])}`,
    true,
  );
}

/** The page for an unknown token. */
export function renderMissing(): string {
  return renderPage(
    'Not found',
    html`<h1>There is no payment here</h1>
<p>Check that you opened the whole link, or ask the merchant for a new one.</p>`,
    true,
  );
}

/** The page's script counts down to it. */
function renderDeadline(at: Date, now: Date): Html {
  return html`<p class="quiet" role="timer" data-countdown="${at.toISOString()}" data-now="${now.toISOString()}">Pay before ${TIME.format(at)} UTC</p>`;
}

/** The form has no `action`, so it posts to the URL of the page, which contains the token. */
function renderForm(actions: readonly SandboxAction[], networks: readonly Network[]): Html {
  const options = networks.map(
    ({ id, name, asset_symbol: symbol }) =>
      html`<option value="${id}">${symbol} on ${name}</option>\n`,
  );
  const buttons = actions.map(
    action => html`<button name="action" value="${action}">${BUTTONS[action]}</button>\n`,
  );
  return html`<form method="post">
${options.length > 0 && html`<label for="network">Network</label>\n<select id="network" name="network">\n${options}</select>`}
${buttons}</form>`;
}
