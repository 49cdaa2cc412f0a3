import { randomBytes } from 'node:crypto';
import { OperationRefused } from '../accounts/operation.ts';
import type { Database } from '../database/connection.ts';
import type { Payment } from '../database/tables.ts';
import { transact } from '../database/transaction.ts';
import { movePayment } from '../payments/move-payment.ts';
import type { Rates } from '../rates/rate-source.ts';
import { listPaymentDeposits } from '../repositories/deposits.ts';
import { findPayment } from '../repositories/payments.ts';
import { observeTransfer } from './observe-transfer.ts';
import type { Finality, ObservedTransfer } from './observed-transfer.ts';
import { selectNetwork } from './select-network.ts';

/** What may be played, and what it plays. */
export const SIMULATION_CASES = {
  confirm: 'the exact amount arrives and becomes final',
  detect: 'the exact amount is seen, not final yet',
  under: 'too little arrives',
  over: 'a little too much arrives and becomes final',
  late: 'the exact amount arrives after the payment has ended',
  duplicate: 'the exact amount arrives twice',
  revert: 'the transaction fails on chain',
  reorg: 'the exact amount is seen, then undone by the chain',
  fail: 'the transaction fails on chain after it was seen',
  cancel: 'the customer cancels',
} as const;

export type SimulationCase = keyof typeof SIMULATION_CASES;

export interface Simulator {
  readonly db: Database;
  readonly rates: Rates;
}

/**
 * Plays a case on a payment through the same functions that real transfers and customers go
 * through. A payment without a network gets `blockchainId`, or the first one it offers.
 * @throws OperationRefused for a payment that does not exist or is not paid on chain.
 * @throws ApiError E1040 and E5002 as choosing a network does.
 */
export async function simulate(
  { db, rates }: Simulator,
  paymentId: string,
  play: SimulationCase,
  now: Date,
  blockchainId?: string,
): Promise<Payment> {
  const payment = await requireCryptoPayment(db, paymentId);
  if (play === 'cancel') {
    await transact(db, tx =>
      movePayment(tx, {
        paymentId,
        move: 'cancel',
        actor: 'simulation',
        reason: 'cancelled by simulation',
        columns: { cancellation_reason: 'cancelled_by_customer' },
        now,
      }),
    );
  } else {
    const chosen = await choose({ db, rates }, payment, blockchainId, now);
    await playTransfers(db, chosen, play, now);
  }
  return requireCryptoPayment(db, paymentId);
}

async function playTransfers(
  db: Database,
  payment: Payment,
  play: Exclude<SimulationCase, 'cancel'>,
  now: Date,
): Promise<void> {
  const asked = BigInt(payment.token_amount ?? 0);
  const transfer = (tokenAmount: bigint, transactionHash = randomHash()) => ({
    blockchainId: payment.blockchain_id ?? '',
    transactionHash,
    position: 0,
    address: payment.address ?? '',
    tokenAmount,
    blockHeight: 1,
  });
  const tell = async (told: Omit<ObservedTransfer, 'finality'>, ...states: Finality[]) => {
    for (const finality of states) await observeTransfer(db, { ...told, finality }, now);
  };
  switch (play) {
    case 'detect':
      return tell(transfer(asked), 'seen');
    case 'late':
      await transact(db, tx =>
        movePayment(tx, {
          paymentId: payment.id,
          move: 'expire',
          actor: 'simulation',
          reason: 'expired by simulation',
          now,
        }),
      );
      return tell(transfer(asked), 'seen', 'final');
    case 'confirm': {
      // A transfer seen before becomes final; otherwise one arrives.
      const seen = (await listPaymentDeposits(db, payment.id)).find(one => one.state === 'seen');
      const told = transfer(BigInt(seen?.token_amount ?? asked), seen?.transaction_hash);
      return tell({ ...told, position: seen?.position ?? 0 }, 'seen', 'final');
    }
    case 'under':
      return tell(transfer(asked - asked / 2n), 'seen', 'final');
    case 'over':
      return tell(transfer(asked + asked / 100n), 'seen', 'final');
    case 'duplicate':
      await tell(transfer(asked), 'seen', 'final');
      return tell(transfer(asked), 'seen', 'final');
    case 'revert':
      return tell(transfer(asked), 'failed');
    case 'fail':
      return tell(transfer(asked), 'seen', 'failed');
    case 'reorg':
      return tell(transfer(asked), 'seen', 'reversed');
  }
}

async function choose(
  { db, rates }: Simulator,
  payment: Payment,
  blockchainId: string | undefined,
  now: Date,
): Promise<Payment> {
  if (payment.blockchain_id !== null) return payment;
  const [first] = payment.offered_blockchain_ids;
  const chosen = blockchainId ?? first;
  if (chosen === undefined) throw new OperationRefused('The payment offers no network.');
  return selectNetwork(db, rates, { payment, blockchainId: chosen }, now);
}

async function requireCryptoPayment(db: Database, id: string): Promise<Payment> {
  const payment = await findPayment(db, id);
  if (payment === undefined) throw new OperationRefused(`There is no payment ${id}.`);
  if (payment.flow !== 'crypto') {
    throw new OperationRefused(
      'The payment is on a US account: pay it on the page that its checkoutUrl leads to.',
    );
  }
  return payment;
}

function randomHash(): string {
  return `0x${randomBytes(32).toString('hex')}`;
}
