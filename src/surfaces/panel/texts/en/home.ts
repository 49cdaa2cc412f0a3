import { type Html, html } from '../../../pages/html.ts';
import { counted, minuteOf } from './formats.ts';

/** A merchant's first page. */
export const home = {
  figuresLate: 'The figures take too long just now; reload the page to try again.',

  latest: {
    title: 'Latest payments',
    all: 'All payments',
    /** @param keys Path of the API keys. */
    none: (keys: string, quickstart: string) =>
      html`No payment yet. <a href="${keys}">Make an API key</a>, then follow the <a href="${quickstart}">quickstart</a>.`,
    demo: html`Or create one from a terminal with the demo's key:`,
  },

  paid: {
    title: 'Paid',
    today: 'Today',
    last7Days: '7 days',
    last30Days: '30 days',
    payments: (count: string) => `${count} paid`,
    chart: 'Paid in the last 30 days',
    days: 'By UTC days, today included.',
  },

  /** What needs a person's attention. */
  attention: {
    title: 'Needs attention',
    putAside: 'Put aside',
    isAside: 'Put aside for you: it is shown again when there is news of it.',
    isShown: 'It is shown again.',
    /** @param isMaximum Whether there may be more. */
    unmatched: (deposits: number, isMaximum: boolean) =>
      `${counted(deposits, 'deposit')} ${isMaximum ? 'or more ' : ''}that no payment took`,
    keyExpires: (key: string, day: string) => `The API key ${key} expires on ${day}`,
    formerSecret: (key: string, until: string) =>
      `The former secret of the API key ${key} still works until ${until}`,
    endpointFails: (origin: string) =>
      `Nothing could be delivered to the webhook endpoint at ${origin} for an hour or more`,
    keyMade: (name: string, day: string) => `The API key ${name} was made on ${day}`,
    endpointDisabled: (origin: string, reason: string) =>
      `The webhook endpoint at ${origin} is disabled: ${reason}`,
    refused: (requests: number, errorCode: string) =>
      `${counted(requests, 'request')} refused with ${errorCode} within the last hour`,
    withoutAddress: (networks: number) =>
      `${counted(networks, 'active network')} on which customers cannot pay you, for want of an address`,
    olderContract: (day: string) =>
      `The older contract is still used, last on ${day}; make an API key for its successor`,
    newDevice: (at: Date, address: string) =>
      `Somebody signed in as you with a new device on ${minuteOf(at)}, from ${address}. If that was not you, change your password`,
    /** Changes of what the person signs in with, by their action in the audit log. */
    ownChanges: {
      'person.password': 'Your password was changed',
      'person.app': 'Your authenticator app was replaced',
      'person.recovery-codes': 'Your recovery codes were replaced',
      'person.email': 'The e-mail that you sign in with was changed',
      'person.renew': 'A link gave you a new password or authenticator app',
    },
    ownChange: (what: string, at: Date, address: string) =>
      `${what} on ${minuteOf(at)}, from ${address}. If that was not you, tell your operator`,
    linkMade: (at: Date, by: string | null) =>
      `${by ?? 'Your operator'} made a link for a new password or authenticator app of yours on ${minuteOf(at)}. If you have not asked for it, change your password`,
    adminGone: {
      merchant: (name: string, day: string, by: string | null) =>
        `${name} is no admin any more: changed on ${day} by ${by ?? 'your operator'}`,
      partner: (name: string, day: string, by: string | null) =>
        `${name} is no owner any more: changed on ${day} by ${by ?? 'your operator'}`,
    },
    recoveryCodes: (left: number) =>
      left === 0
        ? 'You have no recovery code left'
        : `You have ${counted(left, 'recovery code')} left`,
  },

  /** What is still to be set up. */
  steps: {
    titles: {
      beforeLive: 'Before you go live',
      cannotSettle: 'No payment can settle',
      beforeFirst: 'Until a first payment can settle',
      advised: 'Still to set up',
    },
    advised: 'advised',
    remedies: {
      addBranch: 'Add a branch',
      setAddress: 'Set an address, or a Bitcoin wallet',
      addDomain: 'Add a domain',
      createKey: 'Create a key',
      addEndpoint: 'Add an endpoint',
    },
    askAdmin: 'Ask a Merchant Admin of this account.',
    askOperator: (command: Html) => html`Ask your operator: ${command}`,
  },
};
