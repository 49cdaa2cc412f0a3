import type { Connection } from '#storage/database/connection.ts';
import type { Person } from '#storage/database/people-tables.ts';
import {
  listToldChanges,
  type NamedChange,
} from '#storage/repositories/accounts/address-changes.ts';
import { type Html, html } from '../pages/html.ts';
import { texts } from './texts/index.ts';

/** How long an operator's change is shown as a notice, in milliseconds: a day, since most people visit once a day. */
const TOLD_MS = 24 * 60 * 60_000;
/** Most notices on a page; the page of addresses has all. */
const TOLD_MAXIMUM = 3;

/**
 * Reads the changes of where a merchant's money goes that each of its pages shows to a person: one more than is
 * shown, to tell whether there are more. Changes that an operator made before the person joined, for example during
 * setup, are left out.
 */
export function readChangeNotices(
  db: Connection,
  merchantId: string,
  { created_at: joined }: Pick<Person, 'created_at'>,
  now: Date,
): Promise<NamedChange[]> {
  const since = new Date(Math.max(now.getTime() - TOLD_MS, joined.getTime()));
  return listToldChanges(db, merchantId, { since, limit: TOLD_MAXIMUM + 1 });
}

/** A notice, and the page that says more, below the account's settings. */
interface ChangeNotice {
  readonly text: string;
  readonly path: string;
}

/** One notice for each change that waits, and one for all that an operator has changed. */
function noticesOf(changes: readonly NamedChange[]): ChangeNotice[] {
  const { moreWait, severalByOperator } = texts.changes;
  const waiting = changes.filter(({ outcome }) => outcome === null);
  const [first, second] = changes.filter(({ outcome }) => outcome !== null);
  const notices = waiting.slice(0, TOLD_MAXIMUM).map(describe);
  if (waiting.length > TOLD_MAXIMUM) notices.push({ text: moreWait, path: '/addresses' });
  if (second !== undefined) notices.push({ text: severalByOperator, path: '/addresses' });
  else if (first !== undefined) notices.push(describe(first));
  return notices;
}

function describe(change: NamedChange): ChangeNotice {
  const { id, kind, outcome, branch_name: branchName } = change;
  const words = texts.changes[outcome === null ? 'waitsFor' : 'byOperator'][kind];
  return { text: words(networkOf(change) ?? '', branchName ?? ''), path: `/changes/${id}` };
}

/** @param settingsUrl Address of the account's settings, with the base path. */
export function renderChangeNotices(
  changes: readonly NamedChange[],
  settingsUrl: string,
): Html | null {
  if (changes.length === 0) return null;
  return html`<div class="notice" role="note"><ul>${noticesOf(changes).map(
    ({ text, path }) =>
      html`<li>${text} <a href="${settingsUrl}${path}">${texts.changes.look}</a></li>`,
  )}</ul></div>`;
}

/** The asset and network of a change; null if it is about none. */
export function networkOf({ network_name: networkName, asset }: NamedChange): string | null {
  return networkName === null || asset === null ? null : texts.changes.network(networkName, asset);
}
