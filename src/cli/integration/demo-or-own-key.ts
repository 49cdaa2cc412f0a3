import { readConfig } from '#config/config.ts';
import { DEMO_ROLES, type DemoRole } from '#runtime/development/demo-credentials.ts';
import type { ClientContext, Given } from '../client/command.ts';
import type { Terminal } from '../terminal.ts';
import { chooseExplainingKey } from './explaining-key.ts';
import { chooseAddress, chooseDemoAddress } from './request-address.ts';
import { chooseCredentials } from './request-credentials.ts';

/** In the repository: the demo key that `--as` names, else the key of the environment, else the demo merchant's. */
export function demoOrOwnKey(terminal: Terminal): ClientContext {
  const { env } = terminal;
  const { dataDirectory } = readConfig({ DATA_DIRECTORY: env.DATA_DIRECTORY });
  return {
    terminal,
    whenSilent: 'is it running? Start it with "npm start".',
    async connect(given) {
      const { credentials, isDemo } = await chooseCredentials(env, dataDirectory, roleIn(given));
      const url = typeof given.url === 'string' ? given.url : undefined;
      const baseUrl = isDemo
        ? await chooseDemoAddress(dataDirectory, url)
        : await chooseAddress(env, url);
      return { baseUrl, credentials };
    },
    explainingKey: given => chooseExplainingKey(env, dataDirectory, roleIn(given)),
  };
}

function roleIn({ as }: Given): DemoRole | undefined {
  return DEMO_ROLES.find(role => role === as);
}
