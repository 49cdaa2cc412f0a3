import type { NamedAccount, NoticeKind, Notices } from '#accounts/mail/notices.ts';
import { plainName } from '#accounts/mail/plain-name.ts';
import type { OutgoingMail } from '#accounts/mail/send.ts';
import { makeEmailLink } from '#accounts/people/confirm-email.ts';
import type { LinkDependencies } from '#accounts/people/dependencies.ts';
import { makeAskedLink } from '#accounts/people/forgotten-password.ts';
import { JOIN_PATH } from '#accounts/people/invitations.ts';
import { wordDisabling } from '#errors/refusals/disablings.ts';
import type { ClaimedMail } from '#storage/repositories/mails.ts';
import { accountPath } from './kit/navigation.ts';
import { PLACES, PROFILE } from './kit/places.ts';
import { textsIn } from './texts/languages.ts';
import type { PanelTexts } from './texts/panel-texts.ts';

/** The content of a mail about something: paragraphs, and the page that shows it. */
interface Draft {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** Without the base path. */
  readonly path: string;
}

type WrittenMail = Omit<OutgoingMail, 'id'>;

/** What tells of something that has happened, rather than containing a link that somebody has asked for. */
type NoticeWithoutLink = Exclude<NoticeKind, 'password-link' | 'email-link'>;

/** Facts of a notice about an account. */
type Told<K extends NoticeWithoutLink> = Notices[K] & { readonly account: NamedAccount };

interface MailTextDependencies extends LinkDependencies {
  /** Base URL of the panel. */
  readonly panelUrl: string;
}

/**
 * Writes a mail and its recipient: plain text in the person's language, whose only links are to the panel. A link that
 * somebody has asked for is made now, so that only the mail ever contains it.
 * @returns null for a mail that need not be sent: it has no recipient any more, or is too late.
 */
export async function writeMail(
  deps: MailTextDependencies,
  { kind, facts, person, created_at: createdAt }: ClaimedMail,
): Promise<WrittenMail | null> {
  if (kind === 'password-link') {
    return writePasswordLink(deps, facts as Notices['password-link'], createdAt);
  }
  if (kind === 'email-link') return writeEmailLink(deps, facts as Notices['email-link'], createdAt);
  if (person === null) return null;
  const words = textsIn(person.language);
  const told = withPlainNames(facts);
  const about = kind as NoticeWithoutLink;
  const { subject, paragraphs, path } = draftOf(words, about, told);
  const { because, look } = words.mails;
  const { account } = told as { account?: NamedAccount };
  return mailTo(words, person, subject, [
    ...paragraphs,
    `${look}\n${deps.panelUrl}${path}`,
    account === undefined ? because.person : because[account.kind](account.name),
  ]);
}

async function writePasswordLink(
  deps: MailTextDependencies,
  asked: Notices['password-link'],
  askedAt: Date,
): Promise<WrittenMail | null> {
  const made = await makeAskedLink(deps, asked, askedAt);
  if (made === null) return null;
  const words = textsIn(made.person.language);
  const { subject, text, link, ignore } = words.mails.passwordLink;
  const url = `${deps.panelUrl}${JOIN_PATH}/${made.token}`;
  return mailTo(words, made.person, subject, [...text(asked.address), `${link}\n${url}`, ignore]);
}

/** The mail names nobody: whoever asked for it may have mistyped the e-mail, or want to send texts to others. */
async function writeEmailLink(
  deps: MailTextDependencies,
  asked: Notices['email-link'],
  askedAt: Date,
): Promise<WrittenMail | null> {
  const { email, address } = asked;
  const made = await makeEmailLink(deps, asked, askedAt);
  if (made === null) return null;
  const words = textsIn(made.language);
  const { subject, text, taken, link, ignore } = words.mails.emailLink;
  const url = `${deps.panelUrl}${JOIN_PATH}/${made.token}/email`;
  const paragraphs =
    made.token === null ? taken(address) : [...text(address), `${link}\n${url}`, ignore];
  return mailTo(words, { name: '', email }, subject, paragraphs);
}

function mailTo(
  { mails }: PanelTexts,
  to: OutgoingMail['to'],
  subject: string,
  paragraphs: readonly string[],
): WrittenMail {
  const name = plainName(to.name);
  const text = `${[mails.greeting(name), ...paragraphs].join('\n\n')}\n`;
  return { to: { name, email: to.email }, subject, text };
}

/**
 * Makes texts that people have chosen safe for a mail: names of accounts, keys, branches and people, and the reason
 * that somebody gave.
 */
function withPlainNames(facts: unknown): unknown {
  return JSON.parse(JSON.stringify(facts), (key, value) =>
    ['name', 'branch', 'reason'].includes(key) && typeof value === 'string'
      ? plainName(value)
      : value,
  );
}

