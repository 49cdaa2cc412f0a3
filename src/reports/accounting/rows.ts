import { agreedPrice } from '#onchain/settlement/quote-amounts.ts';
import { dueCents } from '#payments/commission.ts';
import { PRICE_DECIMALS } from '#payments/rates/price.ts';
import { formatBaseUnits } from '#payments/token-amount.ts';
import type {
  CommissionPayer,
  MerchantEnvironment,
  SettlementModel,
} from '#storage/database/account-tables.ts';
import type { Remedy } from '#storage/database/deposit-tables.ts';
import type {
  BookedDeposit,
  Movement,
  PaidPayment,
  ReturnedPart,
} from '#storage/repositories/payments/movements.ts';

/** Kind of movement that a row is. Each combination of type and ID occurs once in all files together. */
type RowType = 'payment' | 'commission' | 'deposit' | 'return';

/**
 * One movement in a merchant's books. Cents and amounts are never negative: `direction` has the sign. Amounts of an
 * asset, and prices in US dollars for one whole unit of it, are decimal strings.
 */
export interface AccountingRow {
  /** ISO 8601, in UTC: when it is booked. */
  readonly at: string;
  readonly type: RowType;
  /**
   * `through` is a commission that the customer paid on top: it came in with the payment, and has to be passed on.
   */
  readonly direction: 'in' | 'out' | 'through';
  /** ID of the payment or the deposit. */
  readonly id: string;
  readonly merchantId: string;
  readonly environment: MerchantEnvironment;
  /** US cents; null for a deposit whose value is not known. */
  readonly amountCents: number | null;
  /** Who bears a commission; null on other rows. */
  readonly commissionPayer: CommissionPayer | null;
  readonly settlementModel: SettlementModel | null;
  readonly blockchainId: string | null;
  readonly asset: string | null;
  /** What arrived, or was returned. */
  readonly assetAmount: string | null;
  /** What the payment asked for. */
  readonly quotedAmount: string | null;
  /** The agreed price: what was due, divided by the amount asked for. */
  readonly priceAtQuote: string | null;
  /** The market's price at `pricedAt`, soon after the transfer; null where none was recorded. */
  readonly priceAtFinality: string | null;
  readonly pricedAt: string | null;
  /**
   * Hash of the transfer that completed a payment, of a deposit or of its return; the processor's reference
   * on US accounts.
   */
  readonly transactionHash: string | null;
  readonly processor: string | null;
  readonly customerReferenceId: string | null;
  /** What was done with the money of a deposit; null where none was recorded, as for a part of a payment. */
  readonly remedy: Remedy | null;
  /** Index, in the merchant's wallet, of the address at which it arrived; null for a static address. */
  readonly derivationIndex: number | null;
}

/** The columns of a file, in their order. */
export const ROW_FIELDS = [
  ...(['at', 'type', 'direction', 'id', 'merchantId', 'environment', 'amountCents'] as const),
  ...(['commissionPayer', 'settlementModel', 'blockchainId', 'asset', 'assetAmount'] as const),
  ...(['quotedAmount', 'priceAtQuote', 'priceAtFinality', 'pricedAt', 'transactionHash'] as const),
  ...(['processor', 'customerReferenceId', 'remedy', 'derivationIndex'] as const),
] satisfies readonly (keyof AccountingRow)[];

/** The merchant whose movements they are. */
export interface Account {
  readonly id: string;
  readonly environment: MerchantEnvironment;
}

/** The rows of a movement. Fields that do not apply are null. */
export function toRows(account: Account, movement: Movement): AccountingRow[] {
  switch (movement.kind) {
    case 'payment':
      return paymentRows(account, movement);
    case 'deposit':
      return depositRows(account, movement);
    case 'return':
      return [returnRow(account, movement)];
  }
}

function paymentRows(account: Account, payment: PaidPayment): AccountingRow[] {
  const { amount, commissionAmount, commissionPayer, tokenAmount, assetDecimals } = payment;
  const { settlementModel, processor } = payment;
  const row = { ...rowOf(account, payment), settlementModel, processor };
  const due = dueCents({
    amount,
    commission_bps: payment.commissionBps,
    commission_payer: commissionPayer,
    settlement_model: settlementModel,
  });
  const price =
    tokenAmount === null || assetDecimals === null
      ? null
      : agreedPrice(due, BigInt(tokenAmount), assetDecimals);
  const paid: AccountingRow = {
    ...row,
    ...arrivalOf(payment),
    type: 'payment',
    direction: 'in',
    amountCents: amount,
    quotedAmount: toAmount(tokenAmount, assetDecimals),
    priceAtQuote: price === null ? null : formatBaseUnits(price, PRICE_DECIMALS),
  };
  if (commissionAmount === null || commissionAmount === 0) return [paid];
  const direction = commissionPayer === 'shopper' ? 'through' : 'out';
  const commission: AccountingRow = {
    ...row,
    type: 'commission',
    direction,
    amountCents: commissionAmount,
    commissionPayer,
  };
  return [paid, commission];
}

function depositRows(account: Account, deposit: BookedDeposit): AccountingRow[] {
  const { valueCents: amountCents, remedy, remedyHash } = deposit;
  const row = { ...rowOf(account, deposit), ...arrivalOf(deposit), amountCents, remedy };
  const received: AccountingRow = { ...row, type: 'deposit', direction: 'in' };
  if (remedy !== 'returned') return [received];
  return [received, { ...row, type: 'return', direction: 'out', transactionHash: remedyHash }];
}

function returnRow(account: Account, part: ReturnedPart): AccountingRow {
  const row = { ...rowOf(account, part), ...arrivalOf(part), amountCents: part.valueCents };
  return { ...row, type: 'return', direction: 'out', remedy: 'returned' };
}

/** What the rows of a movement have in common. */
function rowOf(account: Account, movement: Movement): Omit<AccountingRow, 'type' | 'direction'> {
  return {
    at: movement.at.toISOString(),
    id: movement.id,
    merchantId: account.id,
    environment: account.environment,
    amountCents: null,
    commissionPayer: null,
    settlementModel: null,
    blockchainId: movement.blockchainId,
    asset: movement.assetSymbol,
    assetAmount: null,
    quotedAmount: null,
    priceAtQuote: null,
    priceAtFinality: null,
    pricedAt: null,
    transactionHash: movement.transactionHash,
    processor: null,
    customerReferenceId: movement.customerReferenceId,
    remedy: null,
    derivationIndex: null,
  };
}

function arrivalOf({ received, assetDecimals, usdPrice, pricedAt, derivationIndex }: Movement) {
  return {
    derivationIndex,
    assetAmount: toAmount(received, assetDecimals),
    priceAtFinality: toAmount(usdPrice, PRICE_DECIMALS),
    pricedAt: pricedAt?.toISOString() ?? null,
  };
}

function toAmount(units: string | null, decimals: number | null): string | null {
  return units === null || decimals === null ? null : formatBaseUnits(BigInt(units), decimals);
}
