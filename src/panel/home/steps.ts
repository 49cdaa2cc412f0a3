import { type Html, html } from '../../pages/html.ts';
import type { Membership } from '../../repositories/people/memberships.ts';
import type { FirstPayment } from '../../settlement/first-payment.ts';
import type { Step } from '../../settlement/setup-steps.ts';
import { isAllowed, type Permission } from '../access/permissions.ts';
import { accountPath } from '../navigation.ts';
import { texts } from '../texts/index.ts';

const stepTexts = texts.home.steps;

/** Where people take steps by themselves, below an account's settings. */
const PLACES: Partial<
  Record<Step['name'], { path: string; text: string; permission: Permission }>
> = {
  address: { path: '/addresses', text: stepTexts.setAddress, permission: 'money.change' },
  domain: { path: '/domains', text: stepTexts.addDomain, permission: 'domains.manage' },
  key: { path: '/developer/keys/new', text: stepTexts.createKey, permission: 'keys.manage' },
};

/**
 * The steps without which no payment settles and, until a first one has settled, those that are advised;
 * null if none is left.
 */
export function renderSteps(
  { steps, canSettle, hasSettled }: FirstPayment,
  membership: Membership,
  basePath: string,
): Html | null {
  const open = steps.filter(
    ({ state }) => state === 'missing' || (state === 'advised' && !hasSettled),
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
      html`<li><p>${step.finding}${step.state === 'advised' && html` <span class="tag">${stepTexts.advised}</span>`}</p>${renderRemedy(step, membership, basePath)}</li>`,
  )}</ol></section>`;
}

/** A link to the page of the panel that helps, or else the operator's command. */
function renderRemedy({ name, remedy }: Step, membership: Membership, basePath: string): Html {
  const place = PLACES[name];
  if (place !== undefined && isAllowed(membership.role, place.permission)) {
    const url = `${basePath}${accountPath(membership)}/settings${place.path}`;
    return html`<p><a href="${url}">${place.text}</a></p>`;
  }
  return html`<p class="quiet">${stepTexts.askOperator(html`<code>${remedy}</code>`)}</p>`;
}
