import type { TypedApp } from '#http/typed-app.ts';
import { csvParts } from '#payments/csv.ts';
import { formatBaseUnits } from '#payments/token-amount.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import {
  type InboxFilters,
  listOwnUnmatched,
} from '#storage/repositories/deposits/account-deposits.ts';
import { utcDay } from '#time/days.ts';
import { membershipOf, withPermission } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { texts } from '../../hooks/language.ts';
import { EXPORT_PAGE, type Exports } from '../../kit/exports.ts';
import { filtersIn } from '../../kit/list.ts';
import { ownPath } from '../../kit/navigation.ts';
import { rememberNetworks } from '../../kit/networks.ts';
import { addressOf } from '../../kit/page-address.ts';
import { redirectTo } from '../../kit/pages.ts';
import { registerAssignments } from './assign.ts';
import { DEPOSIT_PATH, DepositParams, INBOX_PATH } from './deposit-parts.ts';
import { registerDismissals } from './dismiss.ts';
import { DEPOSIT_COLUMNS, type ExportedDeposit } from './export-columns.ts';
import { faultOfInbox, InboxQuery, inboxPage, shownBy } from './inbox.ts';
import { depositPage } from './views.ts';

/** Deposits that no payment took: an inbox to assign or dismiss them. */
export function registerUnmatched(app: TypedApp, deps: PanelDependencies, exports: Exports): void {
  const { clock, reports } = deps;
  const readNetworks = rememberNetworks(reports);

  registerAssignments(app, deps);
  registerDismissals(app, deps);

  const listing = withPermission('merchant', 'deposits.read', { querystring: InboxQuery });
  app.get(INBOX_PATH, listing, async request =>
    inboxPage(request, deps, await readNetworks(), request.query),
  );

  const reading = withPermission('merchant', 'deposits.read', { params: DepositParams });
  app.get(DEPOSIT_PATH, reading, request => depositPage(request, deps));

  app.get(`${INBOX_PATH}.csv`, listing, (request, reply) => {
    const { query } = request;
    // The list says what is wrong with its filters.
    if (faultOfInbox(texts(request), query) !== null) {
      return redirectTo(addressOf(ownPath(request, '/unmatched'), filtersIn(query)));
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
