import { html } from '../../../pages/html.ts';

/** Signing in, and giving a code again. */
export const signIn = {
  title: 'Sign in',
  email: 'E-mail',
  password: 'Password',
  submit: 'Continue',
  forgottenLink: 'Forgotten your password?',
  noAccount:
    'No account, or a lost phone? Ask whoever manages the account, or your operator, for a link.',
  demo: html`The people of the demo sign in by a link, without a password. <code>npx --no mp user demo-link</code> prints one.`,
  unconfirmed:
    'Until you have opened the link in the mail that confirms your e-mail, you sign in only on the device with which you joined.',
  /** One text for every reason, so that it does not reveal who signs in here. */
  refused:
    'E-mail or password are not right, or there were too many attempts. Try again, after a quarter of an hour if it stays.',
  signedOut: 'Signed out.',
  /** After too many wrong codes and passwords in it, or where it was ended elsewhere meanwhile. */
  sessionEnded: 'Your session has ended. Sign in again.',

  forgotten: {
    title: 'A new password',
    lead: 'Type the e-mail that you sign in with. A link for a new password is sent to it.',
    submit: 'Send me a link',
    otherFactor:
      'Your authenticator app stays as it is. If you have lost it too, ask whoever manages the account, or your operator, for a link.',
    asked: {
      title: 'Look into your mail',
      /** One text for every e-mail, so that it does not reveal who signs in here. */
      text: 'If somebody signs in with that e-mail, a link is on its way to it. It works once, for an hour.',
      nothing:
        'Nothing after a few minutes? Look into the folder for spam, check what you have typed, or ask whoever manages the account. Only a few links are sent to an e-mail within an hour.',
    },
    noMail:
      'This service sends no mail. Another admin or owner of your account makes a link for a new password, under Team, or your operator does.',
    operator: html`For operators: <code>mp user link USER --password</code>, or <code>mp member link</code>.`,
  },

  code: {
    title: 'Enter your code',
    label: 'Code',
    hint: 'Six digits from your authenticator app, or one of your recovery codes.',
    submit: 'Confirm',
  },
  confirmation: {
    title: 'Confirm that it is you',
    lead: 'This needs your second factor, since you have not given it within the last ten minutes. What you have typed is kept.',
    back: 'Do nothing, and go back',
    demo: 'The demo asks for no code: a real account would, here.',
  },
};
