import {
  ALL_TYPES,
  ENDPOINTS_MAXIMUM,
  type IssuedEndpoint,
  originOf,
  subscriptionOf,
} from '#payments/webhooks/manage-endpoints.ts';
import type { WebhookEndpoint } from '#storage/database/webhook-tables.ts';
import { breakable, type Html, html } from '../../../pages/html.ts';
import type { PanelPage } from '../../kit/document.ts';
import { dateTime } from '../../kit/format.ts';
import { alreadyDonePage, renderSecret } from '../../kit/secrets.ts';
import { renderTable } from '../../kit/table.ts';
import type { PanelTexts } from '../../texts/panel-texts.ts';

/** Longest part of a URL that the list shows, in characters. */
const URL_SHOWN = 50;
const DAY_MS = 24 * 60 * 60_000;

interface EndpointsFrame {
  /** The page's address, with the base path. */
  readonly url: string;
  readonly publicUrl: string;
  readonly now: Date;
  /** IDs of those to which nothing can be delivered. */
  readonly failing: ReadonlySet<string>;
  /** How many more can be added. */
  readonly left: number;
  /** Whether the visitor may see paths and queries of URLs. */
  readonly seesPaths: boolean;
  readonly mayManage: boolean;
}

export function endpointsPage(
  words: PanelTexts,
  endpoints: readonly WebhookEndpoint[],
  { url, publicUrl, now, failing, left, seesPaths, mayManage }: EndpointsFrame,
): PanelPage {
  const { webhooks: text } = words;
  const add =
    left > 0
      ? html`<p><a class="button" href="${url}/new">${text.create}</a></p>`
      : html`<p class="quiet">${text.full(ENDPOINTS_MAXIMUM)}</p>`;
  return {
    title: text.title,
    lead: text.lead(`${publicUrl}/docs/webhooks`),
    content: html`${mayManage && add}
${
  endpoints.length === 0
    ? html`<p>${text.none}</p>`
    : renderTable<WebhookEndpoint>(
        text.title,
        [
          {
            title: text.columns.url,
            cell: endpoint =>
              html`<a href="${url}/${endpoint.id}">${breakable(shorten(shownUrl(endpoint, seesPaths)))}</a>`,
          },
          {
            title: text.columns.state,
            cell: endpoint => renderState(words, endpoint, failing.has(endpoint.id)),
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
        ],
        endpoints,
      )
}
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

interface IssuedFrame {
  readonly title: string;
  readonly lead: string;
  /** Of the list, with the base path. */
  readonly url: string;
}

/**
 * A secret, shown once.
 * @param issued undefined if its form was sent before: then the page says so.
 */
export function issuedPage(
  words: PanelTexts,
  issued: IssuedEndpoint | undefined,
  { title, lead, url }: IssuedFrame,
): PanelPage {
  const { done, issued: text, title: listTitle } = words.webhooks;
  if (issued === undefined) return alreadyDonePage(done, { url, text: listTitle });
  const { secret, endpoint } = issued;
  return {
    title,
    lead,
    content: html`${renderSecret(words, 'webhook-secret', text.secret, secret)}${renderSecret(words, 'webhook-line', text.environment, `WEBHOOK_SECRET=${secret}`)}
<p><a class="button" href="${url}/${endpoint.id}">${words.shell.kept}</a></p>`,
  };
}
