import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { startTestApp } from '../helpers/app.ts';
import { launchBrowser } from '../helpers/browser.ts';
import { admitAxe } from './accessible.ts';

/** A service and a browser that opens its documentation. */
export interface Documentation {
  readonly browser: Browser;
  readonly base: string;
  /** Opens a window for several visits, one after the other. */
  openWindow(options: BrowserContextOptions): Promise<Window>;
  /** Opens a page in a window of its own. */
  visit(path: string, options: BrowserContextOptions, act: Act): Promise<void>;
  close(): Promise<void>;
}

export interface Window {
  /** Opens a page, and expects no console output, no error and no request to another origin. */
  visit(path: string, act: Act): Promise<void>;
  close(): Promise<void>;
}

type Act = (page: Page) => Promise<void>;

export async function openDocumentation(): Promise<Documentation> {
  const service = await startTestApp();
  const base = await service.app.listen({ host: '127.0.0.1', port: 0 });
  const browser = await launchBrowser();
  async function openWindow(options: BrowserContextOptions): Promise<Window> {
    const context = await browser.newContext(options);
    // The policy is bypassed only for axe.
    if (options.bypassCSP === true) await admitAxe(context);
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    const trouble: string[] = [];
    page.on('console', line => void trouble.push(line.text()));
    page.on('pageerror', error => void trouble.push(error.message));
    page.on('request', request => {
      if (new URL(request.url()).origin !== base) trouble.push(request.url());
    });
    page.on('response', response => {
      if (response.status() >= 400) trouble.push(`${response.status()} ${response.url()}`);
    });
    return {
      async visit(path, act) {
        trouble.length = 0;
        await page.goto(base + path);
        await act(page);
        expect(trouble).toEqual([]);
      },
      close: () => context.close(),
    };
  }

  return {
    browser,
    base,
    openWindow,
    async visit(path, options, act) {
      const window = await openWindow(options);
      try {
        await window.visit(path, act);
      } finally {
        await window.close();
      }
    },
    async close() {
      await browser.close();
      await service.close();
    },
  };
}
