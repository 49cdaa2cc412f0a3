import { createClient, type ListEventsQuery, type RecordedEvent } from '#client/index.ts';
import { EVENT_TYPES, type EventType } from '#schemas/event-types.ts';
import { type JsonFlag, printList } from '../print.ts';
import { defineCommand, JSON_OPTION, URL_OPTION, WrongUsage } from './command.ts';
import { describeClientFailure } from './failure.ts';
import { parseUuid } from './options.ts';

/** Maximum of a page of the API. */
const LIMIT_MAXIMUM = 100;
const LIMIT_DEFAULT = 20;

interface EventsGiven extends JsonFlag {
  readonly type?: EventType;
  readonly payment?: string;
  readonly undelivered?: true;
  readonly since?: string;
  readonly before?: string;
  readonly limit?: number;
}

/** `mp events` */
export const command = defineCommand<EventsGiven>({
  positionals: [],
  options: [
    JSON_OPTION,
    { flags: '--type <type>', description: 'only events of this type', choices: EVENT_TYPES },
    { flags: '--payment <id>', description: 'only events of this payment', parse: parseUuid },
    { flags: '--undelivered', description: 'only events that an endpoint has not taken' },
    {
      flags: '--since <time>',
      description: 'only events from then on, as 2026-05-17 or with a time',
    },
    {
      flags: '--before <id>',
      description: 'only events older than the one with this ID',
      parse: parseUuid,
    },
    {
      flags: '--limit <n>',
      description: `most events to list, 1 to ${LIMIT_MAXIMUM} (default: ${LIMIT_DEFAULT})`,
      parse: parseLimit,
    },
    URL_OPTION,
  ],
  notes: 'Deliveries are those to webhook endpoints. "mp resend ID --to URL" sends an event again.',
  async run(context, given) {
    const { baseUrl, credentials } = await context.connect({ ...given });
    const client = createClient({ baseUrl, ...credentials });
    const { data, hasMore } = await client.listEvents(queryOf(given)).catch(error => {
      throw describeClientFailure(context, baseUrl, error);
    });
    if (given.json) return printList(context.terminal, given, data, []);
    const note = hasMore ? `There are more: --before ${data.at(-1)?.id}` : undefined;
    const columns = ['createdAt', 'id', 'type', 'about', 'deliveries'] as const;
    printList(context.terminal, given, data.map(rowOf), columns, note);
  },
});

function queryOf({ limit = LIMIT_DEFAULT, ...given }: EventsGiven): ListEventsQuery {
  const { type, payment, since, before, undelivered } = given;
  return {
    limit,
    ...(type === undefined ? {} : { type }),
    ...(payment === undefined ? {} : { paymentId: payment }),
    ...(since === undefined ? {} : { startDate: since }),
    ...(before === undefined ? {} : { startingAfter: before }),
    ...(undelivered ? { delivered: false } : {}),
  };
}

function rowOf({ id, createdAt, type, data, deliveries }: RecordedEvent) {
  const statuses = deliveries.map(({ status }) => status);
  return { createdAt, id, type, about: data.id, deliveries: statuses };
}

function parseLimit(text: string): number {
  const value = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= LIMIT_MAXIMUM) return value;
  throw new WrongUsage(`Must be a whole number from 1 to ${LIMIT_MAXIMUM}.`);
}
