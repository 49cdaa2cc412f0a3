import {
  ALL_TYPES,
  ENDPOINTS_MAXIMUM,
  type IssuedEndpoint,
  originOf,
  subscriptionOf,
} from '#payments/webhooks/manage-endpoints.ts';
import type { EventType } from '#schemas/event.ts';
import type { WebhookEndpoint } from '#storage/database/webhook-tables.ts';
import { breakable, type Html, html } from '../../../pages/html.ts';
import type { PanelPage } from '../../kit/document.ts';
import { type FormFault, renderField } from '../../kit/form.ts';
import { dateTime } from '../../kit/format.ts';
import { renderSecret } from '../../kit/secrets.ts';
import { renderTable } from '../../kit/table.ts';
import { texts } from '../../texts/index.ts';
import { type EndpointFields, TYPE_CHOICES } from './forms.ts';

const text = texts.webhooks;
/** What each type of event reports. */
const TYPES: Readonly<Record<EventType, string>> = text.types;
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
  endpoints: readonly WebhookEndpoint[],
  { url, publicUrl, now, failing, left, seesPaths, mayManage }: EndpointsFrame,
): PanelPage {
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
            cell: endpoint => renderState(endpoint, failing.has(endpoint.id)),
          },
          {
            title: text.columns.types,
            secondary: true,
            cell: ({ types }) => (types === null ? text.allTypes : text.someTypes(types.length)),
          },
          {
            title: text.columns.secret,
            cell: endpoint => renderSecretAge(endpoint, now),
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
  { disabled_at: disabled }: Pick<WebhookEndpoint, 'disabled_at'>,
  isFailing: boolean,
): Html {
  if (disabled !== null) return html`<span class="tag bad">${text.states.disabled}</span>`;
  if (isFailing) return html`<span class="tag bad">${text.states.failing}</span>`;
  return html`<span class="tag good">${text.states.enabled}</span>`;
}

export function renderTypes(endpoint: WebhookEndpoint): Html {
  const types = subscriptionOf(endpoint).map((type, index) => {
    const name = type === ALL_TYPES ? text.allTypes : html`<code>${type}</code>`;
    return html`${index > 0 && ', '}${name}`;
  });
  return html`${types}`;
}

/** Since when an endpoint has its secret. */
export function renderSecretAge(endpoint: WebhookEndpoint, now: Date): Html {
  const since = endpoint.rotated_at ?? endpoint.created_at;
  const days = Math.floor((now.getTime() - since.getTime()) / DAY_MS);
  return text.secretAge(dateTime(texts, since), Math.max(0, days));
}

interface NewEndpointFrame {
  /** Of the list, with the base path. */
  readonly url: string;
  /** ID under which the endpoint is made once, however often the form is sent. */
  readonly intent: string;
  readonly isHttpAllowed: boolean;
}

export function newEndpointPage(
  { url: given, type: ticked }: EndpointFields,
  fault: FormFault | null,
  { url, intent, isHttpAllowed }: NewEndpointFrame,
): PanelPage {
  const words = text.form;
  const field = { name: 'url', label: words.url, type: 'url', value: given } as const;
  return {
    title: words.title,
    fault,
    content: html`<form method="post" action="${url}/new" class="stack">
<input type="hidden" name="intent" value="${intent}">
${renderField({ ...field, hint: words.urlHint(isHttpAllowed), autocomplete: 'off', maxlength: 2048, placeholder: words.urlExample }, fault)}
<fieldset id="types"><legend>${words.types}</legend>${
      fault?.field === 'types' && html`<p class="fault">${fault.message}</p>`
    }${TYPE_CHOICES.map(
      type =>
        html`<p class="check"><input type="checkbox" id="${type}" name="type" value="${type}"${ticked.includes(type) && html` checked`}><label for="${type}">${type === ALL_TYPES ? text.everyType : html`${TYPES[type]} <code>${breakable(type)}</code>`}</label></p>`,
    )}</fieldset>
<button>${words.submit}</button>
</form>`,
  };
}

/** A secret, shown once. */
export function issuedPage(
  { secret }: IssuedEndpoint,
  { title, lead, url }: { readonly title: string; readonly lead: string; readonly url: string },
): PanelPage {
  return {
    title,
    lead,
    content: html`${renderSecret(texts, 'webhook-secret', text.issued.secret, secret)}${renderSecret(texts, 'webhook-line', text.issued.environment, `WEBHOOK_SECRET=${secret}`)}
<p><a class="button" href="${url}">${texts.shell.kept}</a></p>`,
  };
}
