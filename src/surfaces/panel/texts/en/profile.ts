import { type Html, html } from '../../../pages/html.ts';
import { counted, minuteOf } from './formats.ts';

/** What somebody signs in with, and where they have signed in. */
export const profile = {
  demo: 'You look around in the demo: there is nothing to sign in with.',
  signingIn: 'Signing in',
  fewRecoveryCodes: (left: number) =>
    left === 0
      ? 'You have no recovery code left: without your phone you cannot sign in. Make new ones.'
      : `You have ${counted(left, 'recovery code')} left. Make new ones before they run out.`,
  recoveryCodes: (left: number) => (left === 0 ? 'none left' : `${left} left`),
  /** The e-mail that the person signs in with is not confirmed. */
  unconfirmed: (email: string) =>
    `${email} is not confirmed: until you open the link in the mail to it, you sign in only on devices that you have signed in with before, and get no mail. If it is mistyped, change it.`,
  /** At the top of the pages of an account. */
  confirmEmail: (email: string) =>
    `Your e-mail is not confirmed: open the link in the mail to ${email}.`,
  /** The same two where no mail is sent. */
  unconfirmedWithoutMail: (email: string) =>
    `${email} is not confirmed: until you name it again by “Change e-mail”, you sign in only on devices that you have signed in with before.`,
  confirmEmailWithoutMail:
    'Your e-mail is not confirmed: name it again by “Change e-mail” in your profile.',
  resend: 'Send the link again',
  /** A sentence without its period. */
  closedCodes: (failures: number, last: Date) =>
    `${failures} wrong codes were entered for you, the last on ${minuteOf(last)}. If that was not you, somebody knows your password: change it`,
  mail: 'You are told by mail of a sign-in with a new device, of wrong codes that were entered for you, of a link that is made for you, and of changes of what you sign in with.',
  noMail:
    'This service sends no mail: a sign-in with a new device, a link that is made for you and changes of what you sign in with stand on the first page of an account alone, and wrong codes there and here.',

  sessions: {
    title: 'Sessions',
    lead: 'A session ends after an hour without a request, and after twelve hours in any case.',
    own: 'this one',
    half: 'password only',
    seen: (address: string, since: Html, last: Html) =>
      html`${address}, since ${since}, last seen ${last}`,
    unknownBrowser: 'Unknown browser',
    device: (browser: string, system: string) => `${browser} on ${system}`,
    end: 'End',
    ended: 'The session has ended.',
    endOthers: 'End all others',
    othersEnded: (ended: number) =>
      `${counted(ended, 'other session')} ${ended === 1 ? 'has' : 'have'} ended.`,
  },

  language: {
    title: 'Language',
    label: 'Language of these pages',
    byBrowser: 'As my browser asks',
    hint: 'Mail to you is in this language too, and in English while your browser decides.',
    submit: 'Save',
    changed: 'These pages are in English from now on.',
    changedByBrowser: 'These pages are in the language of your browser from now on.',
  },

  /** Changes of what somebody signs in with. */
  changes: {
    email: 'Change e-mail',
    password: 'Change password',
    app: 'Change authenticator app',
    'recovery-codes': 'Make new recovery codes',
  },
  /** After each of them. */
  changed: {
    email: 'Your e-mail was changed; all other sessions have ended.',
    password: 'Your password was changed; all other sessions have ended.',
    app: 'Your authenticator app was replaced; all other sessions have ended.',
    'recovery-codes': 'Your recovery codes were replaced; all other sessions have ended.',
  },
  /** After a form for another e-mail of somebody who has confirmed one, where mail is sent. */
  emailAsked: (email: string) =>
    `A mail is on its way to ${email}. You sign in with it once you have opened its link.`,
  form: {
    lead: 'All your other sessions end.',
    /** Of the form for another e-mail, where mail is sent. */
    emailLead:
      'A mail with a link is sent to the new e-mail. Once you have opened it, you sign in with that, and all your other sessions end.',
    /** The same for somebody whose e-mail is not confirmed. */
    unconfirmedEmailLead:
      'A mail with a link is sent to the new e-mail. You sign in with it at once on devices that you have signed in with before, and on others once you have opened the link.',
    newEmail: 'New e-mail',
    newApp: 'Scan this with the new app, then enter the code that it shows.',
    newAppCode: 'Code of the new app',
    recoveryCodes: 'The codes that you have now stop working.',
    proof: 'Proof that it is you',
    back: 'Back to your profile',
    password: 'Password',
    /** Label if the form asks for a new one as well. */
    presentPassword: 'Present password',
    code: 'Code, or a recovery code',
    presentAppCode: 'Code of the present app, or a recovery code',
  },
};
