import { UNMATCHED_REASONS } from '#onchain/settlement/unmatched-reasons.ts';
import { type Html, html } from '../../../pages/html.ts';
import { counted } from './formats.ts';

/** Deposits that no payment took. */
export const unmatched = {
  title: 'Unmatched deposits',
  lead: 'What arrived at your addresses, and no payment took. The most valuable come first.',
  none: 'Nothing waits.',
  noMatch: 'No deposit matches.',
  shared: (addresses: Html, others: number) =>
    html`Your operator shares addresses of yours with another account: ${addresses}${others > 0 && ` and ${counted(others, 'more')}`}. What no payment takes there is not listed here.`,
  /** @param isMaximum Whether there may be more. */
  hidden: (deposits: number, isMaximum: boolean, command: Html) =>
    html`${counted(deposits, 'more deposit')} ${isMaximum ? 'or more ' : ''}${deposits === 1 ? 'is' : 'are'} not shown: another account had the same address when they arrived, so that it cannot be told from here whose the money is. Only your operator sees such deposits, with ${command}.`,

  /** Why no payment took a deposit: a word or two, and a sentence without its capital and its period. */
  reasons: UNMATCHED_REASONS,
  /** Names of what is known of a deposit. */
  facts: {
    amount: 'Amount',
    value: 'Value',
    worth: 'Worth',
    reason: 'Why',
    arrived: 'Arrived',
    state: 'State',
    network: 'Network',
    address: 'Address',
    transaction: 'Transaction',
  },
  final: 'final',
  confirming: 'confirming',
  confirmingExplained: 'confirming: it may still be undone',
  unknownValue: '–',
  worth: (value: string, pricedAt: Html) => html`${value}, at the price of ${pricedAt}`,

  filters: { worth: 'Worth at most', worthHint: 'Dollars, as 1.00' },

  /** The payment that it was meant for. */
  meant: {
    title: 'The payment that it was meant for',
    payment: (payment: Html, status: Html, since: Html | null, consequence: string) =>
      html`${payment}: ${status}${since !== null && html` since ${since}`}. ${consequence}`,
    consequences: {
      paid: 'It is paid: this is one transfer too many.',
      open: 'It is still open, but under another quote.',
      ended: 'It stays so. Settle with that customer, then dismiss the deposit.',
    },
  },

  /** Payments that it may be assigned to. */
  fits: {
    title: 'Payments that wait at its address',
    none: 'None. Settle it with the customer, then dismiss it.',
    best: 'best fit',
    amounts: (due: string, arrived: string) => `due ${due}, arrived ${arrived}`,
    submit: 'Assign',
  },

  /** Before a deposit is assigned. */
  assignment: {
    title: (order: string) => `Assign this deposit to ${order}?`,
    due: 'Due',
    arrived: 'Arrived',
    difference: 'Difference',
    differences: {
      none: 'none',
      less: (amount: string) => `${amount} less than is due`,
      more: (amount: string) => `${amount} more than is due`,
    },
    price: 'Price',
    consequence: {
      final: html`The payment becomes <strong>successful</strong> at once. That is final: it cannot be undone.`,
      confirming: html`The payment becomes <strong>successful</strong> once the deposit is final. That cannot be undone then.`,
    },
    otherOrder: (payment: Html, status: string) =>
      html`It was meant for ${payment}, which is ${status}. Make sure that it is not that customer’s money.`,
    submit: 'Assign',
    done: (order: string) => `Assigned to ${order}.`,
    look: 'Look at the payment',
  },

  /** Consent to an assignment that was refused without. */
  consent: {
    ask: 'Ask a second admin',
    arrived: 'What arrived',
    due: 'What is due',
    amountHint: 'Type the amount, without its asset.',
    submit: 'Settle the payment with this amount',
    asked: 'Asked. Another admin has to confirm it, on this page.',
  },
  /** An assignment that waits for a second person. */
  asked: {
    title: 'Waits for a second admin',
    own: (payment: Html) =>
      html`You asked to assign it to ${payment}, though it is too little or too much. Another admin has to confirm that.`,
    other: (name: string, payment: Html) =>
      html`${name} asked to assign it to ${payment}, though it is too little or too much. That settles the payment, and cannot be undone.`,
  },

  dismissal: {
    title: 'Settled with the customer?',
    several: 'Dismiss those that are ticked',
    tick: 'Dismiss this one',
    submit: 'Dismiss',
    question: (deposits: number) => `Dismiss ${counted(deposits, 'deposit')}?`,
    amounts: 'Amounts',
    /** @param unknown How many deposits have a worth that is not known. */
    worth: (sum: string, unknown: number) =>
      unknown === 0 ? sum : `${sum}, and ${counted(unknown, 'deposit')} of unknown worth`,
    worthUnknown: 'unknown',
    remedy: 'What was done',
    consequence: (deposits: number) =>
      `${deposits === 1 ? 'It leaves' : 'They leave'} the inbox. That cannot be undone.`,
    done: (deposits: number, worth: string) =>
      `Dismissed: ${counted(deposits, 'deposit')}, worth ${worth}.`,
    faults: {
      noneTicked: 'Tick the deposits first.',
      someGone: 'Some of them wait no more. Nothing was changed.',
      refused: (reason: string) => `${reason} Nothing was changed.`,
    },
  },

  /** A deposit that waits no more. */
  settled: {
    lead: 'It waits no more.',
    title: 'What became of it',
    taken: (payment: Html) => html`It belongs to ${payment}.`,
    takenElsewhere: 'It belongs to a payment of another account.',
  },

  /** What was done with the money. */
  remedy: {
    question: 'What was done with the money?',
    choices: { returned: 'Returned', kept: 'Kept', other: 'Something else' },
    to: { label: 'If returned, to whom', hint: 'An address, or a name.' },
    hash: { label: 'If returned, the transaction', hint: 'Its hash; whoever paid can see it too.' },
    note: {
      label: 'Note',
      hint: 'For your own records and the audit log, for example: ticket 7.',
    },
    faults: {
      choice: 'Say what was done with the money.',
      to: 'Say to whom it was returned.',
      hash: 'Give the hash of the transaction that returned it.',
      note: (maximum: number) => `Say it in at most ${maximum} characters on one line.`,
      noteNeeded: 'Say how it was settled with the customer.',
    },
  },
};
