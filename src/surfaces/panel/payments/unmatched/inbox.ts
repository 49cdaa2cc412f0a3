import { type Static, Type } from '@sinclair/typebox';
import { UNMATCHED_REASONS } from '#onchain/settlement/unmatched-reasons.ts';
import { parseDollars, toDollarText } from '#payments/dollars.ts';
import { formatBaseUnits } from '#payments/token-amount.ts';
import { BLOCKCHAIN_IDS, BlockchainIdSchema } from '#schemas/blockchain.ts';
import { StringEnum, Uuid } from '#schemas/scalars.ts';
import type { Deposit, DepositOutcome } from '#storage/database/deposit-tables.ts';
import type { InboxFilters } from '#storage/repositories/deposits/account-deposits.ts';
import type { DepositContext } from '#storage/repositories/deposits/context.ts';
import { type Html, html } from '../../../pages/html.ts';
import type { PanelPage } from '../../kit/document.ts';
import { renderChoice, renderFilters, renderNoMatch } from '../../kit/filters.ts';
import { type FormFault, renderField } from '../../kit/form.ts';
import { dateTime, dollars } from '../../kit/format.ts';
import { addressOf } from '../../kit/page-address.ts';
import { type Column, renderNoneFurther, renderTable } from '../../kit/table.ts';
import { texts } from '../../texts/index.ts';
import { reasonOf } from './reason.ts';
import { type RemedyFields, renderRemedy } from './remedy.ts';

const { lists, unmatched: unmatchedTexts } = texts;
const { dismissal, facts, filters } = unmatchedTexts;

/** Most shared addresses that are listed: there are few, unless an operator shares all. */
const SHARED_SHOWN = 5;

/** What the inbox shows, by the query of its address. */
export interface InboxRequest extends InboxFilters {
  /** ID of the last deposit of the page before. */
  readonly after: string | undefined;
}

export const InboxQuery = Type.Object({
  why: Type.Optional(StringEnum(Object.keys(UNMATCHED_REASONS) as DepositOutcome[], 'Why.')),
  network: Type.Optional(BlockchainIdSchema),
  worth: Type.Optional(Type.String()),
  after: Type.Optional(Uuid('ID of the last deposit of the page before.')),
});

export function readInboxRequest(query: Static<typeof InboxQuery>): InboxRequest {
  const { why: outcome, network: blockchainId, worth, after } = query;
  const valueMaximum = worth === undefined ? undefined : parseDollars(worth);
  return { outcome, blockchainId, valueMaximum, after };
}

/** The address of the inbox with its filters. */
export function inboxUrl(
  path: string,
  { outcome: why, blockchainId: network, valueMaximum }: InboxFilters,
  after?: string,
): string {
  const worth = valueMaximum === undefined ? undefined : toDollarText(valueMaximum);
  return addressOf(path, { why, network, worth, after });
}

export interface InboxParts {
  /** The page's address, with the base path. */
  readonly url: string;
  readonly request: InboxRequest;
  readonly deposits: readonly Deposit[];
  readonly contexts: ReadonlyMap<string, DepositContext>;
  readonly hasMore: boolean;
  /** How many more are at addresses that other accounts have too, counted up to a maximum. */
  readonly hidden: number;
  readonly hiddenMaximum: number;
  /** Addresses that another account also has. */
  readonly sharedAddresses: readonly string[];
  /** Whether the reader may dismiss them. */
  readonly maySettle: boolean;
  /** The form to dismiss some, when it was refused; null at first. */
  readonly refused: {
    readonly fault: FormFault;
    readonly chosen: readonly string[];
    readonly fields: RemedyFields;
  } | null;
}

export function inboxPage(parts: InboxParts): PanelPage {
  const { url, request, deposits, hasMore, refused } = parts;
  const { outcome, blockchainId, valueMaximum, after } = request;
  const isFiltered = [outcome, blockchainId, valueMaximum].some(value => value !== undefined);
  const last = deposits.at(-1);
  const more = hasMore && last !== undefined ? inboxUrl(url, request, last.id) : null;
  const content =
    deposits.length > 0
      ? html`${renderInbox(parts)}
${more !== null && html`<nav class="buttons" aria-label="${lists.pages.title}"><a href="${more}" rel="next">${lists.pages.next}</a></nav>`}`
      : after !== undefined
        ? renderNoneFurther(texts, inboxUrl(url, request))
        : isFiltered
          ? renderNoMatch(texts, unmatchedTexts.noMatch, url)
          : html`<p>${unmatchedTexts.none}</p>`;
  return {
    title: unmatchedTexts.title,
    lead: unmatchedTexts.lead,
    fault: refused?.fault ?? null,
    content: html`${(deposits.length > 0 || isFiltered) && renderInboxFilters(url, request)}
${content}
${renderShared(parts)}
${renderHidden(parts)}`,
  };
}

