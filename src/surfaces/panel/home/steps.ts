import type { FastifyRequest } from 'fastify';
import { isAllowed, type Permission } from '#accounts/access/permissions.ts';
import { wordRefusal } from '#errors/refusals/wording.ts';
import type { FirstPayment } from '#onchain/settlement/first-payment.ts';
import type { Step } from '#onchain/settlement/setup-steps.ts';
import { type Html, html } from '../../pages/html.ts';
import { membershipOf } from '../hooks/access.ts';
import { texts } from '../hooks/language.ts';
import { ownUrl } from '../kit/navigation.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';

interface Place {
  readonly path: string;
  readonly remedy: keyof PanelTexts['home']['steps']['remedies'];
  readonly permission: Permission;
}

/** The page for what an operator does by `mp NOUN`, below an account's settings. */
const PLACES: Readonly<Partial<Record<string, Place>>> = {
  branch: { path: '/branches', remedy: 'addBranch', permission: 'branches.add' },
  address: { path: '/addresses', remedy: 'setAddress', permission: 'money.change' },
  domain: { path: '/domains', remedy: 'addDomain', permission: 'domains.manage' },
  key: { path: '/developer/keys/new', remedy: 'createKey', permission: 'keys.manage' },
  webhook: {
    path: '/developer/webhooks/new',
    remedy: 'addEndpoint',
    permission: 'webhooks.manage',
  },
};

/**
 * The steps without which no payment settles, and the advised ones; null if none is left. Once a first payment has
 * settled, only a webhook is still advised: without one, a shop learns late of what it was paid.
 */
export function renderSteps(
  request: FastifyRequest,
  { steps, canSettle, hasSettled }: FirstPayment,
): Html | null {
  const words = texts(request);
  const isActive = membershipOf(request).status === 'active';
  const open = steps.filter(
    ({ name, state }) =>
      (state === 'missing' || (state === 'advised' && (!hasSettled || name === 'webhook'))) &&
      // Nothing else can be set up until the account is active.
      (isActive || name === 'account'),
  );
  if (open.length === 0) return null;
  const { advised, titles } = words.home.steps;
  const title = hasSettled
    ? canSettle
      ? titles.advised
      : titles.cannotSettle
    : canSettle
      ? titles.beforeLive
      : titles.beforeFirst;
  return html`<section aria-labelledby="steps"><h2 id="steps">${title}</h2>
<ol class="steps">${open.map(
    step =>
      html`<li><p>${wordRefusal(words.setupFindings, step.finding)}${step.state === 'advised' && html` <span class="tag">${advised}</span>`}</p>${renderRemedy(request, step)}</li>`,
  )}</ol></section>`;
}

/** A link to the page of the panel that helps, or who can help: an admin, or the operator with a command. */
function renderRemedy(request: FastifyRequest, { remedy }: Step): Html {
  const { steps } = texts(request).home;
  const place = PLACES[/^mp (\w+)/.exec(remedy ?? '')?.[1] ?? ''];
  if (place === undefined) {
    return html`<p class="quiet">${steps.askOperator(html`<code>${remedy}</code>`)}</p>`;
  }
  if (!isAllowed(membershipOf(request).role, place.permission)) {
    return html`<p class="quiet">${steps.askAdmin}</p>`;
  }
  const url = ownUrl(request, `/settings${place.path}`);
  return html`<p><a href="${url}">${steps.remedies[place.remedy]}</a></p>`;
}
