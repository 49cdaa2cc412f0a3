import { type Html, html } from '../pages/html.ts';
import { PANEL_PREFIX } from './assets.ts';
import type { OpenSession } from './people/panel-sessions.ts';
import { ATTEMPT_LIMITS } from './people/throttle.ts';

/** How long it is told, unless the password is changed before, in milliseconds. */
const TOLD_MS = 7 * 24 * 60 * 60_000;

/** Where whoever did not do it themselves should go, without the base path. */
export const CHANGE_PASSWORD = `${PANEL_PREFIX}/profile/password`;

/** What a person is told when somebody has guessed at their codes lately; null otherwise. */
export function describeClosedCodes(
  { code_closed_at: at }: OpenSession['person'],
  now: Date,
): string | null {
  if (at === null || now.getTime() - at.getTime() > TOLD_MS) return null;
  const minute = `${at.toISOString().slice(0, 16).replace('T', ' at ')} UTC`;
  return `${ATTEMPT_LIMITS.failures} wrong codes were entered for you, the last on ${minute}. If that was not you, somebody knows your password: change it`;
}

/** The same as a notice; null where there is nothing to tell. */
export function renderClosedCodes(
  person: OpenSession['person'],
  now: Date,
  basePath: string,
): Html | null {
  const text = describeClosedCodes(person, now);
  return text === null
    ? null
    : html`<p class="notice"><a href="${basePath}${CHANGE_PASSWORD}">${text}</a>.</p>`;
}
