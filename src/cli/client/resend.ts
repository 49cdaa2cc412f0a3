import { createClient } from '#client/index.ts';
import { readSecretFlag } from '../named-file.ts';
import type { JsonFlag } from '../print.ts';
import { defineCommand, JSON_OPTION, URL_OPTION } from './command.ts';
import { describeClientFailure } from './failure.ts';
import { webhookBodyOf } from './follow-events.ts';
import { createForwarder } from './forward.ts';
import { parseUuid } from './options.ts';
import { printResponse } from './print-response.ts';

interface ResendGiven extends JsonFlag {
  readonly event: string;
  readonly to: string;
  readonly secret?: string;
}

/** `mp resend EVENT --to URL` */
export const command = defineCommand<ResendGiven>({
  positionals: [{ name: 'event', description: 'ID of the event', parse: parseUuid }],
  options: [
    JSON_OPTION,
    {
      flags: '--to <url>',
      description: 'where to send it, e.g. http://localhost:8080/hooks',
      isRequired: true,
    },
    {
      flags: '--secret <whsec|@file>',
      description:
        'secret to sign with; @file reads a file (default: WEBHOOK_SECRET, or a new one)',
    },
    URL_OPTION,
  ],
  notes:
    'The event is read with the key and sent from this machine, with the body that its webhooks carry.\n' +
    'The service knows nothing of it: its deliveries stay as they are. To have the service deliver again,\n' +
    'use the panel, or ask the operator for "mp webhook redeliver".\n' +
    'Exit status: 0 for a response of 2xx, else 1.',
  async run(context, given) {
    const { terminal } = context;
    const { baseUrl, credentials } = await context.connect({ ...given });
    const named = given.secret && (await readSecretFlag(given.secret, 'The secret'));
    const forwarder = createForwarder(given.to, named || terminal.env.WEBHOOK_SECRET);
    const event = await createClient({ baseUrl, ...credentials })
      .getEvent(given.event)
      .catch(error => {
        throw describeClientFailure(context, baseUrl, error);
      });
    const { url, secret, isNew } = forwarder;
    const sent = { id: event.id, type: event.type, body: webhookBodyOf(event) };
    const forwarded = await forwarder.send(forwarder.sign(sent), new AbortController().signal);
    printResponse(terminal, given, { url, ...(isNew ? { secret } : {}), ...forwarded });
  },
});
