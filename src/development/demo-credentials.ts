import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Credentials } from '../client/index.ts';

export const DEMO_FILE = 'demo.json';

/** Whose key a demo request is signed with. */
export const DEMO_ROLES = ['merchant', 'us', 'partner', 'linked'] as const;
export type DemoRole = (typeof DEMO_ROLES)[number];

/** Keys of the demo's accounts, kept in the data directory for its owner only. */
export type DemoCredentials = Record<
  DemoRole,
  Credentials & { merchantId?: string; partnerId?: string }
>;

/** The demo's keys; undefined when the data directory has no demo. */
export async function readDemo(dataDirectory: string): Promise<DemoCredentials | undefined> {
  try {
    return JSON.parse(await readFile(join(dataDirectory, DEMO_FILE), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
