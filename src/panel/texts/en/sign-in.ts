/** Signing in, and giving a code again. */
export const signIn = {
  title: 'Sign in',
  email: 'E-mail',
  password: 'Password',
  submit: 'Continue',
  noAccount:
    'No account, or a lost password? Ask whoever manages the account, or your operator, for a link.',
  /** One text for every reason, so that it does not reveal who signs in here. */
  refused:
    'E-mail or password are not right, or there were too many attempts. Try again, after a quarter of an hour if it stays.',

  code: {
    title: 'Enter your code',
    label: 'Code',
    hint: 'Six digits from your authenticator app, or one of your recovery codes.',
    submit: 'Confirm',
  },
  confirmation: {
    title: 'Confirm that it is you',
    lead: 'What comes next needs your second factor, unless you have given it within the last ten minutes.',
    demo: 'The demo asks for no code: a real account would, here.',
  },
};
