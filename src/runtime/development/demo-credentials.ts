import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Credentials } from '#client/index.ts';

export const DEMO_FILE = 'demo.json';

/** The demo accounts that can sign a request. */
export const DEMO_ROLES = ['merchant', 'us', 'partner', 'linked'] as const;
export type DemoRole = (typeof DEMO_ROLES)[number];

/** Keys of the demo accounts, in a file of the data directory that only its owner can read. */
export type DemoCredentials = Record<
  DemoRole,
  Credentials & { merchantId?: string; partnerId?: string }
>;

/** Reads the demo's keys; undefined when the data directory has no demo. */
export async function readDemo(dataDirectory: string): Promise<DemoCredentials | undefined> {
  try {
    return JSON.parse(await readFile(join(dataDirectory, DEMO_FILE), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
