import { type Html, html } from '../../../pages/html.ts';
import { counted } from './formats.ts';

/** Who may enter an account. */
export const team = {
  title: 'Team',
  lead: {
    merchant:
      'Who may enter this account. Merchant Admins change it; members look, and simulate payments.',
    partner:
      'Who may enter this account. Owners see everything of the partner; developers the overview and their own API keys.',
  },
  /** For a team of one person. */
  alone: {
    merchant:
      'Just you: a second admin can approve address changes, and help when you lose your phone.',
    partner: 'Just you: a second owner can help when you lose your phone.',
  },
  noMail: {
    merchant:
      'This service sends no mail: what needs attention stands on Home alone, and you send links yourself.',
    partner:
      'This service sends no mail: what needs attention stands on the overview alone, and you send links yourself.',
  },
  you: 'you',
  inactive: 'deactivated',
  roles: {
    admin: 'Merchant Admin',
    member: 'member',
    owner: 'owner',
    developer: 'developer',
  },
  /** Only if it is not the e-mail that they were invited with, or not confirmed. */
  signsInWith: (email: string) => `Signs in with ${email}`,
  unconfirmed: 'not confirmed',
  factors: (since: Html) => html`Password and authenticator app, since ${since}`,
  recovered: (at: Html) => html`A link gave them new ones on ${at}`,
  demo: 'Plays with the demo, without a password',
  lastSeen: (at: Html) => html`Last seen ${at}`,
  neverSeen: 'Not seen yet',
  invited: (until: Html) => html`Invited; the link works until ${until}`,
  linkOpen: (until: Html) => html`A new link works until ${until}`,
  notJoined: 'Has not joined, and has no invitation that works',
  more: 'More of the team',
  back: 'Back to the team',

  invite: {
    title: 'Invite somebody',
    lead: 'They choose a password and set up an authenticator app with a link that you send them. It works once, for 72 hours.',
    name: 'Name',
    email: 'E-mail',
    emailHint: 'What they will sign in with. Nothing is sent to it.',
    role: 'Role',
    submit: 'Invite',
    /** @param role With its article. */
    done: (name: string, role: string) => `Invited: ${name}, as ${role}.`,
  },
  role: {
    action: 'Change role',
    title: (name: string) => `Change the role of ${name}`,
    now: (role: string) => `Now: ${role}.`,
    /** @param role With its article. */
    submit: (name: string, role: string) => `Make ${name} ${role}`,
    /** What somebody gains or loses, by the role that they get. */
    effects: {
      admin: (name: string) =>
        `As a Merchant Admin, ${name} can also change addresses, API keys, webhooks, settings and the team, settle deposits that no payment took, and see the activity.`,
      member: (name: string) =>
        `As a member, ${name} still sees payments and settings, simulates payments and redelivers webhooks, but can no longer change addresses, API keys, webhooks, settings or the team, settle deposits, or see the activity.`,
      owner: (name: string) =>
        `As an owner, ${name} also sees the merchants, their payments and commission, the activity and everybody’s API keys, and can change the team and self-service; their own API keys may read all reports and create payments.`,
      developer: (name: string) =>
        `As a developer, ${name} sees only the overview, their own API keys and the requests of these, and those keys may only read the overview.`,
    },
    alsoLost: {
      merchant:
        'A key of the older contract that is theirs stops working, and they become a member in the account’s test twin too, if it has one.',
      partner: '',
    },
    when: 'It takes effect with their next request.',
    done: (name: string, role: string) => `${name} is ${role} now.`,
  },
  /** How many would still decide. */
  remaining: {
    merchant: (others: number) => remain(others, 'Merchant Admin'),
    partner: (others: number) => remain(others, 'owner'),
  },
  status: {
    deactivate: 'Deactivate',
    activate: 'Activate',
    titles: {
      inactive: (name: string) => `Deactivate ${name}`,
      active: (name: string) => `Activate ${name}`,
    },
    /** @param role With its article. */
    leaves: (name: string, role: string) =>
      `${name} is ${role}, and is signed out at once. Their open invitation and links that they have made for others end too.`,
    keys: 'They are deactivated in the account’s test twin too, if it has one. The API keys of the account keep working; a key of the older contract that is theirs does not.',
    ownKeys: (keys: number) =>
      keys === 0
        ? 'They have no API key that works.'
        : `${counted(keys, 'API key')} of theirs ${keys === 1 ? 'is' : 'are'} refused from then on.`,
    returns: {
      merchant:
        'They can enter the account again, with the password and app that they had. In its test twin, if it has one, they stay deactivated until they are activated there.',
      partner:
        'They can enter the account again, with the password and app that they had, and their API keys work again.',
    },
    done: {
      inactive: (name: string) => `${name} is deactivated, and signed out.`,
      active: (name: string) => `${name} is active again.`,
    },
  },
  link: {
    action: 'New link',
    title: (name: string) => `A new link for ${name}`,
    invitation: 'A new invitation, which works once, for 72 hours. The former one ends.',
    renewal:
      'Works once, for an hour, and ends all of their sessions. Make sure that it is they who ask for it. For 24 hours after that they cannot change where money goes.',
    purpose: 'They have lost',
    purposes: {
      factors: 'the app; the password stays',
      password: 'the password; the app stays',
      both: 'both',
    },
    submit: 'Make the link',
    issued: 'The link, shown only once',
    issuedLead:
      'Whoever has it gets in, once. Send it to nobody else, by a channel that you trust: the service does not send it.',
    until: (at: Html) => html`It works until ${at}.`,
    label: 'Link',
    sent: 'I have copied it',
    done: (name: string) => `Made: a link for ${name}. The former one has ended.`,
  },
  done: {
    title: 'This was done already',
    text: 'The form was sent before. Its link was shown then, and cannot be shown any more: if nobody kept it, make a new one.',
  },
};

/** @param role Of those who decide. */
function remain(others: number, role: string): string {
  if (others === 0) return `Nobody else signs in as ${role === 'owner' ? 'an' : 'a'} ${role}.`;
  return `${counted(others, role)} ${others === 1 ? 'remains' : 'remain'}.`;
}
