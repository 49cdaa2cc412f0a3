import { setTimeout as sleep } from 'node:timers/promises';
import { EVENT_TYPES, type EventType, PAYMENT_EVENT_TYPES } from '#schemas/event.ts';
import { type Config, readConfig } from '../../config/config.ts';
import { findService } from '../../development/local-service.ts';
import type { EventFollower } from '../../webhooks/follow-events.ts';
import type { CliCommand } from '../cli-command.ts';
import { cell, type JsonFlag, printLines } from '../print.ts';
import { type Session, withSession } from '../session.ts';
import { CommandFailed, type Terminal } from '../terminal.ts';
import { listOf, parseId } from '../values.ts';
import type { Forwarded, Forwarder } from './listen-forward.ts';
import { openDemo } from './request-credentials.ts';

/** How often to look for new events, and whether the service is back, in milliseconds. */
const POLL_MS = 500;

interface ListenFlags extends JsonFlag {
  readonly forwardTo: string;
  readonly merchant?: string;
  readonly types?: EventType[];
}

/** The state of one `mp listen`, which outlasts its connections to the database. */
interface Listening {
  readonly terminal: Terminal;
  readonly flags: ListenFlags;
  readonly signal: AbortSignal;
  follower?: EventFollower;
  forwarder?: Forwarder;
  /** Whether the last query got no response. */
  isAway?: boolean;
}

/** `mp listen` */
export function define(command: CliCommand): void {
  const { terminal } = command;
  command
    .requiredOption('--forward-to <url>', 'where to send them, e.g. http://localhost:8080/hooks')
    .option('--merchant <id>', 'whose events (default: the shop of the demo)', parseId)
    .option(
      '--types <a,b>',
      `comma-separated: ${EVENT_TYPES.join(', ')} (default: the first ${PAYMENT_EVENT_TYPES.length}, as for an endpoint)`,
      listOf(EVENT_TYPES),
    )
    .option('--json', 'print one JSON document on each line')
    .addHelpText(
      'after',
      `
Sends the events from now on, until Ctrl-C, signed like a webhook: with the secret in WEBHOOK_SECRET,
or with a new one, which it prints. Each is sent once, one after the other; nothing is repeated, and
nothing else changes: webhook endpoints get their deliveries as ever. Not in production.`,
    )
    .action(async (flags: ListenFlags) => {
      const config = readConfig(terminal.env);
      if (config.environment === 'production') {
        throw new CommandFailed(
          'Events of production go to webhook endpoints only: see "mp webhook create --help".',
        );
      }
      if (!(await isReachable(config))) {
        throw new CommandFailed(
          `No service is running on ${config.dataDirectory}: start it with "npm start".`,
        );
      }
      const signal = terminal.untilInterrupted?.() ?? new AbortController().signal;
      await listen({ terminal, flags, signal }, config);
    });
}

/** Listens until it is interrupted, also over restarts of the service and its database. */
async function listen(listening: Listening, config: Config): Promise<void> {
  const { terminal, signal } = listening;
  const { isDatabaseUnavailable } = await import('../../database/errors.ts');
  // A session that cannot be opened has the reason as its cause.
  const isAway = (error: unknown): boolean =>
    isDatabaseUnavailable(error) || (error instanceof CommandFailed && isAway(error.cause));
  while (!isOver(listening)) {
    try {
      // Above warnings: a lost connection is reported below, in words.
      await withSession(terminal, session => forwardAll(listening, session), {
        logLevel: 'error',
      });
    } catch (error) {
      // A failure at the start ends the command; a later one may be a restart.
      if (listening.follower === undefined || !isAway(error)) throw error;
      if (!listening.isAway) terminal.err('The database does not answer: waiting for it.\n');
      listening.isAway = true;
      do await pause(signal);
      while (!(isOver(listening) || (await isReachable(config))));
    }
  }
}

/** Whether there is a database to open. Opening the embedded one without its service would start it. */
async function isReachable({ databaseUrl, dataDirectory }: Config): Promise<boolean> {
  return databaseUrl !== null || (await findService(dataDirectory)) !== undefined;
}

async function forwardAll(listening: Listening, session: Session): Promise<void> {
  const { signal } = listening;
  const { follower, forwarder } = await prepare(listening, session);
  while (!isOver(listening)) {
    const events = await follower.next(session.db);
    if (listening.isAway) listening.terminal.err('The database answers again.\n');
    listening.isAway = false;
    for (const event of events) {
      const forwarded = await forwarder.forward(event, signal).catch(error => {
        if (!signal.aborted) throw error;
      });
      if (forwarded !== undefined) printForwarded(listening, forwarded);
      if (isOver(listening)) return;
    }
    if (events.length === 0) await pause(signal);
  }
}

/** Begins to listen, once, and says so. */
async function prepare(listening: Listening, { db, config }: Session) {
  const { flags, terminal } = listening;
  if (listening.follower === undefined || listening.forwarder === undefined) {
    const [
      { requireMerchant },
      { readDatabaseClock },
      { EventFollower, LOOK_BACK_MS },
      { createForwarder },
    ] = await Promise.all([
      import('../../accounts/merchants.ts'),
      import('../../database/ping.ts'),
      import('../../webhooks/follow-events.ts'),
      import('./listen-forward.ts'),
    ]);
    const merchantId = flags.merchant ?? (await demoMerchant(config));
    const { name } = await requireMerchant(db, merchantId);
    const forwarder = createForwarder(flags.forwardTo, terminal.env.WEBHOOK_SECRET);
    // Earlier by as much as an ID may be older than its event. Events that exist already are skipped below.
    const since = (await readDatabaseClock(db)) - LOOK_BACK_MS;
    const { types = PAYMENT_EVENT_TYPES } = flags;
    const follower = new EventFollower({ merchantId, types, since });
    while ((await follower.next(db)).length > 0 && !isOver(listening)) {
      // The next read begins where this one ended.
    }
    listening.follower = follower;
    listening.forwarder = forwarder;
    const { url, secret, isNew } = forwarder;
    if (flags.json) {
      const begun = { merchantId, forwardTo: url, ...(isNew ? { secret } : {}) };
      terminal.out(`${JSON.stringify(begun)}\n`);
    } else {
      printLines(terminal, [
        `Events of ${cell(name)} (${merchantId}) go to ${url}. Ctrl-C ends this.`,
        ...(isNew
          ? [`export WEBHOOK_SECRET='${secret}'    # for the server that verifies them`]
          : []),
        '',
      ]);
    }
  }
  return { follower: listening.follower, forwarder: listening.forwarder };
}

async function demoMerchant({ dataDirectory }: Config): Promise<string> {
  const { merchant } = await openDemo(dataDirectory, ['--merchant']);
  if (merchant.merchantId !== undefined) return merchant.merchantId;
  throw new CommandFailed('The demo has no shop: set --merchant.');
}

function printForwarded({ terminal, flags }: Listening, forwarded: Forwarded): void {
  const { at, eventId, type, statusCode, error, durationMs } = forwarded;
  const result = error === null ? `HTTP ${statusCode}` : `not sent: ${cell(error)}`;
  const line = `${at}  ${eventId}  ${type}  ${result}  ${durationMs} ms`;
  terminal.out(`${flags.json ? JSON.stringify(forwarded) : line}\n`);
}

/** After Ctrl-C, and once the reader of standard output is gone. */
function isOver({ signal, terminal }: Listening): boolean {
  return signal.aborted || terminal.isRead?.() === false;
}

async function pause(signal: AbortSignal): Promise<void> {
  await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
}
