/** Texts around every page, and texts that many pages share. */
export const shell = {
  /** Of the document (BCP 47). */
  language: 'en',
  service: 'External Payments Service',
  skip: 'Skip to content',
  menuTitle: 'Menu',
  account: 'Account',
  main: 'Main',
  accounts: 'Accounts',
  profile: 'Profile',
  help: 'Help',
  docs: 'Docs',
  signOut: 'Sign out',
  copy: 'Copy',
  /** Takes a change back, in the notice of it. */
  undo: 'Undo',
  copied: 'Copied',
  copyRefused: 'Copying is not allowed here: select the text instead.',
  /** The name of a button where a page has several. */
  copyWhat: (what: string) => `Copy: ${what}`,
  /** After a page that shows secrets once. */
  kept: 'I have kept them',
  menu: {
    home: 'Home',
    overview: 'Overview',
    payments: 'Payments',
    unmatched: 'Unmatched',
    merchants: 'Merchants',
    commission: 'Commission',
    settings: 'Settings',
    business: 'Business',
    branches: 'Branches',
    addresses: 'Addresses',
    domains: 'Domains',
    appearance: 'Appearance',
    team: 'Team',
    activity: 'Activity',
    selfService: 'Self-service',
    developer: 'Developer',
    keys: 'API keys',
    webhooks: 'Webhooks',
    requests: 'Request log',
    explain: 'Explain a signature',
  },

  /** What people are in an account, in a sentence. */
  roles: {
    admin: 'a Merchant Admin',
    member: 'a member',
    owner: 'an owner',
    developer: 'a developer',
  },

  onboardingStatuses: { pending: 'pending', approved: 'approved', rejected: 'rejected' },

  /** What keeps an account from taking payments. */
  banners: {
    inactive:
      'This account is inactive: it can be read, and nothing in it can be changed. Ask your operator.',
    onboarding: (status: string) =>
      `Onboarding of this account is ${status}: until it is approved, its keys are refused with E2102.`,
    selfServiceOff:
      'Your partner has switched API keys of its merchants off: they are refused with E2103.',
  },

  /** What marks a service that simulates payments. */
  simulation: {
    label: 'Simulation',
    text: 'Simulation: payments can be marked as paid without money.',
  },

  /** What marks a test merchant. */
  test: { band: 'Test: no real money', tag: 'Test' },

  /** The list of a person's accounts. */
  choice: {
    title: 'Your accounts',
    none: 'You have no account any more. Ask who invited you.',
    inactive: 'inactive',
    kinds: { merchant: 'Merchant', partner: 'Partner' },
    role: (kind: string, role: string) => `${kind}; you are ${role}`,
  },
};
