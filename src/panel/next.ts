import { Type } from '@sinclair/typebox';
import { PANEL_PREFIX } from './assets.ts';
import { JOIN_PATH } from './people/invitations.ts';

/** Longest path that is kept while somebody signs in, in characters. */
const LENGTH_MAXIMUM = 500;

/** What the address of a page says that leads on. */
export const NextQuery = Type.Object({ next: Type.Optional(Type.String()) });

/** Whether a path has a link's token in it, which must not get into a query: proxies and browsers keep those. */
export function isLinkPath(path: string): boolean {
  return path.startsWith(`${JOIN_PATH}/`);
}

/**
 * Where to go after signing in: a path below the panel, so that no link of somebody else's leads away from
 * it, and none of a link.
 * @param text What the address says, from whomever.
 */
export function readNext(text = PANEL_PREFIX): string {
  if (text.length > LENGTH_MAXIMUM) return PANEL_PREFIX;
  const base = 'http://panel.invalid';
  if (!text.startsWith(`${PANEL_PREFIX}/`) || !URL.canParse(text, base)) return PANEL_PREFIX;
  const { origin, pathname, search } = new URL(text, base);
  const isBelow = origin === base && pathname.startsWith(`${PANEL_PREFIX}/`);
  return isBelow && !isLinkPath(pathname) ? pathname + search : PANEL_PREFIX;
}

/** The query that keeps where to go. */
export function withNext(path: string, next: string): string {
  return next === PANEL_PREFIX ? path : `${path}?next=${encodeURIComponent(next)}`;
}
