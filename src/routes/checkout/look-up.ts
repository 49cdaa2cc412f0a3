import type { NetworkFamily } from '../../database/tables.ts';
import { renderDisclosure } from '../pages/disclosure.ts';
import { type Html, html } from '../pages/html.ts';
import { describeConfirmations } from './confirmations.ts';
import { renderExplorerLink } from './explorer-link.ts';
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
${lookUp && renderAnswer(view, lookUp.knowledge)}`;
  return renderDisclosure('look-up', 'Already sent it? Look it up', content, lookUp !== null);
}

function renderAnswer(view: CheckoutView, knowledge: LookUp['knowledge']): Html {
  const { transactionHash } = knowledge;
  return html`<p class="answer" id="look-up-answer" role="status">${explain(view, knowledge)} ${transactionHash && renderExplorerLink(view.checkout, transactionHash)}</p>`;
}

function explain(view: CheckoutView, { verdict, confirmations }: LookUp['knowledge']): string {
  const { checkout, stage } = view;
  const network = checkout.network?.name ?? 'the network';
  const shape = checkout.network && SHAPES[checkout.network.family];
  const symbol = checkout.network?.asset_symbol ?? 'the asset asked for';
  const merchant = merchantOf(checkout);
  const depth = confirmations && describeConfirmations(confirmations);
  switch (verdict) {
    case 'unreadable':
      return `This is not a transaction hash of ${network}${shape === null ? '' : `, which is ${shape}`}. Copy it from your wallet’s history, and check that your wallet sent it on ${network}.`;
    case 'unknown':
      return `We have not seen this transaction on ${network} yet. It can take a few minutes. Check that your wallet sent it on ${network}, to the address of this payment.`;
    case 'seen':
      return `We have seen this transaction on ${network}. ${depth ?? 'It is not final yet.'}`;
    case 'final':
      return stage === 'paid'
        ? 'This transaction has paid for your order.'
        : `This transaction has arrived, but it is less than the amount asked for. Contact ${merchant} about it.`;
    case 'reversed':
      return `We saw this transaction, but ${network} has undone it. Check in your wallet whether the funds came back.`;
    case 'failed':
      return `This transaction failed on ${network}: nothing was transferred.`;
    case 'not_found':
      return `${network} does not know this transaction. It can take a minute until a new one is known. Check that your wallet has sent it, and that it did so on ${network}.`;
    case 'pending':
      return `${network} knows this transaction, which is waiting for a block. It counts once it is in one, if it pays the exact amount to this payment’s address.`;
    case 'included':
      return `This transaction is in a block of ${network} and pays this payment’s address. ${depth ?? ''} It will be counted shortly: there is nothing more to do.`;
    case 'replaced':
      return `Another transaction has taken the place of this one. Look in your wallet’s history for the one that replaced it.`;
    case 'too_little':
      return `This transaction pays this payment’s address, but less than the amount asked for. Contact ${merchant} about it.`;
    case 'too_late':
      return `This transaction pays this payment’s address, but it arrived too late. Contact ${merchant} and name this hash.`;
    case 'too_early':
      return `This transaction is older than this payment, so that it cannot have paid it.`;
    case 'other_asset':
      return `This transaction has sent something else to this payment’s address than ${symbol} on ${network}. It did not pay this payment. Contact ${merchant} and name this hash.`;
    case 'other_address':
      return `This transaction is on ${network}, but it has sent nothing to this payment’s address. Compare the address in your wallet’s history with the one that was shown here.`;
    case 'untraceable':
      return `This transaction may have paid this payment’s address by a contract, which cannot be traced from here. ${capitalized(merchant)} has been told, and will look into it.`;
    case 'elsewhere':
      return `This transaction has reached us, but it did not count for this payment: it came too late, was of another amount, or belongs to another payment. Contact ${merchant} and name this hash.`;
  }
}

/** For "the merchant" at the beginning of a sentence. */
function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
