import type { ColumnType, Selectable } from 'kysely';
import type { Defaulted } from './column-types.ts';

export interface MailsTable {
  id: string;
  /** What it tells of. */
  kind: string;
  /** Whom it goes to; null for whoever has the e-mail that it names. */
  person_id: string | null;
  /** Theirs when it was written, so that nobody who changes it hides what they did; null once it has ended. */
  email: Defaulted<string | null>;
  /** What a person is told of once; null for what happens by itself. */
  occasion: Defaulted<string | null>;
  /** What its text says; empty once it has ended. */
  facts: ColumnType<unknown, string, string>;
  attempts: Defaulted<number>;
  created_at: Date;
  /** When the next attempt is due, or the claim of one under way runs out; null once it has ended. */
  due_at: Date | null;
  /** null while it waits; `dropped` for one that was not sent, and needs not be. */
  outcome: Defaulted<'sent' | 'given-up' | 'dropped' | null>;
  ended_at: Defaulted<Date | null>;
}

export interface MailTables {
  mails: MailsTable;
}

export type Mail = Selectable<MailsTable>;
