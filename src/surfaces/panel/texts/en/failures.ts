import { type Html, html } from '../../../pages/html.ts';

/** Pages of failures: a title and what to do. */
export const failures = {
  /** By HTTP status. */
  statuses: {
    400: { title: 'This form cannot be read', text: 'Go back, reload the page and try again.' },
    404: {
      title: 'There is no such page',
      text: 'It does not exist, or it is not yours. Check the link, or begin with your accounts.',
    },
    405: {
      title: 'This page is asked for in another way',
      text: 'Open it by its link, or send its form again.',
    },
    429: { title: 'Too many requests', text: 'Wait a minute, then try again.' },
    431: {
      title: 'This request is too large',
      text: 'Your browser sends too much along with it, most likely cookies. Delete this site’s cookies, then sign in again.',
    },
    503: {
      title: 'Not available just now',
      text: 'Try again in a minute. If you have sent a form, look first whether it was done.',
    },
  },
  other: {
    title: 'Something went wrong on our side',
    // A commit may have taken effect without being confirmed.
    text: 'Try again in a minute. If you have sent a form, look first whether it was done. If it stays, tell your operator the ID of the request.',
  },
  request: (id: Html) => html`Request ${id}`,

  foreignOrigin: {
    title: 'This request came from elsewhere',
    text: html`Nothing was changed. Forms are taken, and files given, only from this panel's own pages; open the page again and try from there.`,
  },
  privateKey: {
    title: 'That was a private key, or the words of a wallet',
    text: html`Nothing was stored, and nothing was changed. This service must never have either: whoever has seen them can take the money, and your browser may have kept them. <strong>Move the money to a new wallet.</strong> An address or an extended public key (xpub, ypub, zpub) is all that is ever asked for here.`,
  },
  accountInactive: {
    title: 'This account is inactive',
    text: 'Nothing was changed: an inactive account can only be read. Ask your operator.',
  },
  notAllowed: {
    title: 'You may not do this',
    /** @param admins Names of the people who may. */
    text: (role: string, account: string, needed: string, admins: readonly string[]) =>
      `You are ${role} of ${account}; this takes ${needed}${admins.length === 0 ? '' : `: ${admins.join(', ')}`}.`,
  },
};
