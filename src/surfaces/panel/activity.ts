import { type Static, Type } from '@sinclair/typebox';
import type { TypedApp } from '#http/typed-app.ts';
import { Uuid } from '#schemas/scalars.ts';
import { type ActivityRow, listActivity } from '#storage/repositories/accounts/activity.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import { basePathOf } from '../pages/base-path.ts';
import { type Html, html } from '../pages/html.ts';
import { membershipOf, withPermission } from './hooks/access.ts';
import type { PanelDependencies } from './hooks/dependencies.ts';
import { dateTime, percent } from './kit/format.ts';
import { accountPath } from './kit/navigation.ts';
import { addressOf } from './kit/page-address.ts';
import { PLACES } from './kit/places.ts';
import { isFirstPage, renderNoneFurther, renderPaging } from './kit/table.ts';
import { texts } from './texts/index.ts';

const PAGE_SIZE = 25;
/** Longest value that is shown, in characters, and most values of an entry, so that a page stays small. */
const VALUE_SHOWN = 120;
const VALUES_SHOWN = 12;
/** Fields that are not shown: the account itself, which every entry is about, and a price in an internal unit. */
const HIDDEN = ['merchantId', 'merchantIds', 'partnerId', 'accountId', 'usdPrice'];
/** Kinds of changes are not shown, because the text of the action says them. */
const CHANGE_KIND = /^\w+\.[\w-]+$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

const words = texts.activity;
/** Texts for values that are recorded under internal names, by field. */
const VALUES: Readonly<Partial<Record<string, Readonly<Partial<Record<string, string>>>>>> = {
  scopes: texts.keys.scopes,
  problem: texts.webhooks.problems,
};

const ActivityQuery = Type.Object({
  /** IDs of the entries right before and after the page. */
  after: Type.Optional(Uuid('Only older ones.')),
  before: Type.Optional(Uuid('Only newer ones, where there is no `after`.')),
});

/** The audit log of an account, for its admins or owners. */
export function registerActivity(app: TypedApp, deps: PanelDependencies): void {
  registerActivityOf('merchant', app, deps);
  registerActivityOf('partner', app, deps);
}

function registerActivityOf(
  kind: Membership['kind'],
  app: TypedApp,
  { panelUrl, reports }: PanelDependencies,
): void {
  const reading = withPermission(kind, 'activity.read', { querystring: ActivityQuery });
  app.get(`/${kind}s/:accountId${PLACES[kind].activity}`, reading, async request => {
    const membership = membershipOf(request);
    const url = basePathOf(panelUrl) + accountPath(membership) + PLACES[kind].activity;
    const { rows, newer, older } = await readPage(membership.accountId, request.query);
    const { title, lead, none } = words;
    return {
      title,
      lead,
      content:
        rows.length === 0
          ? isFirstPage(request.query)
            ? html`<p>${none}</p>`
            : renderNoneFurther(url)
          : html`<ul class="rows">${rows.map(renderEntry)}</ul>
${renderPaging(newer && addressOf(url, { before: newer }), older && addressOf(url, { after: older }))}`,
    };
  });

  async function readPage(accountId: string, { after, before }: Static<typeof ActivityQuery>) {
    const id = after ?? before;
    const isNewer = after === undefined && before !== undefined;
    const cursor =
      id === undefined ? undefined : ({ direction: isNewer ? 'newer' : 'older', id } as const);
    const found = await listActivity(reports, accountId, cursor, PAGE_SIZE + 1);
    const hasMore = found.length > PAGE_SIZE;
    const page = found.slice(0, PAGE_SIZE);
    const rows = isNewer ? page.toReversed() : page;
    const [hasNewer, hasOlder] = isNewer ? [hasMore, true] : [after !== undefined, hasMore];
    return {
      rows,
      newer: hasNewer ? (rows[0]?.id ?? null) : null,
      older: hasOlder ? (rows.at(-1)?.id ?? null) : null,
    };
  }
}

/** First what was done, with its details; then who did it, when and from where. */
function renderEntry(row: ActivityRow): Html {
  const { actor, address, at, person_name: personName } = row;
  const who = personName === null ? actor : words.person(personName, actor);
  return html`<li><div>${renderChange(row)}
<span class="quiet">${words.made(who, dateTime(at), originOf(row), address)}</span></div></li>`;
}

/** What was done, to what, and the details that were recorded. */
function renderChange(row: ActivityRow): Html {
  const { action, object_id: id, object_name: objectName } = row;
  const what = words.actions[action] ?? html`<code>${action}</code>`;
  const object = objectName ?? (id === row.account_id ? null : html`<code>${id}</code>`);
  const values = valuesOf(row);
  return html`<strong>${what}</strong>${object !== null && html`: ${object}`}<br>
${values.map(([key, value]) => html`<span class="quiet">${words.fields[key] ?? html`<code>${key}</code>`}:</span> ${renderValue(key, value)}<br>`)}`;
}

function valuesOf({ detail, object_name: objectName }: ActivityRow): [string, unknown][] {
  if (typeof detail !== 'object' || detail === null) return [];
  return Object.entries(detail)
    .filter(([name]) => !HIDDEN.includes(name))
    .filter(([name, value]) => name !== 'kind' || !CHANGE_KIND.test(String(value)))
    .filter(([, value]) => value === null || value !== objectName)
    .slice(0, VALUES_SHOWN);
}

function renderValue(name: string, value: unknown): Html | string {
  if (value === null) return words.nothing;
  if (typeof value === 'number' && name.endsWith('_bps')) return percent(value);
  if (typeof value === 'boolean') return value ? words.yes : words.no;
  if (typeof value === 'string' && TIME.test(value)) return dateTime(value);
  const values = Array.isArray(value) ? value : [value];
  return shorten(values.map(each => textOf(name, each)).join(', '));
}

function textOf(name: string, value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  return VALUES[name]?.[value] ?? value;
}

function shorten(text: string): string {
  return text.length > VALUE_SHOWN ? `${text.slice(0, VALUE_SHOWN)}…` : text;
}

function originOf({ origin }: ActivityRow): Html | string {
  const { operator, ...origins } = words.origins;
  return origin === null || origin === 'cli' ? operator : origins[origin];
}
