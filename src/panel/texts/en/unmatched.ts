import { type Html, html } from '../../../pages/html.ts';
import { counted } from './formats.ts';

/** Deposits that no payment took. */
export const unmatched = {
  /** @param isMaximum Whether there may be more. */
  hidden: (deposits: number, isMaximum: boolean, command: Html) =>
    html`${counted(deposits, 'more deposit')} ${isMaximum ? 'or more ' : ''}${deposits === 1 ? 'is' : 'are'} not shown: another account has, or had, the same address, so that it cannot be told from here whose the money is. Only your operator sees such deposits, with ${command}.`,
};
