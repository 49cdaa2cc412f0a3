/** What stands around every page. */
export const shell = {
  service: 'External Payments Service',
  skip: 'Skip to content',
  menuTitle: 'Menu',
  account: 'Account',
  main: 'Main',
  accounts: 'Accounts',
  profile: 'Profile',
  docs: 'Docs',
  signOut: 'Sign out',
  menu: {
    home: 'Home',
    overview: 'Overview',
    payments: 'Payments',
    unmatched: 'Unmatched',
    merchants: 'Merchants',
    settings: 'Settings',
    team: 'Team',
    selfService: 'Self-service',
    developer: 'Developer',
    keys: 'API keys',
  },
};
