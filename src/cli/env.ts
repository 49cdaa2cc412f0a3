import type { Command } from 'commander';
import { readConfig } from '../config/config.ts';
import { DEMO_ROLES, type DemoRole } from '../development/demo-credentials.ts';
import { chooseDemoAddress } from './integration/request-address.ts';
import { openDemo } from './integration/request-credentials.ts';
import { printJson, printLines } from './print.ts';
import type { Terminal } from './terminal.ts';
import { addJsonFlag, choice, type JsonFlag } from './values.ts';

/** `mp env` */
export function define(command: Command, terminal: Terminal): void {
  addJsonFlag(command)
    .addOption(choice('--as <account>', 'whose demo key (default: merchant)', [...DEMO_ROLES]))
    .addHelpText('after', '\nIn a shell: eval "$(npx --no mp env)"')
    .action(async ({ as = 'merchant', ...flags }: JsonFlag & { as?: DemoRole }) => {
      const { dataDirectory } = readConfig({ DATA_DIRECTORY: terminal.env.DATA_DIRECTORY });
      const demo = await openDemo(dataDirectory, ['MP_KEY_ID', 'MP_SECRET', 'MP_PASSPHRASE']);
      const { keyId, secret, passphrase, merchantId } = demo[as];
      const variables = {
        MP_URL: await chooseDemoAddress(dataDirectory, undefined),
        ...{ MP_KEY_ID: keyId, MP_SECRET: secret, MP_PASSPHRASE: passphrase },
        ...(merchantId === undefined ? {} : { MP_MERCHANT_ID: merchantId }),
      };
      if (flags.json) return printJson(terminal, variables);
      const lines = Object.entries(variables).map(
        ([name, value]) => `export ${name}=${quote(value)}`,
      );
      printLines(terminal, lines);
    });
}

/** As one word of a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
