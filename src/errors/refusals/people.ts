/** Refusals about signing in, and about those who do. */
export const PEOPLE = {
  'name-invalid': ({ maximum }: { maximum: number }) =>
    `Enter a name of up to ${maximum} characters, on one line.`,
  'email-invalid': 'This is no e-mail address, such as ada@example.com.',
  'email-in-use': 'Somebody signs in with this e-mail already.',
  'email-in-use-sign-in':
    'Somebody signs in with this e-mail already. If it is you, sign in first and open the link again; otherwise use another one.',
  'email-in-team': 'Somebody with this e-mail is in the team already.',
  'account-already-open': 'You can enter this account already.',

  'password-too-short': ({ minimum }: { minimum: number }) =>
    `Use at least ${minimum} characters; three or four random words are easy to remember.`,
  'password-too-long': ({ maximum }: { maximum: number }) => `Use at most ${maximum} characters.`,
  'password-of-names':
    'Half of this or more is a name or an e-mail address that anybody could try. Choose another one.',
  'password-repeated': 'This repeats one word or run of characters. Choose another one.',
  'password-of-rows': 'This goes along the keyboard or the alphabet. Choose another one.',
  'password-common': 'Many people have this password, and attackers try it. Choose another one.',
  'password-breached':
    'This password was found in data that was stolen elsewhere, and attackers try it. Choose another one.',

  'app-code-wrong':
    'This is not the code that the app shows for this QR code. Wait for the next one, and check that the clocks are right.',
  'new-app-code-wrong': 'This is not the code that the new app shows.',
  'wrong-code': 'This code is not right. Wait for the next one; each counts once.',
  'wrong-password': ({ wasRight }: { wasRight: boolean }) =>
    `This is not your password${wasRight ? ' any more' : ''}.`,
  'too-many-passwords':
    'There were too many wrong passwords. Wait a quarter of an hour; if this stays, ask for a link for a new password.',
  'too-many-codes': ({ isKnownDevice }: { isKnownDevice: boolean }) => {
    const here = isKnownDevice ? ' on this device' : '';
    const others = isKnownDevice
      ? ''
      : ', and at once on a device that you have signed in with before';
    return `Too many wrong codes were entered for you${here}. Codes are taken again in a quarter of an hour${others}. If this stays, ask for a link for a new password.`;
  },

  'admin-needed': 'This takes a Merchant Admin.',
  'owner-needed': 'This takes an owner of the partner.',
  'last-admin': 'Nobody else signs in as a Merchant Admin: make somebody one first.',
  'last-owner': 'Nobody else signs in as an owner: make somebody one first.',
  'team-member-unknown': ({ memberId }: { memberId: string }) =>
    `Nobody of the team has the ID ${memberId}.`,
  'team-member-inactive': ({ name }: { name: string }) => `${name} is deactivated.`,
  'role-not-of-merchant': 'A merchant has admins and members.',
  'role-not-of-partner': 'A partner has owners and developers.',
  'link-for-oneself': 'Change your own password and app in your profile.',
  'link-opens-other-account': ({ name }: { name: string }) =>
    `${name} has another account as well, which the link would open too: only your operator can make it or, for somebody of a test twin, an admin of the live account.`,

  'invited-inactive': 'Nobody signs in as an inactive user.',
  'invited-already-joined':
    'Somebody signs in as this user already. Make a link for a new password or authenticator app with mp user link.',
  'nobody-joined': 'Nobody signs in as this user yet; invite somebody first.',
  'link-for-demo': 'The person of the demo has nothing to sign in with.',
} as const;
