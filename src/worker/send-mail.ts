import type { BaseLogger } from 'pino';
import { sendNext } from '#accounts/mail/outbox.ts';
import { type OutgoingMail, openMailServer } from '#accounts/mail/send.ts';
import type { LinkDependencies } from '#accounts/people/dependencies.ts';
import type { MailSettings } from '#config/mail-settings.ts';
import type { Keyring } from '#crypto/keyring.ts';
import type { Database } from '#storage/database/connection.ts';
import { type ClaimedMail, dropMails } from '#storage/repositories/mails.ts';
import type { Clock } from '#time/clock.ts';
import { batchLoop, workOff } from './batch-loop.ts';
import { idlePause, type Loop } from './loop.ts';

export interface SendMailDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly keyring: Keyring;
  readonly logger: Pick<BaseLogger, 'warn'>;
  /** null sends no mail. */
  readonly mail: MailSettings | null;
  /** Words a mail; null for one that need not be sent. */
  readonly writeMail: (
    deps: LinkDependencies & { readonly panelUrl: string },
    mail: ClaimedMail,
  ) => Promise<Omit<OutgoingMail, 'id'> | null>;
}

/** Short, since somebody who asked for a link waits for it on the page that promises it. */
const INTERVAL_MS = 1_000;
/** After a quiet time, and after a failure. */
const IDLE_INTERVAL_MS = 3_000;
/** How often unsent mail is dropped where there is no mail server, in milliseconds. */
const DROP_INTERVAL_MS = 30_000;
const DROPPED_AT_ONCE = 1_000;
/** How long a mail in flight may take after the worker was stopped, in milliseconds; then it is sent again later. */
const STOP_GRACE_MS = 5_000;

/** Sends due mail, one after the other. Without a mail server, mail is dropped instead of waiting for one. */
export function sendMailLoop({ mail, writeMail, ...deps }: SendMailDependencies): Loop {
  const { db, clock } = deps;
  if (mail === null) {
    const options = { name: 'send-mail', intervalMs: DROP_INTERVAL_MS, size: DROPPED_AT_ONCE };
    return batchLoop(options, () => dropMails(db, new Date(clock()), DROPPED_AT_ONCE));
  }
  const opening = openMailServer(mail);
  const letters = { ...deps, panelUrl: mail.panelUrl };
  const pause = idlePause(INTERVAL_MS, IDLE_INTERVAL_MS);
  const cutOff = new AbortController();
  return {
    name: 'send-mail',
    get intervalMs() {
      return pause.ms;
    },
    async run(signal, beat) {
      const send = await opening;
      const stop = () => setTimeout(() => cutOff.abort(), STOP_GRACE_MS).unref();
      signal.addEventListener('abort', stop, { once: true });
      try {
        await workOff(1, signal, async () => {
          const done = await sendNext(
            { ...deps, send, write: claimed => writeMail(letters, claimed) },
            cutOff.signal,
          );
          beat();
          if (done === 'ended') pause.worked();
          // Leaves a failing server alone until the next run.
          return done === 'ended' ? 1 : 0;
        });
      } finally {
        signal.removeEventListener('abort', stop);
      }
    },
  };
}
