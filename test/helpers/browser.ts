import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import chromium from '@sparticuz/chromium';
import { type Browser, type BrowserContextOptions, chromium as playwright } from 'playwright-core';

/**
 * Flags in place of the package's own, which are made for AWS Lambda and disable the
 * same-origin policy.
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
/** The narrowest screen that WCAG 2.2 (1.4.10) requires. */
export const NARROW = { width: 320, height: 640 } as const;

/** Launches the Chromium that npm installed. */
export async function launchBrowser(): Promise<Browser> {
  return playwright.launch({ executablePath: await unpackBrowser(), args: FLAGS });
}

/**
 * The package unpacks into the temporary directory under a fixed name, which one user of the machine
 * would take from all others. Therefore each user gets a directory of their own.
 */
async function unpackBrowser(): Promise<string> {
  const shared = process.env.TMPDIR;
  const own = join(tmpdir(), `eps-chromium-${process.getuid?.() ?? 'user'}`);
  await mkdir(own, { recursive: true, mode: 0o700 });
  process.env.TMPDIR = own;
  try {
    return await chromium.executablePath();
  } finally {
    if (shared === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = shared;
  }
}

/** Options of a window that may write to the clipboard. */
export function windowOf(options: BrowserContextOptions = {}): BrowserContextOptions {
  return { viewport: PHONE, permissions: ['clipboard-read', 'clipboard-write'], ...options };
}

/** Makes a checkout page poll ten times as often, since tests wait for that: a script that runs when the page loads. */
export const ASKS_OFTEN = `{
  const { setTimeout } = window;
  window.setTimeout = (act, ms) => setTimeout(act, act.name === 'poll' ? ms / 10 : ms);
}`;
