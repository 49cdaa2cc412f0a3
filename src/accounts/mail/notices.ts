import type { AddressChangeKind } from '#storage/database/account-tables.ts';
import type { Connection } from '#storage/database/connection.ts';
import {
  insertMail,
  insertMailToAdmins,
  type OtherRecipients,
} from '#storage/repositories/mails.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import type { Operator } from '../audit/audited-change.ts';

/** The account that a notice is about. */
export interface NamedAccount extends Pick<Membership, 'kind' | 'name'> {
  readonly id: string;
}

/**
 * Notices that are sent by mail, and the facts in their texts. Never a secret, and only the host of a URL.
 * Times are ISO 8601 text.
 */
export interface Notices {
  /** Signing in with an unknown device. */
  readonly 'sign-in': { readonly at: string; readonly address: string };
  /** Too many wrong codes. */
  readonly 'codes-closed': { readonly at: string; readonly wrongCodes: number };
  /** Somebody has made a link by which the person gets a new password or authenticator app. */
  readonly 'link-made': {
    readonly at: string;
    readonly purpose: 'password' | 'factors' | 'both';
    /** null for an operator. */
    readonly by: string | null;
  };
  /** The person's sign-in data was changed. After a change of e-mail, the former address is notified. */
  readonly 'sign-in-changed': {
    readonly what: 'password' | 'app' | 'both' | 'recovery-codes' | 'email';
    readonly withLink: boolean;
    readonly at: string;
    readonly address: string;
  };
  /** Somebody has typed an e-mail to get a link for a new password. */
  readonly 'password-link': { readonly email: string; readonly address: string };
  /** A person wants to sign in with an e-mail, which is to be confirmed. */
  readonly 'email-link': {
    readonly personId: string;
    readonly email: string;
    readonly address: string;
  };
  /** An admin or owner was deactivated or demoted. */
  readonly 'decider-gone': {
    readonly name: string;
    readonly how: 'deactivated' | 'demoted';
    /** null for an operator. */
    readonly by: string | null;
  };
  /** Somebody has become an admin or owner. */
  readonly 'decider-new': {
    readonly name: string;
    readonly how: 'made' | 'activated' | 'joined';
    /** Who did that, or made the invitation; null for an operator. */
    readonly by: string | null;
  };
  readonly 'key-made': {
    readonly verb: 'created' | 'rotated';
    readonly keyId: string;
    readonly name: string;
    /** null for an operator. */
    readonly by: string | null;
  };
  readonly 'key-expires': {
    readonly keyId: string;
    readonly name: string;
    readonly expiresAt: string;
  };
  /** A step of a change of where money goes. */
  readonly 'money-change': {
    readonly step: 'propose' | 'cancel' | 'lapse' | 'apply';
    readonly changeId: string;
    readonly kind: AddressChangeKind | 'wallet.set';
    /** null for a change without a network. */
    readonly network: { readonly name: string; readonly asset: string } | null;
    readonly branch: string | null;
    /** Who proposed it; null for an operator. */
    readonly proposedBy: string | null;
    readonly approvedBy: string | null;
    /** Who takes the step; null for an operator. */
    readonly by: string | null;
    readonly effectiveAt: string;
    readonly needsApproval: boolean;
  };
  readonly 'webhook-fails': { readonly endpointId: string; readonly host: string };
  readonly 'webhook-disabled': {
    readonly endpointId: string;
    readonly host: string;
    readonly reason: string;
  };
  /** Deposits that arrived on a UTC day and still wait to be matched. */
  readonly unmatched: { readonly day: string; readonly deposits: number };
}

export type NoticeKind = keyof Notices;

interface Notice<K extends NoticeKind> {
  readonly kind: K;
  readonly facts: Notices[K];
  readonly now: Date;
}

// Each function writes its notice in the transaction of the event; the worker sends it.

/** Who made a change, as a notice names them: the e-mail of a person of the account, null for an operator. */
export function namedBy({ actor, personId }: Operator): string | null {
  return personId === undefined ? null : actor;
}

/** Notifies a person about their own sign-in. */
export function tellPerson<K extends 'sign-in' | 'codes-closed' | 'link-made' | 'sign-in-changed'>(
  tx: Connection,
  personId: string,
  notice: Notice<K>,
): Promise<void> {
  return insertMail(tx, personId, notice);
}

/** Queues a mail with a link to an address; the worker decides whether to send it. */
export function queueLinkMail<K extends 'password-link' | 'email-link'>(
  tx: Connection,
  notice: Notice<K>,
): Promise<void> {
  return insertMail(tx, null, notice);
}

/** Notifies the active admins of a merchant, or the owners of a partner, and others of the account. */
export function notifyAdmins<K extends NoticeKind>(
  tx: Connection,
  account: Pick<Membership, 'kind' | 'accountId'>,
  notice: Notice<K> & { readonly occasion?: string },
  others?: OtherRecipients,
): Promise<void> {
  return insertMailToAdmins(tx, account, notice, others);
}
