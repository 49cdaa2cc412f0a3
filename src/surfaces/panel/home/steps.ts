import { isAllowed, type Permission } from '#accounts/access/permissions.ts';
import { wordRefusal } from '#errors/refusals/wording.ts';
import type { FirstPayment } from '#onchain/settlement/first-payment.ts';
import type { Step } from '#onchain/settlement/setup-steps.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import { type Html, html } from '../../pages/html.ts';
import { accountPath } from '../kit/navigation.ts';
import { texts } from '../texts/index.ts';

const stepTexts = texts.home.steps;

interface Place {
  readonly path: string;
  readonly text: string;
  readonly permission: Permission;
}

/** The page for what an operator does by `mp NOUN`, below an account's settings. */
const PLACES: Readonly<Partial<Record<string, Place>>> = {
  branch: { path: '/branches', text: stepTexts.addBranch, permission: 'branches.add' },
  address: { path: '/addresses', text: stepTexts.setAddress, permission: 'money.change' },
  domain: { path: '/domains', text: stepTexts.addDomain, permission: 'domains.manage' },
  key: { path: '/developer/keys/new', text: stepTexts.createKey, permission: 'keys.manage' },
  webhook: {
    path: '/developer/webhooks/new',
    text: stepTexts.addEndpoint,
    permission: 'webhooks.manage',
  },
};

/**
 * The steps without which no payment settles and, until a first payment has settled, the advised steps; null if none
 * is left.
 */
export function renderSteps(
  { steps, canSettle, hasSettled }: FirstPayment,
  membership: Membership,
  basePath: string,
): Html | null {
  const isActive = membership.status === 'active';
  const open = steps.filter(
    ({ name, state }) =>
      (state === 'missing' || (state === 'advised' && !hasSettled)) &&
      // Nothing else can be set up until the account is active.
      (isActive || name === 'account'),
  );
  if (open.length === 0) return null;
  const title = canSettle
    ? stepTexts.beforeLive
    : hasSettled
      ? stepTexts.cannotSettle
      : stepTexts.beforeFirst;
  return html`<section aria-labelledby="steps"><h2 id="steps">${title}</h2>
<ol class="steps">${open.map(
    step =>
      html`<li><p>${wordRefusal(texts.setupFindings, step.finding)}${step.state === 'advised' && html` <span class="tag">${stepTexts.advised}</span>`}</p>${renderRemedy(step, membership, basePath)}</li>`,
  )}</ol></section>`;
}

/** A link to the page of the panel that helps, or who can help: an admin, or the operator with a command. */
function renderRemedy({ remedy }: Step, membership: Membership, basePath: string): Html {
  const place = PLACES[/^mp (\w+)/.exec(remedy ?? '')?.[1] ?? ''];
  if (place === undefined) {
    return html`<p class="quiet">${stepTexts.askOperator(html`<code>${remedy}</code>`)}</p>`;
  }
  if (!isAllowed(membership.role, place.permission)) {
    return html`<p class="quiet">${stepTexts.askAdmin}</p>`;
  }
  const url = `${basePath}${accountPath(membership)}/settings${place.path}`;
  return html`<p><a href="${url}">${place.text}</a></p>`;
}
