import { roundedAmount, toBaseUnits } from '#onchain/settlement/quote-amounts.ts';
import { PRICE_SCALE } from '#payments/rates/price.ts';
import type { Network } from '#storage/database/network-tables.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import type { NetworkOnChain } from '#storage/repositories/chains/networks.ts';
import { NO_TRANSFERS } from '#storage/repositories/deposits/transfers.ts';
import type { Checkout, Shop } from '../../checkout/checkout.ts';
import { NO_PROGRESS } from '../../checkout/progress.ts';
import type { CheckoutStage } from '../../checkout/stage.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';

/** Stages of which the panel shows an example. Only the page of a payment that failed shows the contact. */
export const EXAMPLE_STAGES = [
  'choose',
  'waiting',
  'paid',
  'expired',
] as const satisfies readonly CheckoutStage[];
export type ExampleStage = (typeof EXAMPLE_STAGES)[number];
/** Shown first, because it has more of the accent colour than the list of coins. */
export const FIRST_STAGE: ExampleStage = 'waiting';

/**
 * Looks like an address but is not one: `b`, `i` and `o` are not characters of Bech32 (BIP-173), so no wallet pays to
 * it, even if somebody scans the code.
 */
export const EXAMPLE_ADDRESS = 'bc1qexample0nobody0has0this0address0do0not0pay';

/** Prices on the example's networks, in whole dollars. */
const PRICES: Readonly<Record<string, bigint>> = {
  btc: 100_000n,
  eth: 4_000n,
  'eth-usdc': 1n,
  sol: 200n,
  'tron-usdt': 1n,
};
/** The network that the example is paid on. */
const CHOSEN = 'btc';

const CENTS = 2_450;
const MINUTE_MS = 60_000;
const NO_ID = '00000000-0000-0000-0000-000000000000';

/** An example checkout in a stage. Only the names of its networks are from the database. */
export function exampleCheckout(
  words: PanelTexts,
  stage: ExampleStage,
  shop: Shop,
  networks: readonly Network[],
  now: Date,
): Checkout {
  const offered = networks.filter(({ id }) => id in PRICES).map(exampleNetwork);
  const chosen = offered.find(({ id }) => id === CHOSEN) ?? null;
  const network = stage === 'waiting' || stage === 'paid' ? chosen : null;
  const payment = {
    ...examplePayment(words, now),
    ...(network === null ? {} : quoteOn(network, now)),
  };
  const isOpen = stage === 'choose' || stage === 'waiting';
  return {
    payment: stage === 'paid' ? { ...payment, ...paidAt(now) } : payment,
    choices: isOpen
      ? offered.map(each => ({ network: each, available: true, tokenAmount: amountOn(each) }))
      : [],
    shop,
    network,
    progress: NO_PROGRESS,
    received: null,
    transfers: NO_TRANSFERS,
    isSimulable: false,
  };
}

function exampleNetwork(network: Network): NetworkOnChain {
  return { ...network, explorer: null, head_height: null, watched_until: null, halted: null };
}

function amountOn({ id, asset_symbol: symbol, asset_decimals: decimals }: Network): bigint {
  const price = (PRICES[id] ?? 1n) * PRICE_SCALE;
  return roundedAmount(toBaseUnits(CENTS, price, decimals), { symbol, decimals });
}

function quoteOn(network: Network, now: Date): Partial<Payment> {
  return {
    blockchain_id: network.id,
    address: EXAMPLE_ADDRESS,
    token_amount: String(amountOn(network)),
    token_decimals: network.asset_decimals,
    quoted_at: now,
  };
}

function paidAt(now: Date): Partial<Payment> {
  return { status: 'successful', transaction_hash: '0'.repeat(64), paid_at: now };
}

function examplePayment({ appearance }: PanelTexts, now: Date): Payment {
  const { reference, noteText } = appearance.preview;
  return {
    id: NO_ID,
    merchant_id: NO_ID,
    branch_id: NO_ID,
    partner_id: null,
    created_by: NO_ID,
    flow: 'crypto',
    status: 'pending',
    session_status: 'pending',
    amount: CENTS,
    commission_amount: null,
    commission_bps: 0,
    commission_payer: 'merchant',
    settlement_model: 'direct',
    offered_blockchain_ids: [],
    blockchain_id: null,
    address: null,
    token_amount: null,
    token_decimals: null,
    transaction_hash: null,
    created_at: now,
    expires_at: new Date(now.getTime() + 60 * MINUTE_MS),
    paid_at: null,
    redirect_url: 'https://shop.example/',
    customer_reference_id: reference,
    note: noteText,
    cancellation_reason: null,
    last_error_code: null,
    last_error_message: null,
    last_error_at: null,
    processor: null,
    external_id: null,
    checkout_token_hash: null,
    expiry_fixed: false,
    inquire_at: null,
    quoted_until: null,
    quoted_at: null,
  };
}
