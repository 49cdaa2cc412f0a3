import { readConfig } from '#config/config.ts';
import { DEMO_ROLES, type DemoRole } from '#runtime/development/demo-credentials.ts';
import type { CliCommand } from './cli-command.ts';
import { openDemo } from './integration/demo-or-own-key.ts';
import { chooseDemoAddress } from './integration/request-address.ts';
import { type JsonFlag, printJson, printLines } from './print.ts';
import { choice } from './values.ts';

/** `mp env` */
export function define(command: CliCommand): void {
  const { terminal } = command;
  command
    .json()
    .addOption(choice('--as <account>', 'whose demo key (default: merchant)', [...DEMO_ROLES]))
    .addHelpText('after', '\nIn a shell: eval "$(npx --no mp env)"')
    .action(async ({ as = 'merchant', ...flags }: JsonFlag & { as?: DemoRole }) => {
      const { dataDirectory } = readConfig({ DATA_DIRECTORY: terminal.env.DATA_DIRECTORY });
      const demo = await openDemo(dataDirectory, ['MP_KEY_ID', 'MP_SECRET', 'MP_PASSPHRASE']);
      const { keyId, secret, passphrase, merchantId } = demo[as];
      const variables = {
        MP_URL: await chooseDemoAddress(dataDirectory, undefined),
        MP_KEY_ID: keyId,
        MP_SECRET: secret,
        MP_PASSPHRASE: passphrase,
        ...(merchantId === undefined ? {} : { MP_MERCHANT_ID: merchantId }),
      };
      if (flags.json) return printJson(terminal, variables);
      const named = Object.entries(variables);
      printLines(
        terminal,
        named.map(([name, value]) => `export ${name}=${quote(value)}`),
      );
    });
}

/** Quotes text as one word of a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
