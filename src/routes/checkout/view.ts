import type { Checkout, TransactionKnowledge } from '../../checkout/checkout.ts';
import type { CheckoutStage } from '../../checkout/stage.ts';
import { formatBaseUnits } from '../../payments/token-amount.ts';

/** A transaction the customer asked about, and what is known of it. */
export interface LookUp {
  /** As it was pasted. */
  readonly text: string;
  /** `unreadable` is no transaction hash of any network. */
  readonly knowledge: TransactionKnowledge | 'unreadable';
}

/** Everything one rendering of a checkout page depends on. */
export interface CheckoutView {
  readonly checkout: Checkout;
  readonly stage: CheckoutStage;
  readonly now: Date;
  /** Path of the page, which is also the beginning of the paths of its forms. */
  readonly path: string;
  /** Why the last thing the customer asked for was not done; null when nothing is to be said. */
  readonly notice: string | null;
  /** What the customer asked of a transaction; null when nothing was asked. */
  readonly lookUp: LookUp | null;
  /** Whether payments may be simulated here. */
  readonly simulation: boolean;
}

/** How the customer is to pay, as soon as a network is chosen. */
export interface Quote {
  readonly blockchainId: string;
  readonly networkName: string;
  readonly symbol: string;
  readonly address: string;
  readonly tokenAmount: bigint;
  readonly decimals: number;
  /** Exact decimal string. */
  readonly amount: string;
}

/** The quote of a payment; null before a network is chosen. */
export function quoteOf({ payment, network }: Checkout): Quote | null {
  const { address, token_amount: units, token_decimals: decimals } = payment;
  if (network === null || address === null || units === null || decimals === null) return null;
  const tokenAmount = BigInt(units);
  return {
    blockchainId: network.id,
    networkName: network.name,
    symbol: network.asset_symbol,
    address,
    tokenAmount,
    decimals,
    amount: formatBaseUnits(tokenAmount, decimals),
  };
}

/** How the merchant is called in a sentence. */
export function merchantOf({ merchantName }: Checkout): string {
  return merchantName.trim() === '' ? 'the merchant' : merchantName;
}
