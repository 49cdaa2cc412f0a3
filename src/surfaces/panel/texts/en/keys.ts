import { type Html, html } from '../../../pages/html.ts';
import { countedUpTo } from './formats.ts';

/** API keys of a merchant, or of a partner's members. */
export const keys = {
  title: 'API keys',
  lead: (quickstart: string) =>
    html`A key signs the requests of your server. How, the <a href="${quickstart}">quickstart</a> shows.`,
  create: 'Create a key',
  none: 'No key yet. Each consists of an ID, a secret and a passphrase, which are shown once.',

  columns: {
    name: 'Name',
    state: 'State',
    lastUse: 'Last used',
    id: 'Key ID',
    owner: 'Whose',
  },
  never: 'never',

  states: { revoked: 'revoked', expired: 'expired', rotating: 'rotating', active: 'active' },

  /** What a key may do. */
  scopes: {
    'payment_prompts:write': 'create payments',
    'payment_prompts:read': 'read payments',
    'blockchains:read': 'list networks',
    'partner_overview:read': 'read the overview',
    'partner_merchants:read': 'read merchants',
    'partner_payments:read': 'read payments of merchants',
    'partner_team:read': 'read the team',
  },

  /** The form that makes one. */
  form: {
    title: 'Create an API key',
    name: 'Name',
    nameHint: 'What uses it, for example: shop server.',
    scopes: 'What it may do',
    scopesHint: 'A key for which nothing is ticked may do all of it.',
    expiry: 'Expires',
    expiries: { never: 'Never', 90: 'In 90 days', 365: 'In a year', date: 'On a date' },
    date: 'Date, where you chose one',
    submit: 'Create',
    faults: {
      name: 'Give it a name of 1 to 200 characters on one line.',
      expiry: 'Choose when it expires.',
      date: 'Choose the date on which it expires.',
      pastDate: 'Choose a date that is still to come.',
    },
  },

  /** The page that shows a secret once. */
  issued: {
    created: 'Your new API key',
    rotated: (key: string) => `The new secret of ${key}`,
    lead: 'Secret and passphrase are shown only now. Keep them where your server reads its secrets.',
    id: 'Key ID',
    secret: 'Secret',
    passphrase: 'Passphrase',
    environment: 'As environment variables',
  },

  /** A form that was sent twice. */
  done: {
    title: 'This was done already',
    text: 'The form was sent before. Its secret was shown then, and cannot be shown any more: if nobody kept it, revoke the key and create another one.',
  },

  /** One key. */
  facts: {
    scopes: 'May',
    owner: 'Whose',
    created: 'Created',
    expires: 'Expires',
    rotated: 'Rotated',
    formerSecret: 'Former secret works until',
    revoked: 'Revoked',
    lastUse: 'Last used',
    lastError: 'Last error',
  },
  usedFrom: (at: Html, address: string | null) => html`${at} from ${address}`,

  /** What stops when the key does. */
  use: {
    neverUsed: 'It was never used.',
    lastUsed: (at: Html) => html`It was last used on ${at}.`,
    lastHour: (requests: number, most: number) =>
      `The request log has ${countedUpTo(requests, most, 'request')} with it from the last hour.`,
  },

  rotation: {
    title: 'Rotate',
    text: 'A new secret and passphrase under the same key ID. With grace the former ones work for another 24 hours, while you put the new ones in place.',
    withGrace: 'Rotate with grace',
    atOnce: 'Rotate at once',
    /** What is asked before. */
    question: (key: string) => `Rotate ${key}?`,
    endsAt: (until: Html) =>
      html`The key gets a new secret and passphrase. The former ones work until ${until}, and are refused then.`,
    endsAtOnce:
      'The key gets a new secret and passphrase. The former ones are refused at once, until your server has the new ones.',
  },

  revocation: {
    title: 'Revoke',
    text: 'Requests with this key are refused from then on. That cannot be undone.',
    name: (key: string) => `Type the key's name to revoke it: ${key}`,
    submit: 'Revoke',
    wrongName: 'This is not the name of the key. Nothing was revoked.',
    revoked: (key: string) => `Revoked: requests with ${key} are refused from now on.`,
  },
};
