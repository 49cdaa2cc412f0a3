import type { FastifyRequest } from 'fastify';
import { isChangeAllowed } from '#accounts/access/permissions.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { csvParts } from '#payments/csv.ts';
import { formatBaseUnits } from '#payments/token-amount.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import { listSharedAddresses } from '#storage/repositories/accounts/address-holders.ts';
import {
  countSharedUnmatched,
  type InboxFilters,
  listOwnUnmatched,
} from '#storage/repositories/deposits/account-deposits.ts';
import { utcDay } from '#time/days.ts';
import { basePathOf } from '../../../pages/base-path.ts';
import { membershipOf, withPermission } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { texts } from '../../hooks/language.ts';
import type { PanelPage } from '../../kit/document.ts';
import { EXPORT_PAGE, type Exports } from '../../kit/exports.ts';
import { filtersIn, pageOf } from '../../kit/list.ts';
import { accountPath } from '../../kit/navigation.ts';
import { rememberNetworks } from '../../kit/networks.ts';
import { addressOf } from '../../kit/page-address.ts';
import { redirectTo } from '../../kit/pages.ts';
import { registerAssignments } from './assign.ts';
import { createDepositPages, DEPOSIT_PATH, DepositParams, INBOX_PATH } from './deposit-page.ts';
import { INBOX_PAGE_SIZE, registerDismissals } from './dismiss.ts';
import { DEPOSIT_COLUMNS, type ExportedDeposit } from './export-columns.ts';
import {
  faultOfInbox,
  InboxQuery,
  type InboxRequest,
  inboxPage,
  type RefusedDismissal,
  shownBy,
  wronglyFilteredPage,
} from './inbox.ts';

/** Hidden deposits are counted up to this. */
const HIDDEN_MAXIMUM = 100;

/** Deposits that no payment took: an inbox to assign or dismiss them. */
export function registerUnmatched(app: TypedApp, deps: PanelDependencies, exports: Exports): void {
  const { clock, panelUrl, reports } = deps;
  const readNetworks = rememberNetworks(reports);
  const pages = createDepositPages(deps);
  const pathOf = (request: FastifyRequest) => `${accountPath(membershipOf(request))}/unmatched`;

  registerAssignments(app, deps, pages);
  registerDismissals(app, deps, pages, list);

  const listing = withPermission('merchant', 'deposits.read', { querystring: InboxQuery });
  app.get(INBOX_PATH, listing, request => list(request, request.query, null));

  const reading = withPermission('merchant', 'deposits.read', { params: DepositParams });
  app.get(DEPOSIT_PATH, reading, request => pages.show(request));

  app.get(`${INBOX_PATH}.csv`, listing, (request, reply) => {
    const { query } = request;
    // The list says what is wrong with its filters.
    if (faultOfInbox(texts(request), query) !== null) {
      return redirectTo(addressOf(pathOf(request), filtersIn(query)));
    }
    const { why, network, worth } = query;
    const all = readAll(membershipOf(request).accountId, shownBy(query));
    return exports.send(request, reply, {
      name: `unmatched-${utcDay(new Date(clock()))}.csv`,
      action: 'deposit.export',
      filters: { why, network, worth },
      parts: csvParts(DEPOSIT_COLUMNS, all),
    });
  });

  async function list(
    request: FastifyRequest,
    query: InboxRequest,
    refused: RefusedDismissal | null,
  ): Promise<PanelPage> {
    const words = texts(request);
    const membership = membershipOf(request);
    const { accountId } = membership;
    const networks = await readNetworks();
    const frame = { url: basePathOf(panelUrl) + pathOf(request), query, networks };
    const fault = faultOfInbox(words, query);
    if (fault !== null) return wronglyFilteredPage(words, frame, fault);
    // One more than is shown, to tell whether there are more.
    const place = { after: query.after, limit: INBOX_PAGE_SIZE + 1 };
    const [deposits, hidden, sharedAddresses] = await Promise.all([
      listOwnUnmatched(reports, accountId, shownBy(query), place),
      countSharedUnmatched(reports, accountId, HIDDEN_MAXIMUM),
      listSharedAddresses(reports, accountId),
    ]);
    return inboxPage(words, {
      ...frame,
      page: pageOf(deposits, INBOX_PAGE_SIZE),
      refused,
      hidden,
      hiddenMaximum: HIDDEN_MAXIMUM,
      sharedAddresses,
      maySettle: isChangeAllowed(membership, 'deposits.settle'),
    });
  }

  /** All deposits of the inbox, in pages. */
  async function* readAll(
    merchantId: string,
    filters: InboxFilters,
  ): AsyncGenerator<ExportedDeposit[]> {
    const networks = await readNetworks();
    // Once it is valued, such a deposit comes again, at its new place.
    const unvalued = new Set<string>();
    let after: Deposit | undefined;
    do {
      const page = await listOwnUnmatched(reports, merchantId, filters, {
        after,
        limit: EXPORT_PAGE,
      });
      const rows = page.filter(({ id }) => !unvalued.has(id));
      for (const { id, value_cents: cents } of rows) if (cents === null) unvalued.add(id);
      yield rows.map(deposit => {
        const { asset_decimals: decimals, asset_symbol: asset = null } =
          networks.get(deposit.blockchain_id) ?? {};
        const units = BigInt(deposit.token_amount);
        const amount = decimals === undefined ? null : formatBaseUnits(units, decimals);
        return { ...deposit, amount, asset };
      });
      after = page.length < EXPORT_PAGE ? undefined : page.at(-1);
    } while (after !== undefined);
  }
}
