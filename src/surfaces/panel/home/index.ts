import type { FastifyInstance } from 'fastify';
import { checkFirstPayment } from '#onchain/settlement/first-payment.ts';
import { listPayments } from '#payments/list-payments.ts';
import { type PaidFigures, readPaidFigures } from '#payments/paid-figures.ts';
import { isDatabaseUnavailable } from '#storage/database/errors.ts';
import { readArrivals } from '#storage/repositories/deposits/deviations.ts';
import { basePathOf } from '../../pages/base-path.ts';
import { type Html, html } from '../../pages/html.ts';
import { membershipOf, sessionOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { renderDays } from '../kit/chart.ts';
import { count, dollars } from '../kit/format.ts';
import { accountPath } from '../kit/navigation.ts';
import { renderPayments } from '../kit/payment-table.ts';
import { texts } from '../texts/index.ts';
import { readAttention } from './attention.ts';
import type { Attention } from './person-attention.ts';
import { renderSteps } from './steps.ts';

const { home, payments: paymentTexts, shell } = texts;

const LATEST = 10;

/** A merchant's first page: what was paid, what needs attention, the latest payments. */
export function registerHome(app: FastifyInstance, deps: PanelDependencies): void {
  const { clock, panelUrl, processor, publicUrl, reports, simulation } = deps;
  const basePath = basePathOf(panelUrl);
  const service = {
    simulation,
    hasPanel: true,
    hasProcessor: processor !== null,
    isProcessorLive: processor?.live === true,
  };

  app.get('/merchants/:accountId', withPermission('merchant', 'home.read'), async request => {
    const membership = membershipOf(request);
    const { accountId } = membership;
    const now = new Date(clock());
    const [figures, attention, latest, firstPayment] = await Promise.all([
      readPaidFigures(reports, accountId, now).catch(withoutFigures),
      readAttention(reports, membership, sessionOf(request), { now, simulation }),
      listPayments(reports, accountId, { limit: LATEST }, {}),
      checkFirstPayment(reports, accountId, service, now),
    ]);
    const path = basePath + accountPath(membership);
    const arrivals = await readArrivals(
      reports,
      latest.data.map(({ id }) => id),
    );
    const content = html`${renderSteps(firstPayment, membership, basePath)}
${attention.length > 0 && renderAttention(attention, basePath)}
${figures === null ? html`<p class="notice">${home.figuresLate}</p>` : renderFigures(figures)}
<section aria-labelledby="latest"><h2 id="latest">${home.latest.title}</h2>
${
  latest.data.length === 0
    ? membership.status === 'active'
      ? renderFirstPayment(
          `${path}/settings/developer/keys`,
          publicUrl,
          sessionOf(request).person.is_demo,
        )
      : html`<p>${paymentTexts.none}</p>`
    : html`${renderPayments(texts, `${path}/payments`, latest.data, arrivals)}<p><a href="${path}/payments">${home.latest.all}</a></p>`
}</section>`;
    return { title: membership.name, content };
  });
}

/** Leaves the figures out if the database takes too long for them. */
function withoutFigures(error: unknown): null {
  if (isDatabaseUnavailable(error)) return null;
  throw error;
}

function renderAttention(attention: readonly Attention[], basePath: string): Html {
  return html`<section aria-labelledby="attention"><h2 id="attention">${home.attention.title}</h2>
<ul class="rows">${attention.map(
    ({ text, href }) => html`<li><a href="${basePath}${href}">${text}</a></li>`,
  )}</ul></section>`;
}

function renderFigures({ today, last7Days, last30Days, days }: PaidFigures): Html {
  const figure = (name: string, { cents, payments }: PaidFigures['today']) =>
    html`<div><dt>${name}</dt><dd>${dollars(cents)}</dd><dd class="count">${home.paid.payments(count(texts, payments))}</dd></div>`;
  return html`<section aria-labelledby="paid"><h2 id="paid">${home.paid.title}</h2>
<dl class="figures">${figure(home.paid.today, today)}${figure(home.paid.last7Days, last7Days)}${figure(home.paid.last30Days, last30Days)}</dl>
${renderDays(texts, home.paid.chart, days)}
<p class="quiet">${home.paid.days}</p></section>`;
}

function renderFirstPayment(keys: string, publicUrl: string, isDemo: boolean): Html {
  return html`<p>${home.latest.none(keys, `${publicUrl}/docs/quickstart`)}</p>
${
  isDemo &&
  html`<p>${home.latest.demo}</p>
<div class="secret"><pre><code id="first">npx --no mp request POST /external/v1/payments/prompt --body '{"amount":5000}'</code></pre>
<button type="button" class="plain copy" data-copy="first" hidden>${shell.copy}</button></div>`
}`;
}
