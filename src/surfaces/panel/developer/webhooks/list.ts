import type { FastifyRequest } from 'fastify';
import { isAllowed, isChangeAllowed } from '#accounts/access/permissions.ts';
import {
  ALL_TYPES,
  ENDPOINTS_MAXIMUM,
  type IssuedEndpoint,
  originOf,
  subscriptionOf,
} from '#payments/webhooks/manage-endpoints.ts';
import type { WebhookEndpoint } from '#storage/database/webhook-tables.ts';
import { listOwnEndpoints } from '#storage/repositories/webhooks/endpoints.ts';
import { breakable, type Html, html } from '../../../pages/html.ts';
import { membershipOf } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { texts } from '../../hooks/language.ts';
import type { PanelPage } from '../../kit/document.ts';
import { dateTime } from '../../kit/format.ts';
import { ownUrl } from '../../kit/navigation.ts';
import { alreadyDonePage, renderSecret } from '../../kit/secrets.ts';
import { type Column, renderTable } from '../../kit/table.ts';
import type { PanelTexts } from '../../texts/panel-texts.ts';
import { readTroubled, WEBHOOKS } from './endpoint.ts';

/** Longest part of a URL that the list shows, in characters. */
const URL_SHOWN = 50;
/** Most endpoints in the list, including disabled ones. */
const ENDPOINTS_SHOWN = 100;
const DAY_MS = 24 * 60 * 60_000;

/** The page that lists a merchant's endpoints. */
export async function endpointsPage(
  request: FastifyRequest,
  deps: PanelDependencies,
): Promise<PanelPage> {
  const words = texts(request);
  const { webhooks: text } = words;
  const membership = membershipOf(request);
  const [endpoints, troubled] = await Promise.all([
    listOwnEndpoints(deps.db, membership.accountId, ENDPOINTS_SHOWN),
    readTroubled(deps, membership.accountId),
  ]);
  const url = ownUrl(request, WEBHOOKS);
  const now = new Date(deps.clock());
  const left = ENDPOINTS_MAXIMUM - endpoints.filter(each => each.disabled_at === null).length;
  const isFailing = (endpoint: WebhookEndpoint) => troubled.some(({ id }) => id === endpoint.id);
  const seesPaths = isAllowed(membership.role, 'webhooks.manage');
  const mayManage = isChangeAllowed(membership, 'webhooks.manage');
  const add =
    left > 0
      ? html`<p><a class="button" href="${url}/new">${text.create}</a></p>`
      : html`<p class="quiet">${text.full(ENDPOINTS_MAXIMUM)}</p>`;
  const columns: readonly Column<WebhookEndpoint>[] = [
    {
      title: text.columns.url,
      cell: endpoint =>
        html`<a href="${url}/${endpoint.id}">${breakable(shorten(shownUrl(endpoint, seesPaths)))}</a>`,
    },
    {
      title: text.columns.state,
      cell: endpoint => renderState(words, endpoint, isFailing(endpoint)),
    },
    {
      title: text.columns.types,
      secondary: true,
      cell: ({ types }) => (types === null ? text.allTypes : text.someTypes(types.length)),
    },
    {
      title: text.columns.secret,
      cell: endpoint => renderSecretAge(words, endpoint, now),
      secondary: true,
    },
  ];
  return {
    title: text.title,
    lead: text.lead(`${deps.publicUrl}/docs/webhooks`),
    content: html`${mayManage && add}
${endpoints.length === 0 ? html`<p>${text.none}</p>` : renderTable(text.title, columns, endpoints)}
${!seesPaths && endpoints.length > 0 && html`<p class="quiet">${text.originOnly}</p>`}
${mayManage && left > 0 && endpoints.length > 0 && html`<p class="quiet">${text.left(left)}</p>`}`,
  };
}

function shorten(url: string): string {
  return url.length > URL_SHOWN ? `${url.slice(0, URL_SHOWN)}…` : url;
}

/** The URL, or its origin alone for those who may not see the rest. */
export function shownUrl({ url }: Pick<WebhookEndpoint, 'url'>, seesPaths: boolean): string {
  return seesPaths ? url : originOf(url);
}

/** The state in a word. */
export function renderState(
  { webhooks: { states } }: PanelTexts,
  { disabled_at: disabled }: Pick<WebhookEndpoint, 'disabled_at'>,
  isFailing: boolean,
): Html {
  if (disabled !== null) return html`<span class="tag bad">${states.disabled}</span>`;
  if (isFailing) return html`<span class="tag bad">${states.failing}</span>`;
  return html`<span class="tag good">${states.enabled}</span>`;
}

export function renderTypes({ webhooks }: PanelTexts, endpoint: WebhookEndpoint): Html {
  const types = subscriptionOf(endpoint).map((type, index) => {
    const name = type === ALL_TYPES ? webhooks.allTypes : html`<code>${type}</code>`;
    return html`${index > 0 && ', '}${name}`;
  });
  return html`${types}`;
}

/** Since when an endpoint has its secret. */
export function renderSecretAge(words: PanelTexts, endpoint: WebhookEndpoint, now: Date): Html {
  const since = endpoint.rotated_at ?? endpoint.created_at;
  const days = Math.floor((now.getTime() - since.getTime()) / DAY_MS);
  return words.webhooks.secretAge(dateTime(words, since), Math.max(0, days));
}

/**
 * A secret, shown once.
 * @param issued undefined if its form was sent before: then the page says so.
 */
export function issuedPage(
  request: FastifyRequest,
  issued: IssuedEndpoint | undefined,
  title: string,
  lead: string,
): PanelPage {
  const words = texts(request);
  const { done, issued: text, title: listTitle } = words.webhooks;
  const url = ownUrl(request, WEBHOOKS);
  if (issued === undefined) return alreadyDonePage(done, { url, text: listTitle });
  const { secret, endpoint } = issued;
  return {
    title,
    lead,
    content: html`${renderSecret(words, 'webhook-secret', text.secret, secret)}${renderSecret(words, 'webhook-line', text.environment, `WEBHOOK_SECRET=${secret}`)}
<p><a class="button" href="${url}/${endpoint.id}">${words.shell.kept}</a></p>`,
  };
}
