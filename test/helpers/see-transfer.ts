import { randomBytes } from 'node:crypto';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import type { ObservedTransfer } from '#onchain/settlement/observed-transfer.ts';
import type { TestApp } from './app.ts';
import type { OpenedCheckout } from './checkout.ts';

/**
 * Records a transfer to a checkout's address, like its chain's watcher: of the exact amount, and seen, unless
 * given.
 * @param height Its block; null in a mempool.
 * @returns The hash of the transaction.
 */
export async function seeTransfer(
  { db, clock }: Pick<TestApp, 'db' | 'clock'>,
  checkout: OpenedCheckout,
  height: number | null,
  transfer: Partial<ObservedTransfer> = {},
): Promise<string> {
  const { address, token_amount: amount, blockchain_id: id } = await checkout.payment();
  const { transactionHash = `0x${randomBytes(32).toString('hex')}` } = transfer;
  const now = new Date(clock());
  await observeTransfer(
    db,
    {
      blockchainId: id ?? '',
      transactionHash,
      position: 0,
      address: address ?? '',
      tokenAmount: BigInt(amount ?? 0),
      blockHeight: height,
      blockHash: null,
      occurredAt: now,
      source: 'chain',
      finality: 'seen',
      ...transfer,
    },
    now,
  );
  return transactionHash;
}

type Told = 'blockchainId' | 'transactionHash' | 'address' | 'tokenAmount' | 'occurredAt';

/** A final transfer as the simulation reports it, in no block; `told` overrides fields. */
export const simulatedTransfer = (
  told: Pick<ObservedTransfer, Told> & Partial<ObservedTransfer>,
): ObservedTransfer => ({
  position: 0,
  blockHeight: null,
  blockHash: null,
  source: 'simulation',
  finality: 'final',
  ...told,
});
