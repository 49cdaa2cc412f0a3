import { solanaReference } from '#chains/solana-reference.ts';
import { formatBaseUnits } from '#payments/token-amount.ts';

/** The transfer that a wallet should make. */
export interface PaymentTarget {
  readonly paymentId: string;
  readonly blockchainId: string;
  readonly address: string;
  /** Integer of the asset's smallest unit. */
  readonly tokenAmount: bigint;
  readonly decimals: number;
}

const BITCOIN: readonly string[] = ['btc', 'btc-test'];

/** EIP-155 chain IDs of networks whose asset is the native coin. */
const CHAIN_IDS: Readonly<Record<string, number>> = {
  eth: 1,
  'eth-test': 11_155_111,
  bnb: 56,
  'bnb-test': 97,
  avax: 43_114,
  'avax-test': 43_113,
};

/** Mints of the assets on Solana; null for SOL. */
const SOLANA_MINTS: Readonly<Record<string, string | null>> = {
  sol: null,
  'sol-dev': null,
  'sol-usdc': 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  'sol-usdc-dev': '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
};

/**
 * A URI that opens a wallet with address and amount filled in (BIP-21, EIP-681, Solana Pay). Solana Pay's `reference`
 * identifies the payment even if a wallet changes the amount.
 *
 * @returns undefined for tokens on EVM chains, because wallets mishandle their EIP-681 form and funds have been lost,
 * and for Tron, whose wallets have no common format.
 */
export function walletUri(target: PaymentTarget): string | undefined {
  const { paymentId, blockchainId, address, tokenAmount, decimals } = target;
  if (BITCOIN.includes(blockchainId)) {
    return `bitcoin:${address}?amount=${formatBaseUnits(tokenAmount, decimals)}`;
  }
  const chainId = CHAIN_IDS[blockchainId];
  if (chainId !== undefined) return `ethereum:${address}@${chainId}?value=${tokenAmount}`;
  const plain = plainWalletUri(target);
  return plain && `${plain}&reference=${solanaReference(paymentId)}`;
}

/**
 * The URI for wallets that refuse a `reference`. The exact amount then identifies the payment: no two payments that
 * wait at one address ask for the same amount.
 * @returns undefined unless `walletUri` has a reference.
 */
export function plainWalletUri(target: PaymentTarget): string | undefined {
  const { blockchainId, address, tokenAmount, decimals } = target;
  const mint = SOLANA_MINTS[blockchainId];
  if (mint === undefined) return undefined;
  const token = mint === null ? '' : `&spl-token=${mint}`;
  return `solana:${address}?amount=${formatBaseUnits(tokenAmount, decimals)}${token}`;
}

/** Content of the QR code: the wallet's URI, or the plain address if there is none. */
export function paymentUri(target: PaymentTarget): string {
  return walletUri(target) ?? target.address;
}
