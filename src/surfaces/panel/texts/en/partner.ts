import { type Html, html } from '../../../pages/html.ts';
import { counted } from './formats.ts';

/** What a partner sees of its merchants. */
export const partner = {
  overview: {
    volume30d: 'Volume, 30 days',
    totalVolume: 'Volume in all',
    totalCommission: 'Commission in all',
    payments: 'Payments',
    merchants: 'Merchants',
    approved: 'Approved',
    actionRequired: 'Need action',
    trend: 'Volume by day',
    chart: 'Volume of the last 30 days',
    onboarding: (merchant: string, since: Html) =>
      html`Onboarding of ${merchant} is pending since ${since}`,
    none: 'No live merchants yet. Your operator links merchants to a partner.',
  },

  merchants: {
    title: 'Merchants',
    none: 'No merchants yet. Your operator links merchants to a partner.',
    noMatch: 'No merchant matches.',
    searchHint: 'Name, e-mail or ID',
    action: 'Onboarding',
    actionRequired: 'needs action',
    columns: {
      name: 'Name',
      state: 'State',
      volume30d: 'Volume, 30 days',
      payments: 'Payments',
      lastPayment: 'Last payment',
    },
    neverPaid: 'none',
  },

  /** Words for values of the reports. */
  statuses: { active: 'active', inactive: 'inactive' },
  accountKinds: { standard: 'standard', us: 'us' },

  merchant: {
    email: 'E-mail',
    accountKind: 'Account',
    created: 'Since',
    branches: 'Branches',
    mainBranch: (name: string) => `${name} (main)`,
    payments: 'Payments',
    successful: 'Successful',
    totalVolume: 'Volume',
    volume30d: 'Volume, 30 days',
    commission: 'Commission',
    latest: 'Latest payments',
    allPayments: 'All of its payments',
    test: 'A test merchant takes no real money: its payments are listed, and count in no figure.',
  },

  /** What the reports know of a payment beside what merchants see. */
  payment: {
    searchHint: 'Merchant, ID, address, …',
    parts: {
      title: 'More filters',
      payment: 'Part of the ID',
      name: 'Part of the merchant’s name',
      address: 'Part of the address',
      hash: 'Part of the transaction',
    },
    merchant: 'Merchant',
    branch: 'Branch',
    flow: 'Paid by',
    crypto: 'crypto',
    regulated: 'the processor',
    system: 'System',
  },

  commission: {
    title: 'Commission',
    month: 'Month (UTC)',
    show: 'Show',
    none: 'No merchant was paid in this month.',
    open: 'This month is not finished: its figures grow with each payment, and its file has no signature yet.',
    closed: (merchants: number) =>
      `This month is finished. ${counted(merchants, 'merchant')} on this page.`,
    owed: (month: string, total: string) =>
      `For ${month} your merchants owe the operator of this service ${total}, each the commission in its row. Split settlement may have kept it already.`,
    nothingOwed: (month: string) => `For ${month} nobody owes a commission.`,
    rule: 'A merchant owes the commission also where its customers paid it on top. The service holds no money: it owes nothing, and neither do you.',
    columns: {
      merchant: 'Merchant',
      payments: 'Payments',
      volume: 'Volume',
      commission: 'Commission',
      cents: 'in cents',
    },
    figures: { payments: 'Payments', volume: 'Volume', commission: 'Commission' },
    signature: 'Signature of the file',
    check: 'How to check it',
  },

  settings: {
    title: 'Self-service',
    selfService: 'API keys of your merchants',
    on: (merchants: number) =>
      `On: your merchants may create payments with API keys of their own. ${concerned(merchants)}`,
    off: (merchants: number) =>
      `Off: API keys of your merchants are refused with E2103. ${concerned(merchants)}`,
    switchOn: 'Switch on',
    switchOff: 'Switch off',
    question: {
      title: 'Switch off the API keys of your merchants?',
      /** @param merchants How many have a key that works until then. */
      consequence: (merchants: number) =>
        merchants === 0
          ? 'No merchant has an API key that works. From then on, new ones are refused with E2103 too.'
          : `From then on, the API keys of ${counted(merchants, 'merchant')} are refused with E2103: they can neither create payments nor read them. Payments that exist can still be paid.`,
    },
    switchedOn: 'Switched on: API keys of your merchants work.',
    switchedOff: 'Switched off: API keys of your merchants are refused with E2103.',
  },
};

function concerned(merchants: number): string {
  if (merchants === 0) return 'You have no merchant yet.';
  return `It concerns ${counted(merchants, 'merchant')}.`;
}
