import { DEMO_ROLES, type DemoRole } from '#runtime/development/demo-credentials.ts';
import type { ExplainingKey } from '../client/command.ts';
import { checkAddress } from '../client/own-key.ts';
import type { Terminal } from '../terminal.ts';
import { openDemo } from './request-credentials.ts';

/**
 * The secret to explain with: that of the demo key that is named, else MP_SECRET, else that of the demo
 * merchant. Unlike for signing, the secret alone is enough.
 * @throws CommandFailed when there is none.
 */
export async function chooseExplainingKey(
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
