import type { BaseLogger } from 'pino';
import { Counter } from 'prom-client';
import type { Database } from '#storage/database/connection.ts';
import { type ClaimedMail, claimMail, endMail, postponeMail } from '#storage/repositories/mails.ts';
import type { Clock } from '#time/clock.ts';
import { MailRefused, type OutgoingMail, SEND_TIMEOUT_MS, type SendMail } from './send.ts';

/** What a mail needs to be sent. */
interface MailDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly logger: Pick<BaseLogger, 'warn'>;
  readonly send: SendMail;
  /** Writes the letter; null for a mail that need not be sent. */
  readonly write: (mail: ClaimedMail) => Promise<Omit<OutgoingMail, 'id'> | null>;
}

const MINUTE_MS = 60_000;
/**
 * Pauses after failed attempts, in milliseconds. Almost two days in total, so that an outage of the server
 * loses no mail.
 */
export const RETRY_PAUSES_MS = [1, 5, 15, 60, 240, 720, 1_440].map(minutes => minutes * MINUTE_MS);
export const ATTEMPTS_MAXIMUM = RETRY_PAUSES_MS.length + 1;
/** How long a mail is claimed, in milliseconds: one attempt, and time to record it. */
const CLAIM_MS = SEND_TIMEOUT_MS + 30_000;

const attempts = new Counter({
  name: 'eps_mail_attempts_total',
  help: 'Attempts to send mail, by what it tells of and what became of it',
  labelNames: ['kind', 'outcome'],
});

/**
 * Sends the mail that has been due longest. It may arrive twice if the worker ends between the server's reply
 * and recording it.
 * @returns `none` if none was due.
 */
export async function sendNext(
  { db, clock, logger, send, write }: MailDependencies,
  signal: AbortSignal,
): Promise<'none' | 'ended' | 'failed'> {
  const now = clock();
  const mail = await claimMail(db, new Date(now), new Date(now + CLAIM_MS));
  if (mail === undefined) return 'none';
  const { id, kind, attempts: attempt } = mail;
  const end = async (outcome: 'sent' | 'given-up' | 'dropped') => {
    await endMail(db, mail, outcome, new Date(clock()));
    attempts.inc({ kind, outcome });
    return 'ended' as const;
  };
  // The last attempt was made, but never recorded.
  if (attempt > ATTEMPTS_MAXIMUM) return end('given-up');
  try {
    const letter = await write(mail);
    if (letter === null) return end('dropped');
    await send({ id, ...letter }, signal);
  } catch (error) {
    if (!(error instanceof MailRefused) || signal.aborted) throw error;
    const { code, responseCode } = error;
    const pause = RETRY_PAUSES_MS[attempt - 1];
    logger.warn({ mailId: id, kind, attempt, code, responseCode }, 'mail not sent');
    if (pause === undefined) {
      await end('given-up');
    } else {
      await postponeMail(db, mail, new Date(clock() + pause));
      attempts.inc({ kind, outcome: 'retried' });
    }
    return 'failed';
  }
  return end('sent');
}
