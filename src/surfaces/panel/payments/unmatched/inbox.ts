import { type Static, Type } from '@sinclair/typebox';
import { UNMATCHED_REASONS } from '#onchain/settlement/unmatched-reasons.ts';
import { parseDollars } from '#payments/dollars.ts';
import { BlockchainIdSchema } from '#schemas/blockchain.ts';
import { StringEnum, Uuid } from '#schemas/scalars.ts';
import type { Deposit, DepositOutcome } from '#storage/database/deposit-tables.ts';
import type { InboxFilters } from '#storage/repositories/deposits/account-deposits.ts';
import { type Html, html } from '../../../pages/html.ts';
import type { PanelPage } from '../../kit/document.ts';
import { renderChoice, renderFilters } from '../../kit/filters.ts';
import { type FormFault, renderField } from '../../kit/form.ts';
import { dateTime, dollars } from '../../kit/format.ts';
import { filtersIn, type ListPage, renderList } from '../../kit/list.ts';
import { type NamedNetworks, nameAmount, nameNetwork, networkChoices } from '../../kit/networks.ts';
import { addressOf } from '../../kit/page-address.ts';
import { type Column, renderTable } from '../../kit/table.ts';
import type { PanelTexts } from '../../texts/panel-texts.ts';
import { reasonOf } from './reason.ts';
import { type RemedyFields, renderRemedy } from './remedy.ts';

/** Most shared addresses that are listed: there are few, unless an operator shares all. */
const SHARED_SHOWN = 5;

/** The filters of the inbox, and its page. */
export const InboxQuery = Type.Object({
  why: Type.Optional(StringEnum(Object.keys(UNMATCHED_REASONS) as DepositOutcome[], 'Why.')),
  network: Type.Optional(BlockchainIdSchema),
  /** Dollars as people write them. */
  worth: Type.Optional(Type.String()),
  after: Type.Optional(Uuid('ID of the last deposit of the page before.')),
});
export type InboxRequest = Static<typeof InboxQuery>;

/** Which deposits the inbox shows. */
export function shownBy({ why, network, worth = '' }: InboxRequest): InboxFilters {
  return { outcome: why, blockchainId: network, valueMaximum: parseDollars(worth) };
}

/** Why the inbox cannot be filtered like this; null if it can. */
export function faultOfInbox({ payments }: PanelTexts, { worth }: InboxRequest): FormFault | null {
  if (worth === undefined || parseDollars(worth) !== undefined) return null;
  return { field: 'worth', message: payments.filters.noAmount };
}

interface InboxParts {
  /** The page's address, with the base path. */
  readonly url: string;
  readonly query: InboxRequest;
  readonly networks: NamedNetworks;
  readonly page: ListPage<Deposit>;
  /** How many more are at addresses that other accounts have too, counted up to a maximum. */
  readonly hidden: number;
  readonly hiddenMaximum: number;
  /** Addresses that another account also has. */
  readonly sharedAddresses: readonly string[];
  /** Whether the reader may dismiss them. */
  readonly maySettle: boolean;
  /** The form to dismiss some, when it was refused; null at first. */
  readonly refused: RefusedDismissal | null;
}

export interface RefusedDismissal {
  readonly fault: FormFault;
  readonly chosen: readonly string[];
  readonly fields: RemedyFields;
}

export function inboxPage(words: PanelTexts, parts: InboxParts): PanelPage {
  const { url, query, page, refused } = parts;
  const { title, lead, none, noMatch } = words.unmatched;
  const { download, pages } = words.lists;
  const file = addressOf(`${url}.csv`, filtersIn(query));
  return {
    title,
    lead,
    fault: refused?.fault ?? null,
    content: html`${renderList(words, {
      url,
      query,
      filters: inboxFilters(words, parts, null),
      page,
      render: deposits => renderDeposits(words, parts, deposits),
      none,
      noMatch,
      more: pages.next,
      download: html`<a href="${file}" download>${download}</a>`,
    })}
${renderShared(words, parts)}
${renderHidden(words, parts)}`,
  };
}

