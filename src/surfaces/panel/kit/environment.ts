import type { Membership } from '#storage/repositories/people/memberships.ts';
import { type Html, html } from '../../pages/html.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';

/** Whether an account is a test merchant, all of whose pages say so. */
export function isTest(membership: Membership | null): boolean {
  return membership?.kind === 'merchant' && membership.environment === 'test';
}

/** Whether an account's payments are collected by a processor: they need no deposit address, and lead nobody back. */
export function isUs(membership: Membership | null): boolean {
  return membership?.kind === 'merchant' && membership.accountKind === 'us';
}

/** Above each page of a test merchant. */
export function renderTestBand({ shell: { test } }: PanelTexts): Html {
  return html`<aside class="test-band" aria-label="${test.tag}">${test.band}</aside>
`;
}

/** Tags beside the name of an account in a list: test merchant, inactive. */
export function renderAccountTags(words: PanelTexts, account: Membership): Html {
  const isInactive = account.status !== 'active';
  return html`${isTest(account) && renderTestTag(words)}${isInactive && html` <span class="tag">${words.shell.choice.inactive}</span>`}`;
}

/** Beside the name of a test merchant. */
export function renderTestTag({ shell: { test } }: PanelTexts): Html {
  return html` <span class="tag strong">${test.tag}</span>`;
}
