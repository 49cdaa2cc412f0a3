import { PANEL_PREFIX } from './assets.ts';

/** Longest path that is kept while somebody signs in, in characters. */
const LENGTH_MAXIMUM = 500;

/**
 * Where to go after signing in: a path below the panel, so that no link of somebody else's leads away from
 * it.
 * @param text What the address says, from whomever.
 */
export function readNext(text: string | undefined): string {
  if (text === undefined || text.length > LENGTH_MAXIMUM) return PANEL_PREFIX;
  const base = 'http://panel.invalid';
  if (!text.startsWith(`${PANEL_PREFIX}/`) || !URL.canParse(text, base)) return PANEL_PREFIX;
  const { origin, pathname, search } = new URL(text, base);
  const isBelow = origin === base && pathname.startsWith(`${PANEL_PREFIX}/`);
  return isBelow ? pathname + search : PANEL_PREFIX;
}

/** The query that keeps where to go. */
export function withNext(path: string, next: string): string {
  return next === PANEL_PREFIX ? path : `${path}?next=${encodeURIComponent(next)}`;
}