function draftOf(words: PanelTexts, kind: NoticeWithoutLink, facts: unknown): Draft {
  const { mails } = words;
  switch (kind) {
    case 'sign-in': {
      const { at, address } = facts as Notices['sign-in'];
      const { subject, text } = mails.signIn;
      return { subject, paragraphs: text(new Date(at), address), path: PROFILE };
    }
    case 'codes-closed': {
      const { at, wrongCodes } = facts as Notices['codes-closed'];
      const { subject, text } = mails.codesClosed;
      return { subject, paragraphs: text(new Date(at), wrongCodes), path: PROFILE };
    }
    case 'link-made': {
      const { at, purpose, by } = facts as Notices['link-made'];
      const { subject, text } = mails.linkMade;
      return { subject, paragraphs: text(new Date(at), purpose, by), path: PROFILE };
    }
    case 'sign-in-changed': {
      const { what, withLink, at, address } = facts as Notices['sign-in-changed'];
      const { subject, text } = mails.signInChanged;
      return { subject, paragraphs: text(what, withLink, new Date(at), address), path: PROFILE };
    }
    case 'decider-gone': {
      const { account, name, how, by } = facts as Told<'decider-gone'>;
      const { subject, text } = mails.adminGone[account.kind];
      const paragraphs = [text[how](name, by, account.name), mails.adminGone.unknown];
      const path = pathOf(account) + PLACES[account.kind].team;
      return { subject: subject(account.name), paragraphs, path };
    }
    case 'decider-new': {
      const { account, name, how, by } = facts as Told<'decider-new'>;
      const { subject, text } = mails.adminNew[account.kind];
      const paragraphs = [text[how](name, by, account.name), mails.adminNew.unknown];
      const path = pathOf(account) + PLACES[account.kind].team;
      return { subject: subject(account.name), paragraphs, path };
    }
    case 'key-made': {
      const { account, verb, keyId, name, by } = facts as Told<'key-made'>;
      const { subject, text } = mails.keyMade[verb];
      const paragraphs = [text(name, keyId, by, account.name), mails.keyMade.unknown];
      return { subject: subject(account.name), paragraphs, path: keyPath(account, keyId) };
    }
    case 'key-expires': {
      const { account, keyId, name, expiresAt } = facts as Told<'key-expires'>;
      const { subject, text } = mails.keyExpires;
      const paragraphs = text(name, keyId, new Date(expiresAt), account.name);
      return { subject: subject(account.name), paragraphs, path: keyPath(account, keyId) };
    }
    case 'money-change':
      return draftMoneyChange(words, facts as Told<'money-change'>);
    case 'webhook-fails': {
      const { account, endpointId, host } = facts as Told<'webhook-fails'>;
      const { subject, text } = mails.webhookFails;
      const path = `${developerPath(account)}/webhooks/${endpointId}`;
      return { subject: subject(account.name), paragraphs: text(host, account.name), path };
    }
    case 'webhook-disabled': {
      const { account, endpointId, host, reason } = facts as Told<'webhook-disabled'>;
      const { subject, text } = mails.webhookDisabled;
      const path = `${developerPath(account)}/webhooks/${endpointId}`;
      const why = wordDisabling(words.webhooks.disablings, reason);
      return { subject: subject(account.name), paragraphs: text(host, why, account.name), path };
    }
    case 'unmatched': {
      const { account, day, deposits } = facts as Told<'unmatched'>;
      const { subject, text } = mails.unmatched;
      const paragraphs = text(day, deposits, account.name);
      return { subject: subject(account.name), paragraphs, path: `${pathOf(account)}/unmatched` };
    }
  }
}

function draftMoneyChange(
  { changes, mails }: PanelTexts,
  { account, step, changeId, network, branch, effectiveAt, ...rest }: Told<'money-change'>,
): Draft {
  const { subjects, texts: sentences, unknown } = mails.moneyChange;
  const change = {
    ...rest,
    network: network === null ? null : changes.network(network.name, network.asset),
    branch: branch ?? '',
    effectiveAt: new Date(effectiveAt),
  };
  return {
    subject: subjects[step](account.name),
    paragraphs: [sentences[step](change), unknown],
    path: `${pathOf(account)}/settings/changes/${changeId}`,
  };
}

function pathOf({ kind, id: accountId }: NamedAccount): string {
  return accountPath({ kind, accountId });
}

function developerPath(account: NamedAccount): string {
  return pathOf(account) + PLACES[account.kind].developer;
}

function keyPath(account: NamedAccount, keyId: string): string {
  return `${developerPath(account)}/keys/${keyId}`;
}
