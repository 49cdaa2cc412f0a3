import { type Html, html } from '../../../pages/html.ts';
import { counted } from './formats.ts';

/** Payments of a merchant; names and statuses of payments also for partners. */
export const payments = {
  title: 'Payments',
  searchHint: 'ID, reference, amount, address',
  none: 'No payment yet.',
  first: (quickstart: string) =>
    html`No payment yet. Create one with your API key, as the <a href="${quickstart}">quickstart</a> shows.`,
  noMatch: 'No payment matches.',
  noneSearched: (searched: string) => `None among the ${searched} payments that were searched.`,
  /** A search for fewer characters than a part has. */
  short: (minimum: number) =>
    `A part of a reference takes at least ${minimum} characters. Fewer find only a whole reference, or an amount.`,

  filters: {
    more: 'More filters',
    minimum: 'Amount from',
    maximum: 'Amount to',
    amountHint: 'Dollars, as 10.00',
    noAmount: 'Give an amount in dollars, as 10.00.',
    amountsReversed: (from: string, to: string) =>
      `Amount from, ${from}, is more than Amount to, ${to}.`,
  },

  statuses: {
    pending: 'pending',
    successful: 'successful',
    unsuccessful: 'unsuccessful',
    expired: 'expired',
    cancelled: 'cancelled',
  },
  /** The status while a transfer becomes final. */
  confirming: 'confirming',

  /** How a payment's transfers differ from what it asks for. */
  deviations: {
    under: 'underpaid',
    over: 'overpaid',
    duplicate: 'more came once paid',
    late: 'arrived late',
  },

  /** Names of what is known of a payment. */
  facts: {
    amount: 'Amount',
    status: 'Status',
    created: 'Created',
    expires: 'Expires',
    /** Instead of `expires`, once the payment no longer waits; for partners always. */
    expired: 'Time to pay until',
    paid: 'Paid',
    received: 'Received',
    reference: 'Reference',
    note: 'Note',
    tokenAmount: 'Amount on chain',
    network: 'Network',
    address: 'Address',
    transaction: 'Transaction',
    processor: 'Processor',
    processorReference: 'Reference of the processor',
    commission: 'Commission',
    redirect: 'Leads back to',
    lastError: 'Last error',
    cancellation: 'Cancelled because',
  },

  /** What the button beside the payment's ID copies. */
  copied: { id: 'ID' },

  accounting: {
    title: 'For your books',
    lead: 'Payments, commission and settled deposits of a finished month, in UTC, a row for each movement.',
    columns: 'What the columns mean',
    month: 'Month',
    csv: 'Download CSV',
    jsonl: 'Download signed JSON lines',
  },

  simulation: {
    title: 'Simulate',
    case: 'What a customer and the chain do',
    /** What happens in each. */
    cases: {
      confirm: 'the exact amount arrives and becomes final',
      detect: 'the exact amount is seen, not final yet',
      under: 'too little arrives',
      rest: 'too little arrives, then the exact rest',
      over: 'a little too much arrives and becomes final, unless others are open at the address',
      late: 'the exact amount arrives after the payment has ended',
      duplicate: 'the exact amount arrives twice',
      revert: 'the transaction fails on chain',
      reorg: 'the exact amount is seen, then undone by the chain',
      fail: 'the transaction fails on chain after it was seen',
      cancel: 'the customer cancels',
      expire: 'the time runs out without a payment, or after too little',
    },
    submit: 'Simulate',
    /** By the code of the error. */
    conflicts: {
      E1040: 'The payment has ended meanwhile, or its network is not offered for it any more.',
      E5002:
        'The payment’s network has no price or no free amount just now. Try again in a minute.',
    },
    notAllowed: (name: string) => `There is no case ${name} for this payment as it is now.`,
    done: (name: string) => `Simulated: ${name}.`,
    /** @param reason Why no payment took the transfer. */
    waits: (reason: string) =>
      `The payment is still pending. A transfer went to the inbox: ${reason}.`,
  },

  timeline: {
    title: 'What happened',
    evidence: 'Download signed evidence',
    created: (amount: string, creator: Html) => html`Created for ${amount} by ${creator}`,
    deposit: (amount: string, outcome: string, state: string, hash: Html) =>
      html`${amount} arrived: ${outcome}, ${state}. ${hash}`,
    /** Outcomes of deposits that a payment took. */
    outcomes: {
      exact: 'the exact amount',
      over: 'more than asked for',
      tolerated: 'a little less than asked for, which is tolerated',
      under: 'too little',
      rest: 'the rest',
      assigned: 'assigned by hand',
    },
    states: {
      seen: 'seen on chain',
      final: 'final',
      reversed: 'undone by the chain',
      failed: 'failed on chain',
    },
    transition: (status: string, reason: string) => `Now ${status}: ${reason}`,
    event: (type: Html) => html`Event ${type}`,
    delivery: (type: Html, endpoint: string, status: string, attempts: number) =>
      html`Delivery of ${type} to ${endpoint}: ${status}, ${counted(attempts, 'attempt')}`,
    deliveryStatuses: {
      pending: 'pending',
      succeeded: 'succeeded',
      failed: 'failed',
      cancelled: 'cancelled',
      withheld: 'withheld after a restore',
    },
    attempt: (number: number, endpoint: string, result: string, milliseconds: number) =>
      `Attempt ${number} at ${endpoint}: ${result} in ${milliseconds} ms`,
    httpStatus: (status: number | null) => `HTTP ${status}`,
    /** An endpoint that is not known any more. */
    formerEndpoint: 'a former endpoint',
  },

  /** What arrived, transfer by transfer. */
  transfers: {
    title: 'What arrived',
    earlier: (count: number) => `${counted(count, 'earlier transfer')} not listed.`,
    arrived: (amount: Html, network: string, at: Html) => html`${amount} on ${network}, ${at}`,
    excess: (amount: string) => `In all ${amount} more than was asked for.`,
    /** What it was counted for, or why it was not. */
    countedFor: {
      whole: 'The exact amount: it pays the payment.',
      tolerated: 'A little less than asked for, which is tolerated: it pays the payment.',
      over: 'More than asked for: it pays the payment.',
      assigned: 'Assigned to the payment by hand.',
      first: 'Too little: the first part. The customer is asked for the rest.',
      completed: 'Too little: the first part, which the rest has completed.',
      rest: 'The rest: it completes the payment.',
      elsewhere: 'A part, which counts if the customer chooses its network again.',
      too_little: 'Too little, and not completed.',
      late: 'Arrived too late: not counted.',
      former: 'For a former quote, whose price was not promised any more: not counted.',
      again: 'Arrived once it was paid: not counted.',
      unclear: 'It is not clear what it is for: not counted.',
      undone: 'Nothing arrived by it: not counted.',
      failed: 'Nothing arrived by it.',
    },
    givenBack: (to: string | null, hash: Html, at: Html) =>
      html`Given back to ${to} by ${hash}, recorded ${at}.`,
    assignedOwn: (payment: string) => html`Assigned to <a href="${payment}">another payment</a>.`,
    assigned: 'Assigned to another payment.',
    waits: 'Waits to be settled',
    waitsForOperator: 'Waits to be settled by your operator.',
    returned: (to: string | null, hash: Html) => html`Returned to ${to} by ${hash}.`,
    kept: 'Kept.',
    other: 'Settled elsewhere.',
  },

  /** Parts of a payment that ended without the rest, or was paid on another network. */
  parts: {
    title: 'Give back what arrived in part',
    part: 'What was given back',
    choice: (amount: string, hash: string) => `${amount}, ${hash}`,
    to: { label: 'To whom', hint: 'An address, or a name.' },
    hash: { label: 'Transaction', hint: 'Its hash.' },
    note: { label: 'Note', hint: 'For your own records and the audit log, for example: ticket 7.' },
    consequence: 'Your books have it from now on. That cannot be changed.',
    submit: 'Record that it was given back',
    question: (amount: string) => `Was ${amount} given back?`,
    given: (amount: string, to: string, hash: Html) => html`${amount} to ${to}, by ${hash}.`,
    recorded: (amount: string, to: string) => `Recorded: ${amount} was given back to ${to}.`,
  },
};
