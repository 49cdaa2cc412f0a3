import type { NetworkFamily } from '../../database/tables.ts';
import { type Html, html } from '../pages/html.ts';
import { renderDisclosure } from './disclosure.ts';
import { type CheckoutView, type LookUp, merchantOf } from './view.ts';

/** Longer than any transaction hash: Solana's signatures have up to 88 characters. */
const HASH_MAXIMUM = 128;

/** What a transaction hash looks like. */
const SHAPES: Readonly<Record<NetworkFamily, string>> = {
  bitcoin: '64 digits and letters from a to f',
  ethereum: '0x and 64 digits and letters from a to f',
  bnb: '0x and 64 digits and letters from a to f',
  avalanche: '0x and 64 digits and letters from a to f',
  solana: '87 or 88 letters and digits',
  tron: '64 digits and letters from a to f',
};

/** The form that looks up a transaction, and its result. It is a GET form, so it works without a script. */
export function renderLookUp(view: CheckoutView): Html {
  const { path, lookUp } = view;
  const content = html`<form class="look-up" method="get" action="${path}">
<label for="transaction">Transaction hash from your wallet</label>
<div class="row"><input id="transaction" name="transaction" value="${lookUp?.text ?? ''}" maxlength="${HASH_MAXIMUM}" required autocomplete="off" autocapitalize="off" spellcheck="false"><button class="quiet">Look up</button></div>
</form>
${lookUp && html`<p class="answer" id="look-up-answer" role="status">${explain(view, lookUp.knowledge)}</p>`}`;
  return renderDisclosure('look-up', 'Already sent it? Look it up', content, lookUp !== null);
}

function explain(view: CheckoutView, knowledge: LookUp['knowledge']): string {
  const { checkout, stage } = view;
  const network = checkout.network?.name ?? 'the network';
  const shape = checkout.network && SHAPES[checkout.network.family];
  const merchant = merchantOf(checkout);
  switch (knowledge) {
    case 'unreadable':
      return `This is not a transaction hash of ${network}${shape === null ? '' : `, which is ${shape}`}. Copy it from your wallet’s history, and check that your wallet sent it on ${network}.`;
    case 'unknown':
      return `We have not seen this transaction on ${network} yet. It can take a few minutes. Check that your wallet sent it on ${network}, to the address of this payment.`;
    case 'seen':
      return `We have seen this transaction on ${network}. It is not final yet.`;
    case 'final':
      return stage === 'paid'
        ? 'This transaction has paid for your order.'
        : `This transaction has arrived, but it is less than the amount asked for. Contact ${merchant} about it.`;
    case 'reversed':
      return `We saw this transaction, but ${network} has undone it. Check in your wallet whether the funds came back.`;
    case 'failed':
      return `This transaction failed on ${network}: nothing was transferred.`;
    case 'elsewhere':
      return `This transaction has reached us, but it did not count for this payment: it came too late, was of another amount, or belongs to another payment. Contact ${merchant} and name this hash.`;
  }
}
