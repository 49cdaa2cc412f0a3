import { type Static, Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { isChangeAllowed } from '#accounts/access/permissions.ts';
import { UNMATCHED_REASONS } from '#onchain/settlement/unmatched-reasons.ts';
import { parseDollars } from '#payments/dollars.ts';
import { BlockchainIdSchema } from '#schemas/blockchain.ts';
import { StringEnum, Uuid } from '#schemas/scalars.ts';
import type { Deposit, DepositOutcome } from '#storage/database/deposit-tables.ts';
import { listSharedAddresses } from '#storage/repositories/accounts/address-holders.ts';
import {
  countSharedUnmatched,
  type InboxFilters,
  listOwnUnmatched,
} from '#storage/repositories/deposits/account-deposits.ts';
import { type Html, html } from '../../../pages/html.ts';
import { membershipOf } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { texts } from '../../hooks/language.ts';
import type { PanelPage } from '../../kit/document.ts';
import { renderChoice, renderFilters } from '../../kit/filters.ts';
import { type FormFault, renderField } from '../../kit/form.ts';
import { dateTime, dollars } from '../../kit/format.ts';
import { filtersIn, pageOf, renderList } from '../../kit/list.ts';
import { ownUrl } from '../../kit/navigation.ts';
import { type NamedNetworks, nameAmount, nameNetwork, networkChoices } from '../../kit/networks.ts';
import { addressOf } from '../../kit/page-address.ts';
import { type Column, renderTable } from '../../kit/table.ts';
import type { PanelTexts } from '../../texts/panel-texts.ts';
import { reasonOf } from './reason.ts';
import { type RemedyFields, renderRemedy } from './remedy.ts';

/** Most shared addresses that are listed: there are few, unless an operator shares all. */
const SHARED_SHOWN = 5;
/** Most deposits of a page. */
export const INBOX_PAGE_SIZE = 25;
/** Hidden deposits are counted up to this. */
const HIDDEN_MAXIMUM = 100;

/** The filters of the inbox, and its page. */
export const InboxQuery = Type.Object({
  why: Type.Optional(StringEnum(Object.keys(UNMATCHED_REASONS) as DepositOutcome[], 'Why.')),
  network: Type.Optional(BlockchainIdSchema),
  /** Dollars as people write them. */
  worth: Type.Optional(Type.String()),
  after: Type.Optional(Uuid('ID of the last deposit of the page before.')),
});
type InboxRequest = Static<typeof InboxQuery>;

/** Which deposits the inbox shows. */
export function shownBy({ why, network, worth = '' }: InboxRequest): InboxFilters {
  return { outcome: why, blockchainId: network, valueMaximum: parseDollars(worth) };
}

/** Why the inbox cannot be filtered like this; null if it can. */
export function faultOfInbox({ payments }: PanelTexts, { worth }: InboxRequest): FormFault | null {
  if (worth === undefined || parseDollars(worth) !== undefined) return null;
  return { field: 'worth', message: payments.filters.noAmount };
}

/** The form to dismiss some, when it was refused. */
interface RefusedDismissal {
  readonly fault: FormFault;
  readonly chosen: readonly string[];
  readonly fields: RemedyFields;
}

/** Deposits that wait; the filters alone where one of them is wrong. */
export async function inboxPage(
  request: FastifyRequest,
  deps: PanelDependencies,
  networks: NamedNetworks,
  query: InboxRequest,
  refused: RefusedDismissal | null = null,
): Promise<PanelPage> {
  const { reports } = deps;
  const words = texts(request);
  const { title, lead, none, noMatch } = words.unmatched;
  const { download, pages } = words.lists;
  const membership = membershipOf(request);
  const { accountId } = membership;
  const url = ownUrl(request, '/unmatched');
  const fault = faultOfInbox(words, query);
  const filters = inboxFilters(words, query, networks, fault);
  if (fault !== null) return { title, fault, content: renderFilters(words, url, filters) };
  // One more than is shown, to tell whether there are more.
  const place = { after: query.after, limit: INBOX_PAGE_SIZE + 1 };
  const [deposits, hidden, shared] = await Promise.all([
    listOwnUnmatched(reports, accountId, shownBy(query), place),
    countSharedUnmatched(reports, accountId, HIDDEN_MAXIMUM),
    listSharedAddresses(reports, accountId),
  ]);
  const file = addressOf(`${url}.csv`, filtersIn(query));
  const action = addressOf(`${url}/dismiss`, filtersIn(query));
  const chosen = isChangeAllowed(membership, 'deposits.settle') ? (refused?.chosen ?? []) : null;
  const columns = columnsOf(words, url, networks, chosen);
  const render = (rows: readonly Deposit[]) => {
    const table = renderTable(title, columns, rows);
    return chosen === null ? table : renderDismissal(words, action, table, refused);
  };
  return {
    title,
    lead,
    fault: refused?.fault ?? null,
    content: html`${renderList(words, {
      url,
      query,
      filters,
      page: pageOf(deposits, INBOX_PAGE_SIZE),
      render,
      none,
      noMatch,
      more: pages.next,
      download: html`<a href="${file}" download>${download}</a>`,
    })}
${renderShared(words, shared)}
${renderHidden(words, hidden)}`,
  };
}

function inboxFilters(
  words: PanelTexts,
  query: InboxRequest,
  networks: NamedNetworks,
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

/** The table with the form that dismisses what is ticked in it. */
function renderDismissal(
  words: PanelTexts,
  action: string,
  table: Html,
  refused: RefusedDismissal | null,
): Html {
  const { dismissal } = words.unmatched;
  return html`<form method="post" action="${action}">${table}
<details${refused !== null && html` open`}><summary>${dismissal.several}</summary>
<div class="stack">${renderRemedy(words, refused?.fault ?? null, refused?.fields)}
<button class="danger">${dismissal.submit}</button></div></details></form>`;
}

/** @param chosen IDs that are ticked; null for a reader who may not dismiss any. */
function columnsOf(
  words: PanelTexts,
  url: string,
  networks: NamedNetworks,
  chosen: readonly string[] | null,
): Column<Deposit>[] {
  const { confirming, dismissal, facts, final, unknownValue } = words.unmatched;
  const tick = (id: string) =>
    chosen !== null &&
    html`<input type="checkbox" name="deposit" value="${id}" aria-label="${dismissal.tick}"${chosen.includes(id) && html` checked`}> `;
  return [
    {
      title: facts.amount,
      cell: ({ id, blockchain_id: network, token_amount: units }) =>
        html`${tick(id)}<a href="${url}/${id}">${nameAmount(networks, network, units)}</a>`,
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
function renderShared({ unmatched }: PanelTexts, shared: readonly string[]): Html | null {
  if (shared.length === 0) return null;
  const named = shared.slice(0, SHARED_SHOWN);
  const list = named.map((address, at) => html`${at > 0 && ', '}<code>${address}</code>`);
  return html`<p class="notice">${unmatched.shared(html`${list}`, shared.length - named.length)}</p>`;
}

/** Says that there are deposits which this account may not see, and who can see them. */
function renderHidden({ unmatched }: PanelTexts, hidden: number): Html | null {
  if (hidden === 0) return null;
  const command = html`<code>mp deposit list --unmatched</code>`;
  return html`<p class="notice">${unmatched.hidden(hidden, hidden === HIDDEN_MAXIMUM, command)}</p>`;
}
