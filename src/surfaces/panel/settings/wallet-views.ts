import type { WalletView } from '#accounts/wallets.ts';
import { findWalletOn } from '#storage/repositories/accounts/deposit-addresses.ts';
import { listWalletUses, type WalletUse } from '#storage/repositories/accounts/wallet-addresses.ts';
import { lateSince } from '#time/late-window.ts';
import { type Html, html } from '../../pages/html.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { inGroups } from '../kit/groups.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';

type Named = Pick<WalletUse, 'kind' | 'fingerprint'>;

/** How the wallet of a branch on a network stands; null for static addresses, and for none. */
export async function findWalletUse(
  { db, clock }: Pick<PanelDependencies, 'db' | 'clock'>,
  branchId: string,
  blockchainId: string,
): Promise<WalletUse | null> {
  const id = await findWalletOn(db, branchId, blockchainId);
  const [use] = id === null ? [] : await listWalletUses(db, [id], lateSince(clock()));
  return use ?? null;
}

/** A wallet in words: the fingerprint of its key, and the kind of its addresses. */
export function renderWallet({ settings }: PanelTexts, { kind, fingerprint }: Named): Html {
  const { wallet } = settings.addresses;
  return wallet.name(wallet.kinds[kind], html`<code>${fingerprint}</code>`);
}

/** A wallet with its next addresses, to be compared with what the person's own wallet shows. */
export function renderWalletSide(words: PanelTexts, view: WalletView): Html[] {
  const { from } = words.settings.addresses.wallet;
  return [
    html`<strong>${renderWallet(words, view)}</strong>`,
    html`<span class="quiet">${from(view.index)}</span>`,
    ...view.addresses.map(inGroups),
  ];
}

/** A wallet in force, and how it stands. */
export function renderWalletUse(words: PanelTexts, use: WalletUse): Html {
  const { stands, gap } = words.settings.addresses.wallet;
  return html`<strong>${renderWallet(words, use)}</strong>
<div class="quiet">${stands(use.nextIndex, use.out, use.funded)} ${gap(use.gap, use.gapMaximum)}</div>`;
}
