/** Changes of where a merchant's money goes. */
export const changes = {
  kinds: {
    'address.set': 'Replace the deposit address',
    'address.add': 'Add a deposit address',
    'wallet.set': 'Set a wallet with an address for each payment',
    'branch.main': 'Make another branch the main one',
    'merchant.one-admin': 'No longer ask for a second admin',
  },
  outcomes: {
    applied: 'It has taken effect.',
    cancelled: 'It was cancelled. Nothing has changed.',
    lapsed:
      'It lapsed: what it was to replace had changed meanwhile, or who proposed it was no admin any more. Nothing was changed by it.',
  },
  /** What a change is from and to, while it waits and once it has ended. */
  sides: {
    waits: { before: 'Now', after: 'From then on' },
    applied: { before: 'Before', after: 'Since then' },
    cancelled: { before: 'When it was proposed', after: 'Proposed instead' },
    lapsed: { before: 'When it was proposed', after: 'Proposed instead' },
  },
  noAddress: 'no address',
  noMain: 'no main branch',
  kept: 'The addresses that are there stay.',
  openPayments: 'Payments that are open keep the address that they show.',
  proposedBy: 'Proposed by',
  proposedAt: 'Proposed',
  networkName: 'Network',
  branch: 'Branch',
  takesEffect: 'Takes effect',
  approvedBy: 'Approved by',
  needsApproval: 'when another admin has approved it',
  waits: 'Waits',
  waiting: 'Waiting changes',
  look: 'Look at it',
  cancel: 'Cancel this change',
  approveTitle: 'Approve it',
  approve: 'Approve, so that it takes effect at once',
  approveLead:
    'Compare every group with what you know from elsewhere, not from a message. Whoever can change this address gets the money.',
  ownChange: 'You have proposed it: another admin can approve it.',
  notYours: 'Any admin can cancel it.',
  propose: 'Propose this change',
  setNow: 'Change it now',
  done: {
    proposed: 'Proposed. Until it takes effect, any admin can cancel it.',
    approved: 'Approved.',
    cancelled: 'Cancelled.',
  },
  demo: 'The demo asks for no code here.',
  code: 'Code, or a recovery code',
  codeHint: 'A fresh one: each counts once.',
  delay: (hours: number) =>
    `It waits for ${hours} hours, in which every admin can cancel it, or another admin approve it.`,
  untilApproved: 'It waits until another admin approves it.',
  atOnce: 'It takes effect at once.',
  /** What is paid on which network: several networks have the same name. */
  network: (name: string, asset: string) => `${asset} on ${name}`,
  moreWait: 'More changes wait.',
  severalByOperator: 'Your operator has changed lately where money goes, more than once.',
  /** A notice on every page. */
  waitsFor: {
    'address.set': (network: string, branch: string) =>
      `A new deposit address for ${network}, branch ${branch}, waits.`,
    'address.add': (network: string, branch: string) =>
      `One more deposit address for ${network}, branch ${branch}, waits.`,
    'wallet.set': (network: string, branch: string) =>
      `A wallet with an address for each payment of ${network}, branch ${branch}, waits.`,
    'branch.main': (_: string, branch: string) => `${branch} is to become the main branch.`,
    'merchant.one-admin': () => 'A second admin is to be asked for no longer.',
  },
  byOperator: {
    'address.set': (network: string, branch: string) =>
      `Your operator has set a deposit address for ${network}, branch ${branch}.`,
    'address.add': (network: string, branch: string) =>
      `Your operator has added a deposit address for ${network}, branch ${branch}.`,
    'wallet.set': (network: string, branch: string) =>
      `Your operator has set a wallet for ${network}, branch ${branch}.`,
    'branch.main': (_: string, branch: string) =>
      `Your operator has made ${branch} the main branch.`,
    'merchant.one-admin': () => 'Your operator asks for a second admin no longer.',
  },
};
