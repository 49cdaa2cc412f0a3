import { chmod, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CommandFailed, type Terminal } from '../terminal.ts';
import { type Connection, parseAddress } from './command.ts';

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
/** Permissions of the group and of others. */
const FOR_OTHERS = 0o077;
/** Characters that a header can carry. The HTTP library would show any others in its error. */
export const SENDABLE = /^[\x21-\x7e]+$/;
/** The form of each part of a key, and how to say it. */
export const FORMS = {
  keyId: [/^mpk_[0-9a-f]{24}$/, 'A key ID is mpk_ and 24 lowercase hex digits.'],
  secret: [/^mps_[0-9a-f]{64}$/, 'A secret is mps_ and 64 lowercase hex digits.'],
  passphrase: [/^[\x21-\x7e]{1,255}$/, 'A passphrase is visible ASCII characters alone.'],
} as const;
const FIELDS = ['url', 'keyId', 'secret', 'passphrase'] as const;

/**
 * Where `mp login` stores the key.
 * @throws CommandFailed when the environment has no home.
 */
export function credentialsPath({ XDG_CONFIG_HOME, HOME, USERPROFILE }: Terminal['env']): string {
  const home = HOME || USERPROFILE;
  const folder = XDG_CONFIG_HOME || (home && join(home, '.config'));
  if (folder) return join(folder, 'external-payments', 'credentials');
  throw new CommandFailed('There is no place for credentials: HOME is not set.');
}

/**
 * Reads what `mp login` has stored; undefined when there is nothing.
 * @throws CommandFailed for a file that others may read, or that cannot be used.
 */
export async function readStored(path: string): Promise<Connection | undefined> {
  const text = await readPrivately(path);
  if (text === undefined) return undefined;
  const unusable = new CommandFailed(`${path} is not what "mp login" writes: log in again.`);
  let stored: Readonly<Record<string, unknown>>;
  try {
    stored = Object(JSON.parse(text));
  } catch {
    throw unusable;
  }
  const [baseUrl, keyId, secret, passphrase] = FIELDS.map(name => stored[name]);
  const isText = (value: unknown): value is string =>
    typeof value === 'string' && SENDABLE.test(value);
  if (isText(baseUrl) && isText(keyId) && isText(secret) && isText(passphrase)) {
    if (isAddress(baseUrl)) return { baseUrl, credentials: { keyId, secret, passphrase } };
  }
  throw unusable;
}

function isAddress(text: string): boolean {
  try {
    return parseAddress(text) !== '';
  } catch {
    return false;
  }
}

async function readPrivately(path: string): Promise<string | undefined> {
  const fail = ({ code }: NodeJS.ErrnoException): never => {
    throw new CommandFailed(`The credentials in ${path} cannot be read (${code}).`);
  };
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' ? undefined : fail(error),
  );
  if (file === undefined) return undefined;
  try {
    const { mode } = await file.stat();
    // Windows has no such permissions.
    if (process.platform !== 'win32' && (mode & FOR_OTHERS) !== 0) {
      throw new CommandFailed(`Others may read the credentials in ${path}. Run: chmod 600 ${path}`);
    }
    return await file.readFile('utf8').catch(fail);
  } finally {
    await file.close();
  }
}

/** Stores a key in one step, readable only by this user. */
export async function store(path: string, { baseUrl, credentials }: Connection): Promise<void> {
  const folder = dirname(path);
  const written = `${path}.${process.pid}`;
  const { keyId, secret, passphrase } = credentials;
  const text = `${JSON.stringify({ url: baseUrl, keyId, secret, passphrase }, null, 2)}\n`;
  try {
    await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
    await chmod(folder, FOLDER_MODE);
    await writeFile(written, text, { mode: FILE_MODE, flag: 'wx' });
    await rename(written, path);
  } catch (error) {
    await rm(written, { force: true });
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandFailed(`The credentials cannot be stored in ${path} (${code}).`);
  }
}
