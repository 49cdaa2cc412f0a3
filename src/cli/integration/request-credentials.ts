import { join } from 'node:path';
import type { Credentials } from '#client/index.ts';
import {
  DEMO_FILE,
  type DemoCredentials,
  type DemoRole,
  readDemo,
} from '#runtime/development/demo-credentials.ts';
import { KEY_VARIABLES, keyOf } from '../client/own-key.ts';
import { CommandFailed, type Terminal } from '../terminal.ts';

/** A key to sign with. */
interface ChosenCredentials {
  readonly credentials: Credentials;
  /** Whether it is one of the demo. */
  readonly isDemo: boolean;
}

/**
 * Chooses the key to sign with: the demo key of `role`, else the key in the environment, else the demo
 * merchant's key.
 * @throws CommandFailed when the key is incomplete or missing.
 */
export async function chooseCredentials(
  env: Terminal['env'],
  dataDirectory: string,
  role: DemoRole | undefined,
): Promise<ChosenCredentials> {
  const own = role === undefined ? keyOf(env) : undefined;
  if (own !== undefined) return { credentials: own, isDemo: false };
  const demo = await openDemo(dataDirectory, KEY_VARIABLES);
  return { credentials: demo[role ?? 'merchant'], isDemo: true };
}

/**
 * Reads the demo's keys.
 * @param otherwise Variables to set instead, for the message.
 * @throws CommandFailed when there are none or they cannot be read.
 */
export async function openDemo(
  dataDirectory: string,
  otherwise: readonly string[],
): Promise<DemoCredentials> {
  const file = join(dataDirectory, DEMO_FILE);
  const demo = await readDemo(dataDirectory).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandFailed(`The demo keys in ${file} cannot be read: ${reason}.`);
  });
  if (demo !== undefined) return demo;
  throw new CommandFailed(
    `There are no demo keys in ${file}: "npm start" creates them with a new embedded database. ` +
      `Otherwise set ${otherwise.join(', ')}.`,
  );
}
