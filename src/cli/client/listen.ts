import { setTimeout as sleep } from 'node:timers/promises';
import {
  createClient,
  PaymentsApiError,
  PaymentsConnectionError,
  type RecordedEvent,
  verifyWebhook,
  WebhookVerificationError,
} from '#client/index.ts';
import { EVENT_TYPES, type EventType, PAYMENT_EVENT_TYPES } from '#schemas/event-types.ts';
import { cell, type JsonFlag, printLines } from '../print.ts';
import type { Terminal } from '../terminal.ts';
import { type Connection, defineCommand, URL_OPTION } from './command.ts';
import { describeClientFailure } from './failure.ts';
import { EventFollower, webhookBodyOf } from './follow-events.ts';
import {
  createForwarder,
  createSigner,
  type Forwarder,
  type SignedEvent,
  type WebhookSigner,
} from './forward.ts';
import { listOfWords } from './options.ts';

/** Pause for each request made, in milliseconds: half of a key's usual rate limit is left for others. */
const POLL_MS = 2_000;
/**
 * Longest pause while the service is unreachable or refuses for a while, unless it asks for more, in milliseconds.
 */
const AWAY_MAXIMUM_MS = 30_000;
/** Timeout of one read, in milliseconds. */
const READ_TIMEOUT_MS = 10_000;

interface ListenGiven extends JsonFlag {
  readonly forwardTo?: string;
  readonly print?: true;
  readonly types?: EventType[];
}

/** The state of one `mp listen`. */
interface Listening {
  readonly terminal: Terminal;
  readonly given: ListenGiven;
  readonly signal: AbortSignal;
  readonly types: readonly string[];
  readonly follower: EventFollower;
  /** Undefined when only lines of events are printed. */
  readonly signer: WebhookSigner | undefined;
  /** Undefined when events are only printed. */
  readonly forwarder: Forwarder | undefined;
}

/** `mp listen` */
export const command = defineCommand<ListenGiven>({
  positionals: [],
  options: [
    {
      flags: '--forward-to <url>',
      description: 'where to send them, e.g. http://localhost:8080/hooks',
    },
    {
      flags: '--print',
      description: 'print the webhook of each: headers, body, and whether its signature verifies',
    },
    {
      flags: '--types <a,b>',
      description: `comma-separated: ${EVENT_TYPES.join(', ')} (default: the first ${PAYMENT_EVENT_TYPES.length}, as for an endpoint)`,
      parse: listOfWords(EVENT_TYPES),
    },
    { flags: '--json', description: 'print one JSON document on each line' },
    URL_OPTION,
  ],
  notes: `
Follows the events that the key may read from now on, until Ctrl-C. With --forward-to it sends them signed
like a webhook: with the secret in WEBHOOK_SECRET, or with a new one, which it prints. --print shows the same
without a receiver. Each is sent once, one after the other; nothing is repeated, and nothing else changes: webhook endpoints get their deliveries as ever.`,
  async run(context, given) {
    const { terminal } = context;
    const connection = await context.connect({ ...given });
    const { baseUrl, credentials } = connection;
    const { forwardTo, print, types = PAYMENT_EVENT_TYPES } = given;
    const { WEBHOOK_SECRET: secret } = terminal.env;
    const forwarder = forwardTo === undefined ? undefined : createForwarder(forwardTo, secret);
    const signer = forwarder ?? (print ? createSigner(secret) : undefined);
    const read = { timeoutMs: READ_TIMEOUT_MS, maxAttempts: 1 };
    const follower = new EventFollower(createClient({ baseUrl, ...credentials, ...read }));
    const signal = terminal.untilInterrupted?.() ?? new AbortController().signal;
    const listening = { terminal, given, signal, types, follower, signer, forwarder };
    try {
      await follower.begin();
      printBeginning(listening, connection);
      await follow(listening, baseUrl);
    } catch (error) {
      if (!signal.aborted) throw describeClientFailure(context, baseUrl, error);
    }
  },
});

