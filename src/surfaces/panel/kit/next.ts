import { Type } from '@sinclair/typebox';
import { JOIN_PATH } from '#accounts/people/invitations.ts';
import { PANEL_PREFIX } from './assets.ts';

/** Longest path to return to after signing in, in characters. */
const LENGTH_MAXIMUM = 500;

/** The query of pages that redirect to another one afterwards. */
export const NextQuery = Type.Object({ next: Type.Optional(Type.String()) });

/** Whether a path contains the token of a link. It must not get into a query, which proxies and browsers keep. */
export function isLinkPath(path: string): boolean {
  return path.startsWith(`${JOIN_PATH}/`);
}

/**
 * The path to go to after signing in. It is always below the panel, since anybody can write the query, and it
 * never contains a token.
 * @param text From the query.
 */
export function readNext(text = PANEL_PREFIX): string {
  if (text.length > LENGTH_MAXIMUM) return PANEL_PREFIX;
  const base = 'http://panel.invalid';
  if (!text.startsWith(`${PANEL_PREFIX}/`) || !URL.canParse(text, base)) return PANEL_PREFIX;
  const { origin, pathname, search } = new URL(text, base);
  const isBelow = origin === base && pathname.startsWith(`${PANEL_PREFIX}/`);
  return isBelow && !isLinkPath(pathname) ? pathname + search : PANEL_PREFIX;
}

/** Adds the query that keeps where to go. */
export function withNext(path: string, next: string): string {
  return next === PANEL_PREFIX ? path : `${path}?next=${encodeURIComponent(next)}`;
}
