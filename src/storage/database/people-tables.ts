import type { Selectable } from 'kysely';
import type { Defaulted } from './column-types.ts';

/** Who signs in to the panel. */
interface PeopleTable {
  id: string;
  name: string;
  /** Unique without regard to case among those that are confirmed. */
  email: string;
  /**
   * When the person has proved, by a link in a mail, that the e-mail is theirs; where no mail is sent, when they named it.
   * null for one that is not confirmed.
   */
  email_confirmed_at: Defaulted<Date | null>;
  /** Whether this is a person of the demo, who needs no factors. */
  is_demo: Defaulted<boolean>;
  /** The four columns of a password are set together, or null. */
  password_hash: Buffer | null;
  password_salt: Buffer | null;
  /** Parameters of the hash, as a number of `RECIPES`. */
  password_recipe: number | null;
  password_key_version: number | null;
  /** Sealed secret of the authenticator app; null without one. */
  code_secret: Buffer | null;
  code_key_version: number | null;
  /** The last period of 30 seconds whose code was used; a code can be used once. */
  code_last_step: number | null;
  /** When too many wrong codes were last entered; null since the password was changed. */
  code_closed_at: Date | null;
  /** Since when password, authenticator app and recovery codes are unchanged. */
  factors_since: Defaulted<Date>;
  /** When a link last gave the person factors. */
  recovered_at: Defaulted<Date | null>;
  /** When they last used the panel, to the minute; null before that. */
  last_seen_at: Defaulted<Date | null>;
  /** BCP 47 tag of the language of the panel and of mail; null for that of their browser. */
  language: Defaulted<string | null>;
  created_at: Date;
}

interface RecoveryCodesTable {
  person_id: string;
  hash: Buffer;
  used_at: Date | null;
}

/** How a person has proved who they are. */
export type SignInMethod = 'password' | 'code' | 'recovery-code' | 'link' | 'demo';

interface PanelSessionsTable {
  id: string;
  token_hash: Buffer;
  person_id: string;
  is_demo: boolean;
  methods: SignInMethod[];
  /** When the second factor was last given; null while it is asked for. */
  second_factor_at: Date | null;
  wrong_codes: Defaulted<number>;
  /** SHA-256 of the token of the invitation that the person signs in for; null for none. */
  link_hash: Buffer | null;
  /** Complete session of any person that the browser had before; it ends with the second factor. null for none. */
  replaced_id: string | null;
  /** What the browser says it is. */
  device: string;
  address: string;
  created_at: Date;
  last_seen_at: Date;
}

/**
 * What a link lets its holder do: enter an account, choose a new password, set up a new authenticator
 * app, both, or play with the demo.
 */
export type LinkPurpose = 'invitation' | 'password' | 'factors' | 'both' | 'demo';

export interface PanelLinksTable {
  id: string;
  token_hash: Buffer;
  purpose: LinkPurpose;
  /** Exactly one of the three is set. */
  person_id: string | null;
  merchant_user_id: string | null;
  partner_member_id: string | null;
  made_by: string;
  /** Whether the person asked for it, and got it by mail. */
  by_mail: Defaulted<boolean>;
  /** The account in whose panel it was made; null for an operator's. */
  account_id: Defaulted<string | null>;
  created_at: Date;
  expires_at: Date;
  used_at: Date | null;
}

/** Links that confirm an e-mail, sent to it. */
interface EmailLinksTable {
  id: string;
  token_hash: Buffer;
  person_id: string;
  /** What the person signs in with once the link is used. */
  email: string;
  /** When it was asked for: its mail may have been sent later. */
  created_at: Date;
  expires_at: Date;
  used_at: Date | null;
}

interface SignInCountersTable {
  key: Buffer;
  /** Failures since `began_at`; restarts after a pause of `windowMs` (`AttemptLimits`). */
  failures: number;
  /** Failures since the last success. */
  in_row: number;
  began_at: Date;
  blocked_until: Date | null;
  updated_at: Date;
}

interface KnownDevicesTable {
  token_hash: Buffer;
  person_id: string;
  created_at: Date;
}

interface PanelIntentsTable {
  id: string;
  person_id: string;
  created_at: Date;
}

interface AttentionPutAsideTable {
  person_id: string;
  /** A merchant or a partner. */
  account_id: string;
  /** What it was about, with what makes it news, at most 200 characters. */
  item: string;
  at: Date;
}

export interface PeopleTables {
  people: PeopleTable;
  recovery_codes: RecoveryCodesTable;
  panel_sessions: PanelSessionsTable;
  panel_links: PanelLinksTable;
  email_links: EmailLinksTable;
  sign_in_counters: SignInCountersTable;
  known_devices: KnownDevicesTable;
  panel_intents: PanelIntentsTable;
  attention_put_aside: AttentionPutAsideTable;
}

export type Person = Selectable<PeopleTable>;
export type PanelSession = Selectable<PanelSessionsTable>;
export type PanelLink = Selectable<PanelLinksTable>;
export type EmailLink = Selectable<EmailLinksTable>;
export type RecoveryCode = Selectable<RecoveryCodesTable>;
