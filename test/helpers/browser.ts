import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
  return playwright.launch({ executablePath: await unpackBrowser(), args: FLAGS });
}

/**
 * The package unpacks into the temporary directory under a fixed name, which one user of the machine
 * would take from all others: each gets a directory of their own.
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

/** Settings of a window whose clipboard may be written to. */
export function windowOf(options: BrowserContextOptions = {}): BrowserContextOptions {
  return { viewport: PHONE, permissions: ['clipboard-read', 'clipboard-write'], ...options };
}

/** Lets a checkout page ask what happens meanwhile ten times as often, for it is waited for: a script for its start. */
export const ASKS_OFTEN = `{
  const { setTimeout } = window;
  window.setTimeout = (act, ms) => setTimeout(act, act.name === 'poll' ? ms / 10 : ms);
}`;
