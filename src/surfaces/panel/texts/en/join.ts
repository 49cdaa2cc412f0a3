import { html } from '../../../pages/html.ts';

/** Links that let somebody in. */
export const join = {
  invitation: {
    title: (account: string) => `Join ${account}`,
    lead: (account: string, person: string, role: string) =>
      `${account} invites ${person} to its panel as ${role}.`,
    known: (signIn: string) =>
      html`You sign in here already? <a href="${signIn}">Sign in</a>, and this account becomes one of yours.`,
    email: 'E-mail to sign in with',
    submit: 'Join',
  },

  /** An invitation for somebody who has signed in. */
  acceptance: {
    text: (email: string, account: string) =>
      `You have signed in as ${email}. ${account} becomes one of your accounts.`,
    submit: (person: string) => `Join as ${person}`,
    accepted: (account: string) => `You have joined ${account}.`,
    otherPerson: 'Somebody else? Sign out first, then open the link again.',
  },

  /** A new password, a new authenticator app, or both. */
  renewal: {
    titles: {
      password: 'Choose a new password',
      factors: 'Set up a new authenticator app',
      both: 'Choose a new password and authenticator app',
    },
    lead: 'All your sessions end, and you sign in anew.',
    presentPassword: 'Your password',
    /** Names the account in the app. */
    account: 'your account',
    submit: 'Save',
    renewed: {
      password: 'Your password was changed; all your sessions have ended.',
      factors: 'Your authenticator app was replaced; all your sessions have ended.',
      both: 'Your password and your authenticator app were replaced; all your sessions have ended.',
    },
  },

  /** Confirming the e-mail that somebody signs in with, by a link in a mail. */
  email: {
    asked: (email: string) =>
      `A mail is on its way to ${email}. This e-mail is not confirmed yet: open the link, so that you can sign in on other devices and get mail. Your profile has a button that sends it again, a few times in an hour.`,
    title: 'Confirm your e-mail',
    lead: (email: string) => `From then on you sign in with ${email}, and nobody else does.`,
    password: 'Your password',
    submit: 'Confirm',
    confirmed: (email: string) => `You sign in with ${email} from now on.`,
  },

  demo: {
    title: 'Look around in the demo',
    lead: 'You enter three demo shops as their admin, and a demo partner as its owner. Nothing here is real, and no password is needed.',
    submit: 'Open the demo',
  },

  /** A link that was used, has expired or never existed: it does not reveal which. */
  ended: {
    title: 'This link does not work any more',
    text: 'It was used already, has expired, or was not copied whole. Ask whoever made it for a new one.',
  },

  recoveryCodes: {
    title: 'Keep your recovery codes',
    lead: 'Each of them stands in for your authenticator app once. They are shown only now: print them, or keep them where your passwords are.',
  },

  newPassword: {
    label: 'New password',
    hint: 'At least 15 characters. Three or four random words are easy to remember.',
  },

  app: {
    title: 'Authenticator app',
    lead: 'Scan this with an app such as Aegis, 1Password or Google Authenticator, then enter the code that it shows.',
    qrCode: 'QR code for an authenticator app',
    open: 'On this device? Open the authenticator app',
    typed: 'No camera? Type the key',
    code: 'Code',
  },
};
