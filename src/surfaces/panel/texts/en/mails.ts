import { counted, minuteOf } from './formats.ts';

/** Names an operator, who has no account in the panel. */
const OPERATOR = 'your operator';

/** What a change of where money goes would do, in the subject and as the beginning of a sentence. */
const money = {
  'address.set': (where: string) => `a new deposit address ${where}`,
  'wallet.set': (where: string) => `a wallet with an address for each payment ${where}`,
  'address.add': (where: string) => `one more deposit address ${where}`,
  'branch.main': (_: string, branch: string) => `${branch} as the main branch`,
  'merchant.one-admin': () => 'one admin instead of two for changes of where money goes',
} as const;

/** What a link lets its holder do, within a sentence. */
const renewals = {
  password: 'a new password is chosen for you',
  factors: 'a new authenticator app is set up for you',
  both: 'a new password is chosen and a new authenticator app is set up for you',
} as const;

/** What was changed of what somebody signs in with, as the beginning of a sentence. */
const changed = {
  password: 'Your password was changed',
  app: 'Your authenticator app was replaced',
  both: 'Your password and your authenticator app were replaced',
  'recovery-codes': 'Your recovery codes were replaced',
  email: 'The e-mail that you sign in with was changed: it is no longer this one',
} as const;

interface MoneyChange {
  readonly kind: keyof typeof money;
  /** Asset and network; null if the change is about none. */
  readonly network: string | null;
  readonly branch: string;
  /** null for an operator. */
  readonly proposedBy: string | null;
  readonly approvedBy: string | null;
  /** null for an operator. */
  readonly by: string | null;
  readonly effectiveAt: Date;
  readonly needsApproval: boolean;
}

function thingOf({ kind, network, branch }: MoneyChange): string {
  return money[kind](`for ${network}, branch ${branch}`, branch);
}