/** The inbox of which only the filters are shown, since one of them is wrong. */
export function wronglyFilteredPage(
  words: PanelTexts,
  parts: Pick<InboxParts, 'url' | 'query' | 'networks'>,
  fault: FormFault,
): PanelPage {
  const fields = inboxFilters(words, parts, fault);
  return { title: words.unmatched.title, fault, content: renderFilters(words, parts.url, fields) };
}

function inboxFilters(
  words: PanelTexts,
  { query, networks }: Pick<InboxParts, 'query' | 'networks'>,
  fault: FormFault | null,
): Html[] {
  const { facts, filters, reasons } = words.unmatched;
  const why = Object.entries(reasons).map(([id, { short }]) => [id, short] as const);
  const worth = {
    name: 'worth',
    label: filters.worth,
    placeholder: filters.worthHint,
    value: query.worth,
    required: false,
  };
  return [
    renderChoice(words, 'why', facts.reason, why, query.why),
    renderChoice(words, 'network', facts.network, networkChoices(words, networks), query.network),
    renderField(worth, fault),
  ];
}

function renderDeposits(words: PanelTexts, parts: InboxParts, deposits: readonly Deposit[]): Html {
  const { url, query, maySettle, refused } = parts;
  const { title, dismissal } = words.unmatched;
  const table = renderTable<Deposit>(title, columnsOf(words, parts), deposits);
  if (!maySettle) return table;
  return html`<form method="post" action="${addressOf(`${url}/dismiss`, filtersIn(query))}">${table}
<details${refused !== null && html` open`}><summary>${dismissal.several}</summary>
<div class="stack">${renderRemedy(words, refused?.fault ?? null, refused?.fields)}
<button class="danger">${dismissal.submit}</button></div></details></form>`;
}

function columnsOf(
  words: PanelTexts,
  { url, networks, maySettle, refused }: InboxParts,
): Column<Deposit>[] {
  const { confirming, dismissal, facts, final, unknownValue } = words.unmatched;
  const tick = (id: string) => {
    const isChosen = refused?.chosen.includes(id) === true;
    return html`<input type="checkbox" name="deposit" value="${id}" aria-label="${dismissal.tick}"${isChosen && html` checked`}> `;
  };
  return [
    {
      title: facts.amount,
      cell: ({ id, blockchain_id: network, token_amount: units }) =>
        html`${maySettle && tick(id)}<a href="${url}/${id}">${nameAmount(networks, network, units)}</a>`,
    },
    {
      title: facts.value,
      cell: ({ value_cents: cents }) => (cents === null ? unknownValue : dollars(cents)),
      number: true,
    },
    { title: facts.reason, cell: ({ outcome }) => reasonOf(words, outcome).short, secondary: true },
    { title: facts.arrived, cell: ({ observed_at: at }) => dateTime(words, at), secondary: true },
    {
      title: facts.network,
      cell: ({ blockchain_id: id }) => nameNetwork(words, networks, id),
      secondary: true,
    },
    {
      title: facts.state,
      cell: ({ state }) => (state === 'final' ? final : confirming),
      secondary: true,
    },
  ];
}

/** Says which addresses another account has too, a few of them by name. */
function renderShared({ unmatched }: PanelTexts, parts: InboxParts): Html | null {
  const { sharedAddresses: shared } = parts;
  if (shared.length === 0) return null;
  const named = shared.slice(0, SHARED_SHOWN);
  const list = named.map((address, at) => html`${at > 0 && ', '}<code>${address}</code>`);
  return html`<p class="notice">${unmatched.shared(html`${list}`, shared.length - named.length)}</p>`;
}

/** Says that there are deposits which this account may not see, and who can see them. */
function renderHidden(
  { unmatched }: PanelTexts,
  { hidden, hiddenMaximum }: InboxParts,
): Html | null {
  if (hidden === 0) return null;
  const command = html`<code>mp deposit list --unmatched</code>`;
  return html`<p class="notice">${unmatched.hidden(hidden, hidden === hiddenMaximum, command)}</p>`;
}
