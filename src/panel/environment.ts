import { type Html, html } from '../pages/html.ts';
import type { Membership } from '../repositories/people/memberships.ts';
import { texts } from './texts/index.ts';

const { test } = texts.shell;

/** Whether an account is a test merchant, all of whose pages say so. */
export function isTest(membership: Membership | null): boolean {
  return membership?.kind === 'merchant' && membership.environment === 'test';
}

/** Above each page of a test merchant. */
export function renderTestBand(): Html {
  return html`<aside class="test-band" aria-label="${test.tag}">${test.band}</aside>
`;
}

/** Beside the name of a test merchant. */
export function renderTestTag(): Html {
  return html` <span class="tag strong">${test.tag}</span>`;
}
