import { changeName } from '#accounts/change-steps.ts';
import type { Person } from '#storage/database/people-tables.ts';
import {
  listToldChanges,
  type NamedChange,
} from '#storage/repositories/accounts/address-changes.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import type { AccountNotice } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { accountPath } from '../kit/navigation.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';

/** How long an operator's change is shown as a notice, in milliseconds: a day, since most people visit once a day. */
const TOLD_MS = 24 * 60 * 60_000;
/** Most notices on a page; the page of addresses has all. */
const TOLD_MAXIMUM = 3;

/**
 * Changes of where a merchant's money goes, as each of its pages tells a person: one notice for each that waits, and
 * one for all that an operator has made. Those that an operator made before the person joined, for example during
 * setup, are left out.
 */
export async function readChangeNotices(
  { clock, db }: Pick<PanelDependencies, 'clock' | 'db'>,
  words: PanelTexts,
  account: Membership,
  { created_at: joined }: Pick<Person, 'created_at'>,
): Promise<AccountNotice[]> {
  if (account.kind !== 'merchant') return [];
  const since = new Date(Math.max(clock() - TOLD_MS, joined.getTime()));
  // One more than is shown, to tell whether there are more.
  const window = { since, limit: TOLD_MAXIMUM + 1 };
  const changes = await listToldChanges(db, account.accountId, window);
  const { moreWait, severalByOperator } = words.changes;
  const settings = `${accountPath(account)}/settings`;
  const all = `${settings}/addresses`;
  const describe = (change: NamedChange): AccountNotice => ({
    text: textOf(words, change),
    href: `${settings}/changes/${change.id}`,
  });
  const waiting = changes.filter(({ outcome }) => outcome === null);
  const [first, second] = changes.filter(({ outcome }) => outcome !== null);
  const notices = waiting.slice(0, TOLD_MAXIMUM).map(describe);
  if (waiting.length > TOLD_MAXIMUM) notices.push({ text: moreWait, href: all });
  if (second !== undefined) notices.push({ text: severalByOperator, href: all });
  else if (first !== undefined) notices.push(describe(first));
  return notices;
}

function textOf({ changes }: PanelTexts, change: NamedChange): string {
  const { outcome, asset, branch_name: branchName, network_name: networkName } = change;
  const network = networkName === null || asset === null ? '' : changes.network(networkName, asset);
  return changes[outcome === null ? 'waitsFor' : 'byOperator'][changeName(change)](
    network,
    branchName ?? '',
  );
}
