import type { Credentials } from '#client/index.ts';
import { CommandFailed, type Terminal } from '../terminal.ts';
import {
  type ClientContext,
  type Connection,
  type Given,
  parseAddress,
  WrongUsage,
} from './command.ts';
import { credentialsPath, readStored, SENDABLE } from './credentials-file.ts';

export const KEY_VARIABLES = ['MP_KEY_ID', 'MP_SECRET', 'MP_PASSPHRASE'] as const;

/** The key of whoever uses the client package: from the environment, else from `mp login`. */
export function ownKey(terminal: Terminal): ClientContext {
  const { env } = terminal;
  return {
    terminal,
    whenSilent: 'check the address.',
    async connect({ url }) {
      const named = typeof url === 'string' ? url : env.MP_URL;
      const given = named ? checkAddress(named) : undefined;
      const key = keyOf(env);
      if (key !== undefined) {
        if (given !== undefined) return { baseUrl: given, credentials: key };
        throw new CommandFailed('MP_URL must be set too: the address of the service.');
      }
      const stored = await requireStored(env);
      if (given === undefined) return stored;
      if (isSameHost(given, stored.baseUrl)) return { ...stored, baseUrl: given };
      throw new CommandFailed(
        `The key of "mp login" is sent to ${stored.baseUrl} only. Log in again, or set ${KEY_VARIABLES.join(', ')} for ${given}.`,
      );
    },
    async explainingKey(_given: Given) {
      const { MP_KEY_ID: keyId, MP_SECRET: secret, MP_PASSPHRASE: passphrase } = env;
      if (secret) {
        const publicUrl = env.MP_URL ? checkAddress(env.MP_URL) : undefined;
        return {
          secret,
          keyId: keyId || undefined,
          passphrase: passphrase || undefined,
          publicUrl,
        };
      }
      const { credentials, baseUrl } = await requireStored(env);
      return { ...credentials, publicUrl: baseUrl };
    },
  };
}

/**
 * The key in the environment; undefined when no part of it is set.
 * @throws CommandFailed when it is incomplete or cannot be sent.
 */
export function keyOf(env: Terminal['env']): Credentials | undefined {
  if (KEY_VARIABLES.every(name => !env[name])) return undefined;
  const { MP_KEY_ID: keyId, MP_SECRET: secret, MP_PASSPHRASE: passphrase } = env;
  if (keyId && secret && passphrase) {
    const broken = KEY_VARIABLES.filter(name => !SENDABLE.test(env[name] ?? ''));
    if (broken.length === 0) return { keyId, secret, passphrase };
    throw new CommandFailed(`${broken.join(' and ')} must be visible ASCII characters alone.`);
  }
  const missing = KEY_VARIABLES.filter(name => !env[name]);
  throw new CommandFailed(
    `${missing.join(' and ')} must be set too: a request is signed with all three of ` +
      `${KEY_VARIABLES.join(', ')}.`,
  );
}

async function requireStored(env: Terminal['env']): Promise<Connection> {
  const path = credentialsPath(env);
  const stored = await readStored(path);
  if (stored !== undefined) return stored;
  throw new CommandFailed(
    `There is no key: run "npx --no mp login", or set MP_URL, ${KEY_VARIABLES.join(', ')}.`,
  );
}

/** @throws CommandFailed for anything but the address of a service. */
export function checkAddress(text: string): string {
  try {
    return parseAddress(text);
  } catch (error) {
    throw error instanceof WrongUsage ? new CommandFailed(error.message) : error;
  }
}

function isSameHost(one: string, other: string): boolean {
  return new URL(one).origin === new URL(other).origin;
}
