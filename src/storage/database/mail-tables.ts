import type { ColumnType, Selectable } from 'kysely';
import type { Defaulted } from './column-types.ts';

interface MailsTable {
  id: string;
  /** What the mail is about. */
  kind: string;
  /** The recipient; null if `facts` name an e-mail address instead. */
  person_id: string | null;
  /** Recipient's address when it was written: changing it cannot hide what was done; null once it has ended. */
  email: Defaulted<string | null>;
  /** Key by which a person gets the mail only once; null if there is no such limit. */
  occasion: Defaulted<string | null>;
  /** What its text is made from; empty once it has ended. */
  facts: ColumnType<unknown, string, string>;
  attempts: Defaulted<number>;
  created_at: Date;
  /** When the next attempt is due, or the claim of one in flight runs out; null once it has ended. */
  due_at: Date | null;
  /** null while it waits; `dropped` for a mail that was not sent and does not have to be. */
  outcome: Defaulted<'sent' | 'given-up' | 'dropped' | null>;
  ended_at: Defaulted<Date | null>;
}

export interface MailTables {
  mails: MailsTable;
}

export type Mail = Selectable<MailsTable>;
