import { readConfig } from '#config/config.ts';
import { findService, localUrl } from '#runtime/development/local-service.ts';
import { checkAddress } from '../client/own-key.ts';
import { CommandFailed, type Terminal } from '../terminal.ts';

/** Names of this machine; they may stand for each other in `--url`. */
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * Where a request signed with a key of one's own goes: to `--url`, else to MP_URL, which belongs to the key, else to
 * the address that the environment configures, else to the service that runs on the data directory.
 * @throws CommandFailed when MP_URL is no address.
 */
export async function chooseAddress(env: Terminal['env'], url: string | undefined) {
  const ofKey = url ?? env.MP_URL;
  if (ofKey) return checkAddress(ofKey);
  // Reads only the variables that a request needs: database settings may be missing or invalid.
  const { PORT, HOST, PUBLIC_URL, DATA_DIRECTORY } = env;
  const config = readConfig({ PORT, HOST, PUBLIC_URL, DATA_DIRECTORY });
  if (PUBLIC_URL) return config.publicUrl;
  const running = PORT ? undefined : await findService(config.dataDirectory);
  const family = config.host.includes(':') ? 'IPv6' : 'IPv4';
  return running ?? localUrl({ address: config.host, port: config.port, family });
}

/**
 * Where a request signed with a demo key goes: to the service that runs on the data directory, and
 * nowhere else: a server at another address would learn the demo's credentials.
 * @throws CommandFailed when none runs there, or `--url` is another one's.
 */
export async function chooseDemoAddress(
  dataDirectory: string,
  url: string | undefined,
): Promise<string> {
  const running = await findService(dataDirectory);
  if (running === undefined) {
    throw new CommandFailed(
      `No service is running on ${dataDirectory}, and its demo keys are sent to no other: start it with ` +
        '"npm start".',
    );
  }
  if (url === undefined || isSame(new URL(url), new URL(running))) return running;
  throw new CommandFailed(
    `The demo keys are sent only to the service on ${running}. Set MP_KEY_ID, MP_SECRET and ` +
      `MP_PASSPHRASE for ${url}.`,
  );
}

function isSame(one: URL, other: URL): boolean {
  const bothHere = LOOPBACK.test(one.hostname) && LOOPBACK.test(other.hostname);
  return one.port === other.port && (one.origin === other.origin || bothHere);
}
