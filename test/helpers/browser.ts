import chromium from '@sparticuz/chromium';
import { type Browser, type BrowserContextOptions, chromium as playwright } from 'playwright-core';

/**
 * What this needs instead of the package's own flags, which are made for AWS Lambda and switch the
 * same-origin policy off.
 */
const FLAGS = [
  '--headless=new',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export const PHONE = { width: 390, height: 844 } as const;
export const DESKTOP = { width: 1280, height: 800 } as const;
/** The narrowest screen that WCAG 2.2 (1.4.10) asks for. */
export const NARROW = { width: 320, height: 640 } as const;

/** Starts the Chromium that npm installed. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = await chromium.executablePath();
  return playwright.launch({ executablePath, args: FLAGS });
}

/** Settings of a window whose clipboard may be written to. */
export function windowOf(options: BrowserContextOptions = {}): BrowserContextOptions {
  return { viewport: PHONE, permissions: ['clipboard-read', 'clipboard-write'], ...options };
}
