import { join } from 'node:path';
import { readConfig } from '#config/config.ts';
import {
  DEMO_FILE,
  DEMO_ROLES,
  type DemoCredentials,
  type DemoRole,
  readDemo,
} from '#runtime/development/demo-credentials.ts';
import type { ClientContext, ExplainingKey, Given } from '../client/command.ts';
import { checkAddress, KEY_VARIABLES, keyOf } from '../client/own-key.ts';
import { CommandFailed, type Terminal } from '../terminal.ts';
import { chooseAddress, chooseDemoAddress } from './request-address.ts';

/**
 * In the repository: the demo key that `--as` names, else the key of the environment, else the demo merchant's.
 * Connecting throws CommandFailed when the key is incomplete or missing.
 */
export function demoOrOwnKey(terminal: Terminal): ClientContext {
  const { env } = terminal;
  const { dataDirectory } = readConfig({ DATA_DIRECTORY: env.DATA_DIRECTORY });
  return {
    terminal,
    whenSilent: 'is it running? Start it with "npm start".',
    async connect(given) {
      const url = typeof given.url === 'string' ? given.url : undefined;
      const role = roleIn(given);
      const own = role === undefined ? keyOf(env) : undefined;
      if (own !== undefined) return { baseUrl: await chooseAddress(env, url), credentials: own };
      const credentials = (await openDemo(dataDirectory, KEY_VARIABLES))[role ?? 'merchant'];
      return { baseUrl: await chooseDemoAddress(dataDirectory, url), credentials };
    },
    explainingKey: given => chooseExplainingKey(env, dataDirectory, roleIn(given)),
  };
}

function roleIn({ as }: Given): DemoRole | undefined {
  return DEMO_ROLES.find(role => role === as);
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

/**
 * The secret to explain with: that of the demo key that is named, else MP_SECRET, else that of the demo
 * merchant. Unlike for signing, the secret alone is enough.
 * @throws CommandFailed when there is none.
 */
async function chooseExplainingKey(
  env: Terminal['env'],
  dataDirectory: string,
  role: DemoRole | undefined,
): Promise<ExplainingKey> {
  const { MP_KEY_ID: keyId, MP_SECRET: secret, MP_PASSPHRASE: passphrase } = env;
  if (role === undefined && secret) {
    const address = env.MP_URL || env.PUBLIC_URL;
    const publicUrl = address ? checkAddress(address) : undefined;
    return { secret, keyId: keyId || undefined, passphrase: passphrase || undefined, publicUrl };
  }
  const demo = await openDemo(dataDirectory, ['MP_SECRET']);
  const chosen = role ?? 'merchant';
  const others = DEMO_ROLES.filter(name => name !== chosen);
  return {
    ...demo[chosen],
    otherSecrets: others.map(name => ({
      name: `the secret of the demo key "${name}"`,
      secret: demo[name].secret,
    })),
  };
}
