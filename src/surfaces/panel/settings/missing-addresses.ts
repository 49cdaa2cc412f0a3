import type { Branch } from '#storage/database/account-tables.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Network } from '#storage/database/network-tables.ts';
import { listNetworksLacking } from '#storage/repositories/accounts/deposit-addresses.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import { type Html, html } from '../../pages/html.ts';
import { isUs } from '../kit/environment.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import { renderNetwork } from './network-name.ts';

/** The networks on which the main branch has an address, and the branch that is to replace it has none. */
export async function readLacking(
  db: Connection,
  membership: Membership,
  branches: readonly Branch[],
  branchId: string,
): Promise<readonly Network[]> {
  const main = branches.find(({ is_main }) => is_main);
  if (main === undefined || isUs(membership)) return [];
  return listNetworksLacking(db, branchId, main.id);
}

/** What fails once a branch that lacks addresses is the main one. */
export function renderLacking(
  words: PanelTexts,
  branchName: string,
  lacking: readonly Network[],
): Html | null {
  if (lacking.length === 0) return null;
  return html`<div class="notice"><p>${words.settings.branches.lacking(branchName)}</p>
<ul>${lacking.map(network => html`<li>${renderNetwork(words, network)}</li>`)}</ul></div>`;
}