/** Mail to people. A subject is one line; a text is its paragraphs. */
export const mails = {
  /** @param name Empty if it is not told. */
  greeting: (name: string) => (name === '' ? 'Hello,' : `Hello ${name},`),
  /** Why the person gets it. */
  because: {
    person: 'You get this because it is about your own sign-in.',
    merchant: (account: string) =>
      `You get this because you are an admin of ${account}, or were one until lately.`,
    partner: (account: string) =>
      `You get this because you are an owner of ${account}, or were one until lately, or because it is your own API key.`,
  },
  /** Before a link. */
  look: 'Look at it in the panel:',

  signIn: {
    subject: 'You signed in with a new device',
    text: (at: Date, address: string) => [
      `Somebody signed in as you with a device that is not known, on ${minuteOf(at)}, from ${address}.`,
      'If that was you, there is nothing to do. If not, somebody has your password and a code: change your password, set up a new authenticator app, and end all other sessions.',
    ],
  },
  codesClosed: {
    subject: 'Wrong codes were entered for you',
    text: (at: Date, wrongCodes: number) => [
      `${wrongCodes} wrong codes were entered for you, the last on ${minuteOf(at)}. No codes are taken for a while, except on devices that you have signed in with before.`,
      'If that was not you, somebody knows your password: change it.',
    ],
  },
  linkMade: {
    subject: 'A link for a new password or authenticator app was made for you',
    text: (at: Date, purpose: keyof typeof renewals, by: string | null) => [
      `${by ?? 'Your operator'} has made a link on ${minuteOf(at)} with which ${renewals[purpose]}. It works once, for an hour.`,
      'If you have not asked for it, whoever has it may sign in as you: change your password now, which ends the link, and tell your operator.',
    ],
  },
  signInChanged: {
    subject: 'What you sign in with was changed',
    text: (what: keyof typeof changed, withLink: boolean, at: Date, address: string) => [
      `${changed[what]}${withLink ? ' with a link' : ''}, on ${minuteOf(at)}, from ${address}.`,
      'If that was you, there is nothing to do. If not, somebody else can sign in as you: tell another admin or owner, and your operator, at once.',
    ],
  },
  passwordLink: {
    subject: 'A link for a new password',
    text: (address: string) => [
      `Somebody, from ${address}, has asked for a link with which you choose a new password. It works once, for an hour. Your authenticator app stays as it is.`,
    ],
    link: 'Choose a new password:',
    ignore:
      'If it was not you who asked, there is nothing to do: nothing changes until the link is used. Give it to nobody.',
  },
  emailLink: {
    subject: 'Confirm your e-mail',
    text: (address: string) => [
      `Somebody, from ${address}, wants to sign in to the panel with this e-mail.`,
      'If it was you, open this link and enter your password. It works once, for a day.',
    ],
    /** If somebody signs in with the e-mail already. */
    taken: (address: string) => [
      `Somebody, from ${address}, wants to sign in to the panel with this e-mail, with which you sign in already.`,
      'If it was you: one e-mail is for one sign-in. Choose another e-mail in the profile of the new one; or keep the one that you have, and ask whoever invited you for a new invitation, which you accept after signing in.',
      'If it was not you, do nothing. Your sign-in is unchanged.',
    ],
    link: 'Confirm the e-mail:',
    ignore: 'If it was not you, do nothing: without the link and a password nothing changes.',
  },
  adminGone: {
    merchant: {
      subject: (account: string) => `An admin of ${account} was removed`,
      text: {
        deactivated: (name: string, by: string | null, account: string) =>
          `${by ?? 'Your operator'} has deactivated ${name}, who was an admin of ${account}.`,
        demoted: (name: string, by: string | null, account: string) =>
          `${by ?? 'Your operator'} has made ${name}, who was an admin of ${account}, a member.`,
      },
    },
    partner: {
      subject: (account: string) => `An owner of ${account} was removed`,
      text: {
        deactivated: (name: string, by: string | null, account: string) =>
          `${by ?? 'Your operator'} has deactivated ${name}, who was an owner of ${account}.`,
        demoted: (name: string, by: string | null, account: string) =>
          `${by ?? 'Your operator'} has made ${name}, who was an owner of ${account}, a developer.`,
      },
    },
    unknown:
      'If you do not know of it, somebody may want to be alone in the account: look at what waits there, and tell your operator at once.',
  },
  adminNew: {
    merchant: {
      subject: (account: string) => `${account} has another admin`,
      text: {
        made: (name: string, by: string | null, account: string) =>
          `${by ?? 'Your operator'} has made ${name} an admin of ${account}.`,
        activated: (name: string, by: string | null, account: string) =>
          `${by ?? 'Your operator'} has activated ${name}, who is an admin of ${account} again.`,
        joined: (name: string, by: string | null, account: string) =>
          `${name} has accepted an invitation by ${by ?? OPERATOR}, and is an admin of ${account} now.`,
      },
    },
    partner: {
      subject: (account: string) => `${account} has another owner`,
      text: {
        made: (name: string, by: string | null, account: string) =>
          `${by ?? 'Your operator'} has made ${name} an owner of ${account}.`,
        activated: (name: string, by: string | null, account: string) =>
          `${by ?? 'Your operator'} has activated ${name}, who is an owner of ${account} again.`,
        joined: (name: string, by: string | null, account: string) =>
          `${name} has accepted an invitation by ${by ?? OPERATOR}, and is an owner of ${account} now.`,
      },
    },
    unknown:
      'If you do not know of it, somebody may be taking over the account: deactivate them in the team, and tell your operator at once.',
  },
  keyMade: {
    created: {
      subject: (account: string) => `An API key of ${account} was made`,
      text: (name: string, keyId: string, by: string | null, account: string) =>
        `The API key “${name}” (${keyId}) of ${account} was made by ${by ?? OPERATOR}.`,
    },
    rotated: {
      subject: (account: string) => `An API key of ${account} was rotated`,
      text: (name: string, keyId: string, by: string | null, account: string) =>
        `The API key “${name}” (${keyId}) of ${account} got a new secret from ${by ?? OPERATOR}.`,
    },
    unknown: 'If nobody of you knows of it, revoke it, and look at who has signed in.',
  },
  keyExpires: {
    subject: (account: string) => `An API key of ${account} is about to expire`,
    text: (name: string, keyId: string, expiresAt: Date, account: string) => [
      `The API key “${name}” (${keyId}) of ${account} expires on ${minuteOf(expiresAt)}. From then on all requests with it are refused.`,
      'Make a new key, and use that one before.',
    ],
  },
  moneyChange: {
    subjects: {
      propose: (account: string) => `A change of where money goes waits at ${account}`,
      apply: (account: string) => `Where money goes was changed at ${account}`,
      cancel: (account: string) => `A change of where money goes was cancelled at ${account}`,
      lapse: (account: string) => `A change of where money goes lapsed at ${account}`,
    },
    texts: {
      propose: (change: MoneyChange) =>
        `${change.by ?? 'Your operator'} has proposed ${thingOf(change)}. ${
          change.needsApproval
            ? 'It waits until another admin approves it.'
            : `It holds from ${minuteOf(change.effectiveAt)} on, unless an admin cancels it before.`
        }`,
      apply: (change: MoneyChange) =>
        `${change.proposedBy ?? 'Your operator'} has set ${thingOf(change)}${
          change.approvedBy === null ? '' : `, approved by ${change.approvedBy}`
        }. It holds now.`,
      cancel: (change: MoneyChange) =>
        `${change.by ?? 'Your operator'} has cancelled what ${change.proposedBy ?? OPERATOR} had proposed: ${thingOf(change)}. Nothing has changed.`,
      lapse: (change: MoneyChange) =>
        `What ${change.proposedBy ?? OPERATOR} had proposed lapsed: ${thingOf(change)}. What it was to replace had changed meanwhile, or who proposed it was no admin any more.`,
    },
    unknown:
      'Whoever can change this gets the money. If you do not know of it, cancel what waits, and ask the other admins at once.',
  },
  webhookFails: {
    subject: (account: string) => `Webhooks of ${account} are not delivered`,
    text: (host: string, account: string) => [
      `For an hour or more, nothing could be delivered to the webhook endpoint of ${account} at ${host}. The service tries again for three days.`,
    ],
  },
  webhookDisabled: {
    subject: (account: string) => `A webhook endpoint of ${account} was disabled`,
    text: (host: string, reason: string, account: string) => [
      `The webhook endpoint of ${account} at ${host} was disabled, and gets no events any more: ${reason}`,
    ],
  },
  unmatched: {
    subject: (account: string) => `Money has arrived at ${account} that no payment took`,
    text: (day: string, deposits: number, account: string) => [
      `${counted(deposits, 'deposit')} of ${day} (UTC) at addresses of ${account} ${deposits === 1 ? 'waits' : 'wait'} for somebody to say what ${deposits === 1 ? 'it is' : 'they are'} for.`,
    ],
  },
};
