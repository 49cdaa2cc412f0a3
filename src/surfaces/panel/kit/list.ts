import { Type } from '@sinclair/typebox';
import { Uuid } from '#schemas/scalars.ts';
import { type Html, html } from '../../pages/html.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import { renderFilters, renderNoMatch } from './filters.ts';
import { addressOf } from './page-address.ts';
import { renderNoneFurther, renderPaging } from './table.ts';

/** Where a page of a list begins: the IDs of the rows right before and after it. */
export const PlaceQuery = Type.Object({
  after: Type.Optional(Uuid('Only older ones.')),
  before: Type.Optional(Uuid('Only newer ones, where there is no `after`.')),
});

/** Parameters that say where a page begins; all others of a list filter it. */
const PLACES: readonly string[] = ['after', 'before', 'page', 'told'];

type Query = Readonly<Record<string, string | number | undefined>>;
type Place = Readonly<Record<string, string | undefined>>;

/** A page of a list. */
interface ListPage<Row> {
  readonly rows: readonly Row[];
  /** Parameters of the pages before and after it, none for the first page; null where there is no such page. */
  readonly newer: Place | null;
  readonly older: Place | null;
}

/** Reads at most `limit` rows of a list next to one, the nearest first; without a cursor the newest. */
export type ReadRows<Row> = (
  cursor: { readonly direction: 'newer' | 'older'; readonly id: string } | undefined,
  limit: number,
) => Promise<readonly Row[]>;

/**
 * Reads the page of a list that a query asks for, newest first.
 * @param size Most rows of a page.
 */
export async function readPage<Row extends { readonly id: string }>(
  { after, before }: { readonly after?: string | undefined; readonly before?: string | undefined },
  size: number,
  read: ReadRows<Row>,
): Promise<ListPage<Row>> {
  const id = after ?? before;
  const direction = after === undefined && before !== undefined ? 'newer' : 'older';
  // One more row than is shown, to tell whether there are more.
  const found = await read(id === undefined ? undefined : { direction, id }, size + 1);
  const hasMore = found.length > size;
  const page = found.slice(0, size);
  const rows = direction === 'newer' ? page.toReversed() : page;
  const [hasNewer, hasOlder] =
    direction === 'newer' ? [hasMore, true] : [id !== undefined, hasMore];
  const [first, last] = [rows[0], rows.at(-1)];
  return {
    rows,
    newer: hasNewer && first !== undefined ? { before: first.id } : null,
    older: hasOlder && last !== undefined ? { after: last.id } : null,
  };
}

/**
 * A page of a list that is read by page numbers, the first of which is 1.
 * @param total How many rows all pages have.
 */
export function numberedPage<Row>(
  rows: readonly Row[],
  place: { readonly page?: number | undefined; readonly size: number; readonly total: number },
): ListPage<Row> {
  const { page = 1, size, total } = place;
  const last = Math.ceil(total / size);
  const at = (number: number): Place => (number === 1 ? {} : { page: String(number) });
  return {
    rows,
    newer: page > 1 && page <= last ? at(page - 1) : null,
    older: page < last ? at(page + 1) : null,
  };
}

/** A page of a list that was read whole: the rows after the one with the ID; none for an unknown ID. */
export function pageAfter<Row extends { readonly id: string }>(
  rows: readonly Row[],
  after: string | undefined,
  size: number,
): ListPage<Row> {
  const index = rows.findIndex(({ id }) => id === after);
  const rest = after === undefined ? rows : index === -1 ? [] : rows.slice(index + 1);
  return pageOf(rest, size);
}

/** The first page of rows that are read in one direction, of which there are more than its size if more follow. */
export function pageOf<Row extends { readonly id: string }>(
  rows: readonly Row[],
  size: number,
): ListPage<Row> {
  const shown = rows.slice(0, size);
  const last = rows.length > size ? shown.at(-1) : undefined;
  return { rows: shown, newer: null, older: last === undefined ? null : { after: last.id } };
}

/** A list as a page shows it. */
interface List<Row> {
  /** Where it is, with the base path. */
  readonly url: string;
  /** What it was asked for. */
  readonly query: Query;
  /** Fields of the form that filters it. */
  readonly filters?: readonly Html[];
  readonly page: ListPage<Row>;
  readonly render: (rows: readonly Row[]) => Html;
  /** The link to the page that follows, in a list that is not in the order of time. */
  readonly more?: string;
  /** Shown while the list is empty. */
  readonly none: Html | string;
  /** Shown where no row matches the filters, instead of `none`. */
  readonly noMatch?: string;
  /** Shown where none has matched so far, and older ones may: a page looks at a bounded number of rows. */
  readonly noneYet?: string;
  /** Where the list can be downloaded as a file. */
  readonly download?: Html | null;
}

/** A page of a list with its filters and the links to other pages, or why it has no rows. */
export function renderList<Row>(words: PanelTexts, list: List<Row>): Html {
  const { url, query, filters = [], render, more, download = null } = list;
  const { none, noMatch, noneYet = '' } = list;
  const { rows, newer, older } = list.page;
  const own = filtersIn(query);
  const isFiltered = Object.keys(own).length > 0;
  const isFirst = PLACES.every(name => query[name] === undefined);
  const { pages } = words.lists;
  const isToFirst = newer !== null && Object.keys(newer).length === 0;
  const labels = { newer: isToFirst ? pages.newest : pages.newer, older: more ?? pages.older };
  const renderEmpty = () => {
    if (older !== null) return html`<p>${noneYet}</p>`;
    if (!isFirst) return renderNoneFurther(words, addressOf(url, own));
    if (!isFiltered || noMatch === undefined) return html`<p>${none}</p>`;
    return renderNoMatch(words, noMatch, url);
  };
  const link = (place: Place | null) => place && addressOf(url, { ...own, ...place });
  return html`${filters.length > 0 && (rows.length > 0 || isFiltered) && renderFilters(words, url, filters)}
${rows.length === 0 ? renderEmpty() : render(rows)}
<div class="buttons">${renderPaging(words, link(newer), link(older), labels)}
${(rows.length > 0 || older !== null) && download}</div>`;
}

/** The parameters of a query that filter a list. */
export function filtersIn(query: Query): Record<string, string> {
  return Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) =>
      value === undefined || PLACES.includes(name) ? [] : [[name, String(value)]],
    ),
  );
}
