import { wordDisabling } from '#errors/refusals/disablings.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { type ActivityRow, listActivity } from '#storage/repositories/accounts/activity.ts';
import { type Html, html } from '../pages/html.ts';
import { membershipOf, withPermission } from './hooks/access.ts';
import type { PanelDependencies } from './hooks/dependencies.ts';
import { texts } from './hooks/language.ts';
import { dateTime, exactTime, percent } from './kit/format.ts';
import { PlaceQuery, readPage, renderList } from './kit/list.ts';
import { ownUrl } from './kit/navigation.ts';
import { PLACES } from './kit/places.ts';
import type { PanelTexts } from './texts/panel-texts.ts';

const PAGE_SIZE = 25;
/** Longest value that is shown, in characters, and most values of an entry, so that a page stays small. */
const VALUE_SHOWN = 120;
const VALUES_SHOWN = 12;
/** Fields that are not shown: the account itself, which every entry is about, and a price in an internal unit. */
const HIDDEN = ['merchantId', 'merchantIds', 'partnerId', 'accountId', 'usdPrice'];
/** Kinds of changes are not shown, because the text of the action says them. */
const CHANGE_KIND = /^\w+\.[\w-]+$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/** The audit log of an account, for its admins or owners. */
export function registerActivity(app: TypedApp, deps: PanelDependencies): void {
  for (const kind of ['merchant', 'partner'] as const) {
    const place = PLACES[kind].activity;
    const reading = withPermission(kind, 'activity.read', { querystring: PlaceQuery });
    app.get(`/${kind}s/:accountId${place}`, reading, async request => {
      const { query } = request;
      const words = texts(request);
      const { accountId } = membershipOf(request);
      const { title, lead, none } = words.activity;
      const content = renderList(words, {
        url: ownUrl(request, place),
        query,
        page: await readPage(query, PAGE_SIZE, (cursor, limit) =>
          listActivity(deps.reports, accountId, cursor, limit),
        ),
        render: rows => html`<ul class="rows">${rows.map(row => renderEntry(words, row))}</ul>`,
        none,
      });
      return { title, lead, content };
    });
  }
}

/** First what was done, with its details; then who did it, when and from where. */
function renderEntry(words: PanelTexts, row: ActivityRow): Html {
  const { actor, address, at, person_name: personName } = row;
  const who = personName === null ? actor : words.activity.person(personName, actor);
  return html`<li><div>${renderChange(words, row)}
<span class="quiet">${words.activity.made(who, exactTime(words, at), originOf(words, row), address)}</span></div></li>`;
}

/** What was done, to what, and the details that were recorded. */
function renderChange(words: PanelTexts, row: ActivityRow): Html {
  const { actions, fields } = words.activity;
  const { action, object_id: id, object_name: objectName } = row;
  const what = actions[action] ?? html`<code>${action}</code>`;
  const object = objectName ?? (id === row.account_id ? null : html`<code>${id}</code>`);
  const values = valuesOf(row);
  return html`<strong>${what}</strong>${object !== null && html`: ${object}`}<br>
${values.map(([key, value]) => html`<span class="quiet">${fields[key] ?? html`<code>${key}</code>`}:</span> ${renderValue(words, key, value)}<br>`)}`;
}

function valuesOf({
  detail,
  object_name: objectName,
  replaced_name: replacedName,
}: ActivityRow): [string, unknown][] {
  if (typeof detail !== 'object' || detail === null) return [];
  const named = replacedName === null ? detail : { ...detail, replaced: replacedName };
  return Object.entries(named)
    .filter(([name]) => !HIDDEN.includes(name))
    .filter(([name, value]) => name !== 'kind' || !CHANGE_KIND.test(String(value)))
    .filter(([, value]) => value === null || value !== objectName)
    .slice(0, VALUES_SHOWN);
}

function renderValue(words: PanelTexts, name: string, value: unknown): Html | string {
  const { nothing, yes, no } = words.activity;
  if (value === null) return nothing;
  if (typeof value === 'number' && name.endsWith('_bps')) return percent(value);
  if (typeof value === 'boolean') return value ? yes : no;
  if (typeof value === 'string' && TIME.test(value)) return dateTime(words, value);
  const values = Array.isArray(value) ? value : [value];
  return shorten(values.map(each => textOf(words, name, each)).join(', '));
}

function textOf({ keys, webhooks }: PanelTexts, name: string, value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  if (name === 'reason') return wordDisabling(webhooks.disablings, value);
  // Values that are recorded under internal names.
  const named: Readonly<Partial<Record<string, Readonly<Partial<Record<string, string>>>>>> = {
    scopes: keys.scopes,
    problem: webhooks.problems,
  };
  return named[name]?.[value] ?? value;
}

function shorten(text: string): string {
  return text.length > VALUE_SHOWN ? `${text.slice(0, VALUE_SHOWN)}…` : text;
}

function originOf({ activity }: PanelTexts, { origin }: ActivityRow): Html | string {
  const { operator, ...origins } = activity.origins;
  return origin === null || origin === 'cli' ? operator : origins[origin];
}
