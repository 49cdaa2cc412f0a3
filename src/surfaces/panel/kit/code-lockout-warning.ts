import type { OpenSession } from '#accounts/people/panel-sessions.ts';
import { ATTEMPT_LIMITS } from '#accounts/people/throttle.ts';
import { type Html, html } from '../../pages/html.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import { PROFILE } from './places.ts';

/** How long the warning is shown, unless the password is changed before, in milliseconds. */
const SHOWN_MS = 7 * 24 * 60 * 60_000;

/** The page for a person who did not enter the wrong codes themselves, without the base path. */
export const CHANGE_PASSWORD = `${PROFILE}/password`;

/** The warning that somebody recently tried to guess a person's codes; null if nobody did. */
export function describeClosedCodes(
  { profile }: PanelTexts,
  { code_closed_at: at }: OpenSession['person'],
  now: Date,
): string | null {
  if (at === null || now.getTime() - at.getTime() > SHOWN_MS) return null;
  return profile.closedCodes(ATTEMPT_LIMITS.failures, at);
}

/** The warning as a notice with a link. */
export function renderClosedCodes(
  words: PanelTexts,
  person: OpenSession['person'],
  now: Date,
  basePath: string,
): Html | null {
  const text = describeClosedCodes(words, person, now);
  return text === null
    ? null
    : html`<p class="notice"><a href="${basePath}${CHANGE_PASSWORD}">${text}</a>.</p>`;
}
