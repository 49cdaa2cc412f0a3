import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core';
import { windowOf } from '../helpers/browser.ts';

/**
 * A window that is signed in to a panel served over http.
 * @param cookie The session cookie, whatever its name.
 */
export async function signedInWindow(
  browser: Browser,
  origin: string,
  cookie: string,
  options?: BrowserContextOptions,
): Promise<BrowserContext> {
  const context = await browser.newContext(windowOf(options));
  await setSession(context, origin, cookie);
  return context;
}

/** Gives a window another session. */
export function setSession(context: BrowserContext, origin: string, cookie: string): Promise<void> {
  const value = cookie.split('=')[1] ?? '';
  return context.addCookies([
    { name: 'mp_panel', value, url: origin, httpOnly: true, sameSite: 'Lax' },
  ]);
}