/** Reads until it is interrupted, across restarts of the service. */
async function follow(listening: Listening, baseUrl: string): Promise<void> {
  const { terminal, signal, follower, types } = listening;
  const { pollMs = POLL_MS } = terminal;
  let failures = 0;
  while (!isOver(listening)) {
    let waitMs: number;
    try {
      for await (const event of follower.next()) {
        if (types.includes(event.type)) await tell(listening, event);
        if (isOver(listening)) return;
      }
      if (failures > 0) terminal.err(`${baseUrl} answers again.\n`);
      failures = 0;
      waitMs = pollMs * follower.requests;
    } catch (error) {
      const askedMs = delayOf(error);
      if (askedMs === undefined) throw error;
      if (failures === 0) terminal.err(`${baseUrl} ${describeAway(error)}: waiting for it.\n`);
      failures += 1;
      waitMs = Math.max(askedMs, Math.min(pollMs * failures, AWAY_MAXIMUM_MS));
    }
    await sleep(waitMs, undefined, { signal }).catch(() => undefined);
  }
}

/** How long to wait after a temporary failure, in milliseconds; undefined for a permanent one. */
function delayOf(error: unknown): number | undefined {
  if (error instanceof PaymentsConnectionError) return 0;
  if (!(error instanceof PaymentsApiError)) return undefined;
  const mayPass = error.retryable || error.status === 429 || error.status >= 500;
  return mayPass ? (error.retryAfterSeconds ?? 0) * 1000 : undefined;
}

function describeAway(error: unknown): string {
  if (!(error instanceof PaymentsApiError)) return 'does not answer';
  return `answers with ${error.errorCode || `HTTP ${error.status}`}`;
}

function printBeginning({ terminal, given, signer, forwarder }: Listening, from: Connection): void {
  const { keyId } = from.credentials;
  if (given.json) {
    const secret = signer?.isNew ? { secret: signer.secret } : {};
    const begun = { url: from.baseUrl, keyId, forwardTo: forwarder?.url ?? null, ...secret };
    terminal.out(`${JSON.stringify(begun)}\n`);
    return;
  }
  const destination = forwarder === undefined ? 'are printed' : `go to ${forwarder.url}`;
  printLines(terminal, [
    `Events that ${keyId} reads at ${from.baseUrl} ${destination}. Ctrl-C ends this.`,
    ...(signer?.isNew
      ? [`export WEBHOOK_SECRET='${signer.secret}'    # for the server that verifies them`]
      : []),
    '',
  ]);
}

async function tell(listening: Listening, event: RecordedEvent): Promise<void> {
  const { terminal, given, signal, signer, forwarder } = listening;
  const { id, type, createdAt, data } = event;
  const signed = signer?.sign({ id, type, body: webhookBodyOf(event) });
  const shown = given.print && signer && signed ? verified(signed, signer.secret) : undefined;
  const print = (document: object, line: string) => {
    if (given.json) terminal.out(`${JSON.stringify({ ...document, ...shown })}\n`);
    else printLines(terminal, [line, ...(shown === undefined ? [] : webhookLines(shown))]);
  };
  if (forwarder === undefined || signed === undefined) {
    return print(event, `${createdAt}  ${id}  ${type}  ${cell(data.id)}`);
  }
  const forwarded = await forwarder.send(signed, signal);
  const { at, statusCode, error, durationMs } = forwarded;
  const result = error === null ? `HTTP ${statusCode}` : `not sent: ${cell(error)}`;
  print(forwarded, `${at}  ${id}  ${type}  ${result}  ${durationMs} ms`);
}

/** A webhook as its receiver gets it, and what the verification says of it. */
interface ShownWebhook extends Pick<SignedEvent, 'headers' | 'body'> {
  /** Null when it verifies. */
  readonly failure: string | null;
}

function verified({ headers, body }: SignedEvent, secret: string): ShownWebhook {
  try {
    verifyWebhook({ headers, body, secret });
    return { headers, body, failure: null };
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    return { headers, body, failure: error.message };
  }
}

function webhookLines({ headers, body, failure }: ShownWebhook): string[] {
  return [
    ...Object.entries(headers).map(([name, value]) => `  ${name}: ${cell(value)}`),
    `  ${cell(body)}`,
    `  ${failure === null ? 'The signature verifies.' : `Not verified: ${cell(failure)}.`}`,
  ];
}

/** True after Ctrl-C, and once the reader of standard output is gone. */
function isOver({ signal, terminal }: Listening): boolean {
  return signal.aborted || terminal.isRead?.() === false;
}
