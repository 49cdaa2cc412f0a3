import type { FastifyInstance, FastifyRequest } from 'fastify';
import { checkFirstPayment } from '#onchain/settlement/first-payment.ts';
import { listPayments } from '#payments/list-payments.ts';
import { type PaidFigures, readPaidFigures } from '#payments/paid-figures.ts';
import { isDatabaseUnavailable } from '#storage/database/errors.ts';
import { readArrivals } from '#storage/repositories/deposits/deviations.ts';
import { type Html, html } from '../../pages/html.ts';
import { membershipOf, sessionOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import { renderDays } from '../kit/chart.ts';
import { isUs } from '../kit/environment.ts';
import { count, dollars } from '../kit/format.ts';
import { ownUrl } from '../kit/navigation.ts';
import { renderPayments } from '../kit/payment-table.ts';
import { PLACES } from '../kit/places.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import { readAttention } from './attention.ts';
import { renderAttention } from './attention-list.ts';
import { renderSteps } from './steps.ts';

const LATEST = 10;

/** A merchant's first page: what was paid, what needs attention, the latest payments. */
export function registerMerchantHome(app: FastifyInstance, deps: PanelDependencies): void {
  const { clock, processor, reports, simulation } = deps;
  const service = {
    simulation,
    hasPanel: true,
    hasProcessor: processor !== null,
  };

  app.get('/merchants/:accountId', withPermission('merchant', 'home.read'), async request => {
    const words = texts(request);
    const { home, payments: paymentTexts } = words;
    const membership = membershipOf(request);
    const session = sessionOf(request);
    const { accountId } = membership;
    const now = new Date(clock());
    const [figures, attention, latest, firstPayment] = await Promise.all([
      readPaidFigures(reports, accountId, now).catch(withoutFigures),
      readAttention(reports, words, membership, session, { now, simulation }),
      listPayments(reports, accountId, { limit: LATEST }, {}),
      checkFirstPayment(reports, accountId, service, now),
    ]);
    const url = ownUrl(request);
    const arrivals = await readArrivals(
      reports,
      latest.data.map(({ id }) => id),
    );
    const content = html`${renderSteps(request, firstPayment)}
${renderAttention(request, attention)}
${figures === null ? html`<p class="notice">${home.figuresLate}</p>` : renderFigures(words, figures)}
<section aria-labelledby="latest"><h2 id="latest">${home.latest.title}</h2>
${
  latest.data.length > 0
    ? html`${renderPayments(words, `${url}/payments`, latest.data, arrivals)}<p><a href="${url}/payments">${home.latest.all}</a></p>`
    : membership.status === 'active'
      ? renderFirstPayment(request, deps)
      : html`<p>${paymentTexts.none}</p>`
}</section>`;
    return { title: membership.name, content };
  });
}

/** Leaves the figures out if the database takes too long for them. */
function withoutFigures(error: unknown): null {
  if (isDatabaseUnavailable(error)) return null;
  throw error;
}

function renderFigures(
  words: PanelTexts,
  { today, last7Days, last30Days, days }: PaidFigures,
): Html {
  const { paid } = words.home;
  const figure = (name: string, { cents, payments }: PaidFigures['today']) =>
    html`<div><dt>${name}</dt><dd>${dollars(cents)}</dd><dd class="count">${paid.payments(count(words, payments))}</dd></div>`;
  return html`<section aria-labelledby="paid"><h2 id="paid">${paid.title}</h2>
<dl class="figures">${figure(paid.today, today)}${figure(paid.last7Days, last7Days)}${figure(paid.last30Days, last30Days)}</dl>
${renderDays(words, paid.chart, days)}
<p class="quiet">${paid.days}</p></section>`;
}

function renderFirstPayment(request: FastifyRequest, deps: PanelDependencies): Html {
  const { home, shell } = texts(request);
  const { latest } = home;
  const keys = ownUrl(request, `${PLACES.merchant.developer}/keys`);
  // Without `--as`, the command signs with the key of the demo's standard account.
  const options = isUs(membershipOf(request)) ? ['--as', 'us'] : [];
  const called = ['npx', '--no', 'mp', 'request', 'POST', '/external/v1/payments/prompt'];
  const command = [...called, '--body', `'{"amount":5000}'`, ...options].join(' ');
  return html`<p>${latest.none(keys, `${deps.publicUrl}/docs/quickstart`)}</p>
${
  sessionOf(request).person.is_demo &&
  html`<p>${latest.demo}</p>
<div class="secret"><pre><code id="first">${command}</code></pre>
<button type="button" class="plain copy" data-copy="first" hidden>${shell.copy}</button></div>`
}`;
}
