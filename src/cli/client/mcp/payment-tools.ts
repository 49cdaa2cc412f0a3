import type {
  ListEventsQuery,
  ListPaymentsQuery,
  PaymentObject,
  PaymentsClient,
  RecordedEvent,
} from '#client/index.ts';
import { EVENT_TYPES } from '#schemas/event-types.ts';
import { id, type Tool, tool } from './tool.ts';

const PAGE_DEFAULT = 10;
const PAGE_MAXIMUM = 25;
const STATUSES: readonly PaymentObject['status'][] = [
  'pending',
  'successful',
  'unsuccessful',
  'expired',
  'cancelled',
];

const page = (what: string) => ({
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: PAGE_MAXIMUM,
    default: PAGE_DEFAULT,
    description: `How many ${what}.`,
  },
  startingAfter: id(`For the next page: the ID of the last one of this page of ${what}.`),
});
const time = (description: string) => ({
  type: 'string',
  description: `${description} ISO 8601, for example 2030-01-31T12:00:00Z.`,
});

/** Tools for what a merchant's key may read. */
export function paymentTools(client: PaymentsClient): Tool[] {
  return [
    tool<{ paymentId: string }>({
      name: 'get_payment',
      title: 'Get a payment',
      description:
        'One payment by its ID: its status, amount in US cents, network, transaction hash and last error. ' +
        'list_events with the same paymentId tells what happened to it.',
      properties: { paymentId: id('ID of the payment.') },
      required: ['paymentId'],
      run: ({ paymentId }) => client.getPayment(paymentId),
    }),
    tool<ListPaymentsQuery>({
      name: 'list_payments',
      title: 'List payments',
      description:
        "The account's payments, newest first, a page at a time. To find the payment of an order, give its " +
        'customerReferenceId. hasMore says whether there is another page.',
      properties: {
        ...page('payments'),
        status: { type: 'string', enum: [...STATUSES], description: 'Only these.' },
        customerReferenceId: { type: 'string', description: "The shop's order number, exactly." },
        createdAfter: time('Only payments created after this instant.'),
        createdBefore: time('Only payments created before this instant.'),
      },
      run: query => client.listPayments({ limit: PAGE_DEFAULT, ...query }),
    }),
    tool<ListEventsQuery>({
      name: 'list_events',
      title: 'List events',
      description:
        'What happened to payments, newest first, and whether the webhooks about it were taken: of each event ' +
        'the type, the state of the payment and a summary of its deliveries. get_event has every attempt. ' +
        'With delivered false, only events that an endpoint has not taken.',
      properties: {
        ...page('events'),
        type: { type: 'string', enum: [...EVENT_TYPES], description: 'Only events of this type.' },
        paymentId: id('Only events of this payment.'),
        startDate: time('Only what happened at this instant or later.'),
        endDate: time('Only what happened at this instant or earlier.'),
        delivered: { type: 'boolean', enum: [false], description: 'Only what was not taken.' },
      },
      async run(query) {
        const { data, hasMore } = await client.listEvents({ limit: PAGE_DEFAULT, ...query });
        return { data: data.map(summarize), hasMore };
      },
    }),
    tool<{ eventId: string }>({
      name: 'get_event',
      title: 'Get an event with its deliveries',
      description:
        'One event as its webhook carried it, with each delivery and every attempt: when, how long it took, ' +
        "the status of the merchant's server or why there was none, and when it is tried next.",
      properties: { eventId: id('ID of the event, which is also the webhook-id.') },
      required: ['eventId'],
      run: ({ eventId }) => client.getEvent(eventId),
    }),
    tool<object>({
      name: 'list_networks',
      title: 'List networks',
      description:
        'The networks and assets that payments are offered on now. A known one that is not among them is switched ' +
        'off, or nobody watches its chain.',
      properties: {},
      run: () => client.activeBlockchains(),
    }),
  ];
}

/** An event with the number and the last result of its attempts instead of each attempt. */
function summarize({ deliveries, ...event }: RecordedEvent) {
  return {
    ...event,
    deliveries: deliveries.map(({ attempts, ...delivery }) => ({
      ...delivery,
      attempts: attempts.length,
      lastStatusCode: attempts.at(-1)?.statusCode ?? null,
      lastError: attempts.at(-1)?.error ?? null,
    })),
  };
}
