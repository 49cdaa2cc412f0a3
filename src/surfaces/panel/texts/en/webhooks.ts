import { DISABLE_REASONS } from '#errors/refusals/disablings.ts';
import { type Html, html } from '../../../pages/html.ts';
import { counted, countedUpTo, minuteOf } from './formats.ts';

/** Webhook endpoints of a merchant, and what was delivered to them. */
export const webhooks = {
  title: 'Webhooks',
  lead: (guide: string) =>
    html`Your server is told of every change of a payment. How it verifies that, the <a href="${guide}">guide</a> shows.`,
  create: 'Add an endpoint',
  none: 'No endpoint yet. Each is a URL of your server that receives signed events.',
  left: (left: number) => `You can add ${counted(left, 'more endpoint')}.`,
  full: (most: number) =>
    `There are ${most} enabled endpoints, the most there may be. Disable one to add another.`,
  /** In place of the rest of a URL that a member does not see. */
  originOnly: 'Members see the origin of a URL alone: the rest may hold a secret.',

  columns: {
    url: 'URL',
    state: 'State',
    types: 'Receives',
    secret: 'Secret since',
  },
  states: { enabled: 'enabled', failing: 'failing', disabled: 'disabled' },
  allTypes: 'all of payments',
  someTypes: (types: number) => counted(types, 'type'),
  secretAge: (at: Html, days: number) => html`${at} (${counted(days, 'day')})`,

  /** The form that adds one. */
  form: {
    title: 'Add a webhook endpoint',
    url: 'URL',
    urlExample: 'https://shop.example.com/webhooks',
    urlHint: (isHttpAllowed: boolean) =>
      isHttpAllowed
        ? 'Where your server takes events. In production it has to begin with https:// and be at a public address.'
        : 'Where your server takes events. It has to begin with https:// and be at a public address.',
    types: 'What it receives',
    submit: 'Add',
    noType: 'Tick at least one of what it receives.',
    everyAndSome:
      'Every event of a payment is ticked, and some of them as well. Untick either the first or the others.',
  },
  everyType: 'Every event of a payment, also of types to come',
  types: {
    'payment_prompt.created': 'a payment was created',
    'payment_prompt.detected': 'its transfer was seen, and is not final yet',
    'payment_prompt.successful': 'it was paid',
    'payment_prompt.unsuccessful': 'it failed',
    'payment_prompt.expired': 'it expired',
    'payment_prompt.cancelled': 'it was cancelled',
    'payment_prompt.deposit_unmatched': 'a transfer arrived that no payment took',
  },

  /** The page that shows a secret once. */
  issued: {
    created: 'Your new webhook endpoint',
    rotated: (origin: string) => `The new secret of ${origin}`,
    lead: 'The secret is shown only now. Keep it where your server reads its secrets.',
    rotatedLead: (hours: number) =>
      `The secret is shown only now. Events are signed with the former one as well for another ${hours} hours: put the new one in place until then.`,
    secret: 'Secret',
    environment: 'As an environment variable',
  },
  /** A form that was sent twice. */
  done: {
    title: 'This was done already',
    text: 'The form was sent before. Its secret was shown then, and cannot be shown any more: if nobody kept it, rotate it.',
  },

  /** One endpoint. */
  facts: {
    url: 'URL',
    types: 'Receives',
    secret: 'Secret since',
    formerSecret: 'Former secret signs until',
    created: 'Added',
    disabled: 'Disabled',
    id: 'Endpoint ID',
  },
  failing: (givenUpAt: Date | null) =>
    `Nothing could be delivered for an hour or more. ${
      givenUpAt === null ? '' : `The oldest event is given up about ${minuteOf(givenUpAt)}. `
    }Look at the last attempts below, mend what they tell, and redeliver what failed. Failures alone disable no endpoint; a response of 410 does.`,
  disabled: (reason: string) => `This endpoint is disabled, and is sent nothing. ${reason}`,

  test: {
    title: 'Test',
    text: 'Sends one signed event of a payment that does not exist, and shows the response. It is not repeated.',
    submit: 'Send a test',
    result: 'Result of the test',
    received: 'Your server took the event.',
    gone: 'To a real event, this response would disable the endpoint.',
  },
  rotation: {
    title: 'Rotate the secret',
    text: (hours: number) =>
      `Events are signed with the new secret at once, and with the former one too for another ${hours} hours.`,
    submit: 'Rotate',
    /** What is asked before. */
    question: (origin: string) => `Rotate the secret of ${origin}?`,
    signsUntil: (until: Html) =>
      html`The endpoint gets a new secret, which is shown once. The former one signs as well until ${until}, and no more then.`,
  },
  /** Why an endpoint is disabled. */
  disablings: DISABLE_REASONS,
  disabling: {
    title: 'Disable',
    text: 'The endpoint is sent nothing any more, and what waits for it is cancelled, until you enable it again.',
    submit: 'Disable this endpoint',
    /** What is asked before. */
    question: (origin: string) => `Disable ${origin}?`,
    waiting: (deliveries: number, most: number) =>
      deliveries === 0
        ? 'No event waits for it.'
        : `${countedUpTo(deliveries, most, 'event')} ${deliveries === 1 ? 'waits' : 'wait'} for it, and will be cancelled.`,
    stops: (types: Html) => html`These events are not sent to it any more: ${types}.`,
    undone:
      'Enabling it queues again what is cancelled now. Events of the time in between are not sent.',
    disabled: (origin: string) => `Disabled: ${origin} is sent nothing any more.`,
    undo: 'Undo',
  },
  enabling: {
    title: 'Enable',
    text: 'The endpoint receives the events from then on, and those that disabling cancelled. What happened in between is not sent.',
    submit: 'Enable this endpoint',
    /** @param deliveries How many that disabling cancelled are queued again. */
    enabled: (origin: string, deliveries: number, hasMore: boolean) =>
      `Enabled: ${origin} receives events again.${deliveries > 0 ? ` ${counted(deliveries, 'event')} ${deliveries === 1 ? 'is' : 'are'} queued again.` : ''}${hasMore ? ' There are more: redeliver what failed for the rest.' : ''}`,
  },

  /** What was, or is to be, sent to an endpoint. */
  deliveries: {
    title: 'Deliveries',
    none: 'None yet. Each event of the types above makes one.',
    noMatch: 'No delivery matches.',
    columns: {
      time: 'Time',
      event: 'Event',
      outcome: 'Outcome',
      attempts: 'Attempts',
    },
    outcome: 'Outcome',
    outcomes: {
      pending: 'pending',
      succeeded: 'succeeded',
      failed: 'failed',
      cancelled: 'cancelled',
      withheld: 'withheld',
    },
    httpStatus: (status: number) => `HTTP ${status}`,
    /** Why there was no response, in a few words. */
    errors: {
      'private-address': 'not a public address',
      'plain-http': 'not https',
      secret: 'secret cannot be opened',
      timeout: 'no answer in time',
      'certificate-expired': 'certificate expired',
      'certificate-name': 'certificate for another name',
      'certificate-unknown': 'certificate not trusted',
      tls: 'TLS failed',
      'no-name': 'unknown name',
      'name-server': 'name servers failed',
      'closed-port': 'connection refused',
      unreachable: 'unreachable',
      'hung-up': 'connection closed',
      'not-http': 'response not HTTP',
      other: 'no response',
    },
  },

  redelivery: {
    title: 'Redeliver what failed',
    text: (most: string) =>
      `Sends again what was made since a time and has failed for good or was cancelled, at most ${most}, the oldest first. An event that was redelivered since is left out.`,
    since: 'Since (UTC)',
    submit: 'Redeliver all failed',
    noTime: 'Enter a date and a time.',
    future: 'Enter a time that has passed.',
    redelivered: (deliveries: number, hasMore: boolean) =>
      deliveries === 0
        ? 'Nothing has failed since then.'
        : `${counted(deliveries, 'event')} ${deliveries === 1 ? 'is' : 'are'} sent again.${hasMore ? ' There are more: redeliver once more for the rest.' : ''}`,
    sentAgain: 'Sent again. This is the new delivery.',
    one: 'Redeliver',
    oneText: 'Sends the same event again, with attempts of its own.',
    instead:
      'Sends the same event again, with attempts of its own. The attempts of this delivery end.',
  },

  /** One delivery. */
  delivery: {
    title: 'Delivery',
    facts: {
      eventId: 'Event ID (webhook-id)',
      payment: 'Payment',
      endpoint: 'Endpoint',
      made: 'Made',
      next: 'Next attempt',
      ended: 'Ended',
      repeats: 'Repeats',
      repeatedAs: 'Redelivered as',
      id: 'Delivery ID',
    },
    otherDelivery: 'another delivery',
    withheld:
      'The service was restored from a backup, and you may have had this event before. Redeliver it if you have not.',
    attempts: 'Attempts',
    noAttempt: 'None yet.',
    attempt: (number: number) => `Attempt ${number}`,
    took: (milliseconds: string) => `after ${milliseconds} ms`,
    noExcerpts: 'What the server responded is shown to Merchant Admins: it may repeat the URL.',
    excerpt: 'Beginning of the response',
    empty: 'The response was empty.',
    payload: 'Payload',
    payloadText:
      'Spaces and line breaks are added for reading. The file has the very bytes that are signed and sent.',
    download: 'Download the payload',
  },

  /** What was wrong with an attempt, and what to do. */
  problems: {
    'private-address':
      'The name leads to an address that is not public. Webhooks are sent to public addresses alone: correct the DNS record, or use another host.',
    'plain-http': 'The URL is not https. Add an endpoint with an https URL.',
    secret:
      'The service cannot open the signing secret of this endpoint. Tell your operator; the event is sent when that is mended.',
    timeout:
      'There was no answer in time. Respond before you process the event, and check that no firewall drops the connection.',
    'certificate-expired':
      'The certificate has expired, or is not valid yet. Renew it, and check that the server has loaded the new one.',
    'certificate-name':
      'The certificate is for another name. Get one that has the host of the URL, or use the host that it names.',
    'certificate-unknown':
      'The certificate is not from a known authority, or the server leaves out the intermediate one. Install the full chain; a self-signed certificate is not taken.',
    tls: 'TLS could not be agreed on. Check that this port speaks TLS 1.2 or later.',
    'no-name': 'The name has no address. Check the spelling of the host and its DNS records.',
    'name-server':
      'The name servers of the host did not answer, or failed. Check them with your DNS provider.',
    'closed-port':
      'The server refused the connection. Check that it runs and listens on the port of the URL.',
    unreachable: 'There is no way to the address. Check routing and firewall of your server.',
    'hung-up':
      'The connection was closed before a response. Look in the log of your server, or of the proxy before it.',
    'not-http': 'The response is not HTTP. Check the port of the URL.',
    redirect: 'Redirects are not followed. Use the URL that it leads to.',
    'not-authorized':
      'The server asks for a sign-in, or forbids the request. Let requests to this URL in, and verify their signature instead.',
    'not-found': 'The server has nothing at this URL that takes a POST. Check path and method.',
    gone: 'The server said that it is gone for good, which disables the endpoint.',
    'too-large': 'The server takes no body of this size. Raise its limit.',
    busy: 'The server takes no more just now. It is tried again; raise the limit if this goes on.',
    refused:
      'The server refused the event. If it is a wrong signature, verify the raw bytes with the secret of this very endpoint.',
    broken: 'The server failed. Look in its log at the time of the attempt.',
    other: 'There was no response.',
  },
};
