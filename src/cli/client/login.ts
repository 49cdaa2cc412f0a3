import { createClient, PaymentsApiError } from '#client/index.ts';
import { type JsonFlag, printObject } from '../print.ts';
import { CommandFailed } from '../terminal.ts';
import { defineCommand, JSON_OPTION, URL_OPTION } from './command.ts';
import { credentialsPath, FORMS, store } from './credentials-file.ts';
import { describeClientFailure } from './failure.ts';
import { checkAddress } from './own-key.ts';

/** Refusals of a key that is right, but may not read payments. */
const RIGHT_BUT_LIMITED = ['E2008', 'E2101', 'E2102', 'E2103'];

interface LoginGiven extends JsonFlag {
  readonly url?: string;
}

/** `mp login` */
export const command = defineCommand<LoginGiven>({
  positionals: [],
  options: [JSON_OPTION, URL_OPTION],
  notes:
    'It asks for the address, the key ID, the secret and the passphrase; from a pipe it reads one on each line.\n' +
    'They are stored in ~/.config/external-payments/credentials (or below XDG_CONFIG_HOME), which only you\n' +
    'can read. MP_URL, MP_KEY_ID, MP_SECRET and MP_PASSPHRASE, where they are set, are used instead.',
  async run(context, given) {
    const { terminal } = context;
    const ask = async (question: string, isSecret: boolean) => {
      const answer = await terminal.ask?.(question, isSecret);
      if (answer === undefined) throw new CommandFailed('Nothing was stored: input ended.');
      return answer.trim();
    };
    const askFor = async (name: keyof typeof FORMS, question: string) => {
      const [form, message] = FORMS[name];
      const answer = await ask(question, name !== 'keyId');
      if (form.test(answer)) return answer;
      throw new CommandFailed(`Nothing was stored. ${message}`);
    };
    const path = credentialsPath(terminal.env);
    const baseUrl = checkAddress(given.url ?? (await ask('Address of the service: ', false)));
    const credentials = {
      keyId: await askFor('keyId', 'Key ID (mpk_…): '),
      secret: await askFor('secret', 'Secret (mps_…), not shown: '),
      passphrase: await askFor('passphrase', 'Passphrase, not shown: '),
    };
    const client = createClient({ baseUrl, ...credentials, maxAttempts: 1 });
    await client.listPayments({ limit: 1 }).catch((error: unknown) => {
      if (isLimited(error)) return;
      const failure = describeClientFailure(context, baseUrl, error);
      if (!(failure instanceof CommandFailed)) throw failure;
      throw new CommandFailed(`Nothing was stored. ${failure.message}`);
    });
    await store(path, { baseUrl, credentials });
    const note = 'The key works. "npx --no mp doctor" tells what it may do.';
    printObject(terminal, given, { url: baseUrl, keyId: credentials.keyId, path }, note);
  },
});

function isLimited(error: unknown): boolean {
  return error instanceof PaymentsApiError && RIGHT_BUT_LIMITED.includes(error.errorCode);
}