function renderInboxFilters(
  url: string,
  { outcome, blockchainId, valueMaximum }: InboxRequest,
): Html {
  const reasons = Object.entries(unmatchedTexts.reasons).map(
    ([id, { short }]) => [id, short] as const,
  );
  const networks = BLOCKCHAIN_IDS.map(id => [id, id] as const);
  const worth = {
    name: 'worth',
    label: filters.worth,
    placeholder: filters.worthHint,
    value: valueMaximum === undefined ? '' : toDollarText(valueMaximum),
    required: false,
  };
  return renderFilters(texts, url, [
    renderChoice(texts, 'why', facts.reason, reasons, outcome),
    renderChoice(texts, 'network', facts.network, networks, blockchainId),
    renderField(worth),
  ]);
}

function renderInbox(parts: InboxParts): Html {
  const { url, request, deposits, maySettle, refused } = parts;
  const table = renderTable<Deposit>(unmatchedTexts.title, columnsOf(parts), deposits);
  if (!maySettle) return table;
  return html`<form method="post" action="${inboxUrl(`${url}/dismiss`, request)}">${table}
<details${refused !== null && html` open`}><summary>${dismissal.several}</summary>
<div class="stack">${renderRemedy(refused?.fault ?? null, refused?.fields)}
<button class="danger">${dismissal.submit}</button></div></details></form>`;
}

function columnsOf({ url, contexts, maySettle, refused }: InboxParts): Column<Deposit>[] {
  const tick = (id: string) => {
    const isChosen = refused?.chosen.includes(id) === true;
    return html`<input type="checkbox" name="deposit" value="${id}" aria-label="${dismissal.tick}"${isChosen && html` checked`}> `;
  };
  return [
    {
      title: facts.amount,
      cell: deposit =>
        html`${maySettle && tick(deposit.id)}<a href="${url}/${deposit.id}">${depositAmount(deposit, contexts.get(deposit.id))}</a>`,
    },
    {
      title: facts.value,
      cell: ({ value_cents: cents }) =>
        cents === null ? unmatchedTexts.unknownValue : dollars(cents),
      number: true,
    },
    { title: facts.reason, cell: ({ outcome }) => reasonOf(texts, outcome).short },
    { title: facts.arrived, cell: ({ observed_at: at }) => dateTime(texts, at), secondary: true },
    { title: facts.network, cell: ({ blockchain_id: id }) => id, secondary: true },
    {
      title: facts.state,
      cell: ({ state }) => (state === 'final' ? unmatchedTexts.final : unmatchedTexts.confirming),
      secondary: true,
    },
  ];
}

/** Says which addresses another account has too, a few of them by name. */
function renderShared({ sharedAddresses: shared }: InboxParts): Html | null {
  if (shared.length === 0) return null;
  const named = shared.slice(0, SHARED_SHOWN);
  const list = named.map((address, at) => html`${at > 0 && ', '}<code>${address}</code>`);
  return html`<p class="notice">${unmatchedTexts.shared(html`${list}`, shared.length - named.length)}</p>`;
}

/** Says that there are deposits which this account may not see, and who can see them. */
function renderHidden({ hidden, hiddenMaximum }: InboxParts): Html | null {
  if (hidden === 0) return null;
  const command = html`<code>mp deposit list --unmatched</code>`;
  return html`<p class="notice">${unmatchedTexts.hidden(hidden, hidden === hiddenMaximum, command)}</p>`;
}

/** The amount of a deposit, with its asset. */
export function depositAmount(
  { token_amount: units }: Pick<Deposit, 'token_amount'>,
  context: DepositContext | undefined,
): string {
  if (context === undefined) return units;
  return `${formatBaseUnits(BigInt(units), context.assetDecimals)} ${context.assetSymbol}`;
}
