import { formatBaseUnits } from '#payments/token-amount.ts';
import type { Checkout } from '../checkout.ts';
import type { LookUpResult } from '../look-up.ts';
import type { PaymentTarget } from '../payment-uri.ts';
import type { CheckoutStage } from '../stage.ts';
import type { Locale } from './locale.ts';

/** A transaction that the customer looked up. */
export interface LookUp {
  /** What the customer entered. */
  readonly text: string;
  readonly result: LookUpResult;
}

/** Everything that the rendered page depends on. */
export interface CheckoutView {
  readonly checkout: Checkout;
  readonly stage: CheckoutStage;
  readonly now: Date;
  /** Path of the page. Its forms post to paths below it. */
  readonly path: string;
  /** The path that a proxy serves the service under; empty at the root. */
  readonly basePath: string;
  readonly locale: Locale;
  /** Why the customer's last action was refused, or its result; null without a notice. */
  readonly notice: string | null;
  /** null if the customer looked up nothing. */
  readonly lookUp: LookUp | null;
  /** Where the merchant's logo is; null for none. */
  readonly logoUrl: string | null;
  /** Whether payments may be simulated. */
  readonly simulation: boolean;
  /** Says that the page is an example, on which nothing works; null for a payment's page. */
  readonly example: string | null;
}

/** What the customer has to pay, once a network is chosen. */
export interface Quote extends PaymentTarget {
  readonly networkName: string;
  readonly symbol: string;
}

/** null before a network is chosen. */
export function quoteOf({ payment, network }: Checkout): Quote | null {
  const { address, token_amount: units, token_decimals: decimals } = payment;
  if (network === null || address === null || units === null || decimals === null) return null;
  return {
    paymentId: payment.id,
    blockchainId: network.id,
    networkName: network.name,
    symbol: network.asset_symbol,
    address,
    tokenAmount: BigInt(units),
    decimals,
  };
}

/** Whether something has arrived at the payment's own address, where several transfers add up. */
export function hasParts({ transfers }: Checkout): boolean {
  return transfers.newest.some(
    ({ adds_up: addsUp, state }) => addsUp && (state === 'seen' || state === 'final'),
  );
}

/** What is still to be paid: the whole, or the rest after an underpayment. */
export function dueOf(checkout: Checkout): Quote | null {
  const quote = quoteOf(checkout);
  const { rest } = checkout.progress;
  if (quote === null || rest === null || rest === 'awaited') return quote;
  return { ...quote, tokenAmount: rest.remaining };
}

/** An amount with its asset, as the page's language writes it: `0.0125 ETH`. */
export function amountOf(
  { locale }: CheckoutView,
  { tokenAmount, decimals, symbol }: Quote,
): string {
  return locale.format.amount(tokenAmount, decimals, symbol);
}

/** The amount as wallets accept it: with a decimal point in every language. */
export function plainAmountOf({ tokenAmount, decimals }: Quote): string {
  return formatBaseUnits(tokenAmount, decimals);
}

/** The merchant's name for use in a sentence. */
export function merchantOf({ checkout, locale }: CheckoutView): string {
  const { name } = checkout.shop;
  return name.trim() === '' ? locale.texts.merchant : name;
}
