import { type Html, html } from '../../../pages/html.ts';
import { counted, formats } from './formats.ts';

/** Settings of a merchant. */
export const settings = {
  askOperator: 'Ask your operator to change any of this.',
  business: {
    title: 'Business',
    name: 'Name',
    email: 'E-mail',
    status: 'Status',
    statuses: { active: 'active', inactive: 'inactive' },
    environment: 'Environment',
    environments: {
      live: 'live: takes real money',
      test: 'test: test networks alone, and in no report',
    },
    kind: 'Kind of account',
    kinds: { standard: 'on chain', us: 'US account' },
    onboarding: 'Onboarding',
    settlement: 'Settlement',
    settlements: {
      split: 'split: the commission is settled apart',
      direct: 'direct: the whole amount is yours',
    },
    commission: 'Commission',
    payer: { merchant: 'paid by you', shopper: 'paid by the shopper' },
    tolerance: 'Too little that still settles',
    partner: 'Partner',
    noPartner: 'none',
    created: 'Since',
    id: 'Merchant ID',
  },
  twin: {
    title: 'Test twin',
    lead: 'A test merchant of its own for trying things out: on test networks alone, never with real money, and in no report. It begins with the people who sign in here, in their roles, and with keys, addresses, domains and webhooks of its own.',
    make: 'Make the test twin',
    present: (name: Html) => html`The test twin of this account is ${name}.`,
    of: (name: Html) => html`This is the test twin of ${name}.`,
    abandoned: 'Nobody signs in as its admin any more.',
    enter: 'Let the people of this account in',
    entered: (name: string) => `You are in the test twin now: ${name}.`,
    foreign: 'There is a test twin already. Ask one of its admins to invite you.',
  },
  branches: {
    title: 'Branches',
    lead: 'Payments by the API are created on the main branch, and paid to its addresses.',
    leadUs: 'Payments by the API are created on the main branch.',
    none: 'There is no main branch, so creating a payment fails with E1030. Add a branch, then make it the main one.',
    name: 'Name',
    main: 'main',
    makeMain: 'Make it the main branch',
    makeMainTitle: (name: string) => `Make ${name} the main branch`,
    proposeMain: (name: string) => `Propose to make ${name} the main branch`,
    /** Before a list of networks. */
    lacking: (name: string) =>
      `${name} has no address on these networks, on which the present main branch has one. Once ${name} is the main branch, creating a payment for any of them fails with E1020:`,
    addresses: 'Addresses',
    add: 'Add a branch',
    added: 'Created',
    done: {
      added: (name: string) => `Added: the branch ${name}.`,
      main: (name: string) => `${name} is the main branch now.`,
    },
    fault: 'Give it a name of 1 to 200 characters on one line.',
  },
  addresses: {
    title: 'Deposit addresses',
    lead: (branch: string) => `Where payments to the branch ${branch} go, by network.`,
    none: 'This branch has no address yet. While the main branch has none, creating a payment fails with E1020.',
    usAccount:
      'A US account needs no deposit address: its customers pay on the page of its processor.',
    noBranch: 'There is no branch, and so no address: creating a payment fails with E1030.',
    network: 'Network',
    address: 'Address',
    setAt: 'Set',
    noneSet: 'none',
    state: 'State',
    active: 'active',
    inactive: 'switched off',
    environments: { production: 'Main networks', test: 'Test networks' },
    testOnly: 'A test merchant has addresses on test networks alone.',
    otherBranches: 'Branches',
    allBranches: 'All branches',
    moreAddresses: (addresses: number) => `and ${formats.number(addresses)} more`,
    onNetwork: (network: string) => `Addresses for ${network}`,
    ofBranch: (branch: string) => `Of the branch ${branch}`,
    inForce: 'In force now',
    noneHere: 'No address: payments on this network fail with E1020.',
    isOff: 'Your operator has switched this network off: customers are not offered it.',
    remove: 'Remove',
    removal: {
      title: (network: string) => `Remove an address for ${network}?`,
      isLast: (branch: string) =>
        `${branch} has no other address on this network: while it is the main branch, creating a payment for this network fails with E1020.`,
      lapses: 'The change of these addresses that waits lapses.',
      submit: 'Remove this address',
    },
    done: {
      'address.set': (network: string, address: string) =>
        `Payments for ${network} now go to ${address}.`,
      'address.add': (network: string, address: string) =>
        `Payments for ${network} now go to ${address} too.`,
      removed: (network: string, address: string) => `Removed for ${network}: ${address}.`,
    },
    wallet: {
      /** By the kind of its addresses. */
      kinds: {
        wpkh: 'native segwit',
        tr: 'taproot',
        'sh-wpkh': 'nested segwit',
        pkh: 'legacy',
      },
      name: (kind: string, fingerprint: Html) => html`Wallet ${fingerprint}, ${kind}`,
      from: (index: number) => `Its addresses from index ${index} on, the next unused one first:`,
      stands: (nextIndex: number, out: number, paid: number) =>
        `Next index ${formats.number(nextIndex)}; out to open payments: ${formats.number(out)}; paid: ${formats.number(paid)}.`,
      gap: (gap: number, maximum: number) => `Unpaid in a row: ${gap} of at most ${maximum}.`,
      title: 'A wallet with an address for each payment',
      lead: 'Each payment gets an address of its own from your wallet, so customers see nothing of each other, and parts add up. What is there now is replaced.',
      key: 'Extended public key, or output descriptor',
      keyHint:
        'Begins with xpub, ypub or zpub, or on test networks with tpub, upub or vpub. It shows all addresses and balances of the wallet, but cannot spend. Never paste a private key (xprv) or the words of the wallet.',
      next: 'Next unused receiving address',
      nextHint:
        'As the wallet shows it under “Receive”. It proves the key, and from there on payments get their addresses.',
      tooMany: 'Too many wallets were read in a minute. Wait a minute, then send this again.',
      guide: 'Where to find them in your wallet',
      reviewTitle: (network: string) => `New wallet for ${network}`,
      reviewLead: 'Compare every group with the receiving addresses that your wallet shows.',
      done: (network: string) => `Payments for ${network} now get addresses of this wallet.`,
    },
    change: 'A new address',
    newAddress: 'Address',
    newAddressHint:
      'Its checksum is verified. You see it beside the present one before anything changes.',
    how: 'What it does',
    hows: { 'address.set': 'Replaces what is there', 'address.add': 'One more' },
    compare: 'Compare',
    reviewTitle: (network: string) => `New address for ${network}`,
    reviewLead: 'Compare every group with your wallet.',
    back: 'Back',
  },
  secondAdmin: {
    title: 'A second admin',
    on: 'What changes where money goes always takes a second admin.',
    off: 'What changes where money goes needs no second admin; one may approve it sooner.',
    require: 'Always ask for a second admin',
    requiring: {
      title: 'Always ask for a second admin?',
      consequence:
        'From then on, what changes where money goes waits until another admin has approved it, what waits already included.',
      back: 'No longer asking for one is a change of its own.',
      submit: 'Always ask for one',
      done: 'What changes where money goes takes a second admin now.',
    },
    relax: 'No longer ask for a second admin',
  },
  domains: {
    title: 'Domains',
    lead: 'Where customers may be led back to after paying: each hostname by itself, without https://.',
    none: 'No domain yet: creating a payment with a redirectUrl fails with E1010.',
    usAccount:
      'Customers of a US account are not led back after paying: it needs no domain, and its payments no redirectUrl.',
    domain: 'Hostname',
    example: 'shop.example.com',
    add: 'Add',
    remove: 'Remove',
    left: (domains: number) => `You can add ${counted(domains, 'more domain')}.`,
    full: 'All are used. Remove one to add another.',
    added: (domain: string) => `Added: customers may be led back to ${domain}.`,
    removed: (domain: string) => `Removed: ${domain}.`,
    removal: {
      title: (domain: string) => `Remove ${domain}?`,
      consequence: (code: string) =>
        `From then on, creating a payment with a redirectUrl there fails with ${code}. Payments that exist keep where they lead.`,
      submit: 'Remove this domain',
    },
  },
  go: {
    title: 'Which account?',
    none: 'None of your accounts has this setting.',
  },
};
