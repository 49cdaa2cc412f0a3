import { setTimeout as sleep } from 'node:timers/promises';
import {
  createClient,
  PaymentsApiError,
  PaymentsConnectionError,
  type RecordedEvent,
} from '#client/index.ts';
import { EVENT_TYPES, type EventType, PAYMENT_EVENT_TYPES } from '#schemas/event-types.ts';
import { cell, type JsonFlag, printLines } from '../print.ts';
import type { Terminal } from '../terminal.ts';
import { type Connection, defineCommand, URL_OPTION } from './command.ts';
import { describeClientFailure } from './failure.ts';
import { EventFollower, webhookBodyOf } from './follow-events.ts';
import { createForwarder, type Forwarder } from './forward.ts';
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
  readonly types?: EventType[];
}

/** The state of one `mp listen`. */
interface Listening {
  readonly terminal: Terminal;
  readonly given: ListenGiven;
  readonly signal: AbortSignal;
  readonly types: readonly string[];
  readonly follower: EventFollower;
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
      flags: '--types <a,b>',
      description: `comma-separated: ${EVENT_TYPES.join(', ')} (default: the first ${PAYMENT_EVENT_TYPES.length}, as for an endpoint)`,
      parse: listOfWords(EVENT_TYPES),
    },
    { flags: '--json', description: 'print one JSON document on each line' },
    URL_OPTION,
  ],
  notes: `
Follows the events that the key may read from now on, until Ctrl-C. With --forward-to it sends them signed
like a webhook: with the secret in WEBHOOK_SECRET, or with a new one, which it prints. Each is sent once, one
after the other; nothing is repeated, and nothing else changes: webhook endpoints get their deliveries as ever.`,
  async run(context, given) {
    const { terminal } = context;
    const connection = await context.connect({ ...given });
    const { baseUrl, credentials } = connection;
    const { forwardTo, types = PAYMENT_EVENT_TYPES } = given;
    const forwarder =
      forwardTo === undefined ? undefined : createForwarder(forwardTo, terminal.env.WEBHOOK_SECRET);
    const read = { timeoutMs: READ_TIMEOUT_MS, maxAttempts: 1 };
    const follower = new EventFollower(createClient({ baseUrl, ...credentials, ...read }));
    const signal = terminal.untilInterrupted?.() ?? new AbortController().signal;
    const listening = { terminal, given, signal, types, follower, forwarder };
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

function printBeginning({ terminal, given, forwarder }: Listening, from: Connection): void {
  const { keyId } = from.credentials;
  if (given.json) {
    const { url: forwardTo = null, secret, isNew } = forwarder ?? {};
    const begun = { url: from.baseUrl, keyId, forwardTo, ...(isNew ? { secret } : {}) };
    terminal.out(`${JSON.stringify(begun)}\n`);
    return;
  }
  const destination = forwarder === undefined ? 'are printed' : `go to ${forwarder.url}`;
  printLines(terminal, [
    `Events that ${keyId} reads at ${from.baseUrl} ${destination}. Ctrl-C ends this.`,
    ...(forwarder?.isNew
      ? [`export WEBHOOK_SECRET='${forwarder.secret}'    # for the server that verifies them`]
      : []),
    '',
  ]);
}

async function tell(listening: Listening, event: RecordedEvent): Promise<void> {
  const { terminal, given, signal, forwarder } = listening;
  const { id, type, createdAt, data } = event;
  if (forwarder === undefined) {
    const line = `${createdAt}  ${id}  ${type}  ${cell(data.id)}`;
    terminal.out(`${given.json ? JSON.stringify(event) : line}\n`);
    return;
  }
  const sent = { id, type, body: webhookBodyOf(event) };
  const forwarded = await forwarder.forward(sent, signal);
  const { at, statusCode, error, durationMs } = forwarded;
  const result = error === null ? `HTTP ${statusCode}` : `not sent: ${cell(error)}`;
  const line = `${at}  ${id}  ${type}  ${result}  ${durationMs} ms`;
  terminal.out(`${given.json ? JSON.stringify(forwarded) : line}\n`);
}

/** True after Ctrl-C, and once the reader of standard output is gone. */
function isOver({ signal, terminal }: Listening): boolean {
  return signal.aborted || terminal.isRead?.() === false;
}
