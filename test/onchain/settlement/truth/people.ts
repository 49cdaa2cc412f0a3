import { v7 as uuidv7 } from 'uuid';
import { OperationRefused } from '#accounts/audit/audited-change.ts';
import { setMerchant } from '#accounts/merchants.ts';
import { ApiError } from '#errors/api-error.ts';
import { assignDeposit, dismissDeposit } from '#onchain/settlement/inbox.ts';
import { selectNetwork } from '#onchain/settlement/select-network.ts';
import { createFixedRates } from '#payments/rates/fixed-rates.ts';
import type { Database } from '#storage/database/connection.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { cancelCheckout } from '#surfaces/checkout/checkout.ts';
import { CHAINS, type NetworkId } from './course.ts';
import type { Act, History } from './history.ts';
import { type Played, payeeOf, type Taken } from './played.ts';
import { checkQuote, type Quote } from './quote-rules.ts';
import { addressOf } from './stage.ts';

/** Longest window of the networks, in milliseconds: how long a payment waits until a network is chosen. */
const LONGEST_WINDOW_MS = 60 * 60_000;
const DAY_MS = 24 * 60 * 60_000;

const RATES = createFixedRates();

/** What an act depends on. */
export interface Scene {
  readonly db: Database;
  /** Up to when the chain of a network has been scanned. */
  readonly watchedUntil: (network: NetworkId) => number;
  /** Whether others act concurrently, so that the least recently used amount is unknown. */
  readonly isRace?: boolean;
}

/**
 * Performs an act of a customer or an operator.
 * @returns What was done. A refusal is a result too.
 */
export async function perform(
  { db, watchedUntil, isRace = false }: Scene,
  played: Played,
  act: Act,
): Promise<Taken> {
  const { history } = played;
  const now = new Date(act.at);
  const operator = { db, clock: () => act.at, actor: 'operator' };
  if (act.kind === 'deactivate') {
    await setMerchant(operator, played.merchants[0].merchantId, { status: 'inactive' });
    return { text: 'the merchant is deactivated', repeat: () => undefined };
  }
  if (act.kind === 'dismiss') {
    const key = keyOf(played, act.transfer);
    const id = key === undefined ? undefined : await findDeposit(db, played, act.transfer);
    if (id !== undefined) await refusable(dismissDeposit(operator, id, { remedy: 'kept' }));
    return { text: `the operator dismisses ${key}`, repeat: ledger => ledger.dismiss(key ?? '') };
  }
  const asked = played.payments[act.payment];
  if (asked === undefined)
    return { text: `payment ${act.payment} is not there yet`, repeat: () => undefined };
  const { id } = asked;
  if (act.kind === 'assign') {
    const key = keyOf(played, act.transfer);
    const deposit = key === undefined ? undefined : await findDeposit(db, played, act.transfer);
    const consent = { otherOrder: true };
    if (deposit !== undefined) await refusable(assignDeposit(operator, deposit, id, consent));
    return {
      text: `the operator assigns ${key} to payment ${act.payment}`,
      repeat: ledger => ledger.assign(key ?? '', id, act.at),
    };
  }
  const payment = await findPayment(db, id);
  if (payment === undefined) throw new Error(`payment ${id} is not there`);
  if (act.kind === 'cancel') {
    await refusable(cancelCheckout(db, payment, now, null));
    return {
      text: `the customer cancels payment ${act.payment}`,
      repeat: ledger => ledger.cancel(id, act.at),
    };
  }
  const network = networkOf(history, act);
  const choice = { payment, blockchainId: network, offering: 'simulated' } as const;
  const answer = await refusable(selectNetwork(db, RATES, choice, now));
  const quote: Quote =
    typeof answer === 'string'
      ? answer
      : {
          network,
          address: answer.address ?? '',
          amount: BigInt(answer.token_amount ?? 0),
        };
  if (typeof quote !== 'string') played.quotes.set(id, quote);
  const isLate = act.at - watchedUntil(network) > CHAINS[network].offeredLagMs;
  const addresses = Array.from({ length: history.addresses }, (_, place) =>
    addressOf(history.seed, place),
  );
  const { cents = 0 } = history.payments[act.payment] ?? {};
  return {
    text: `payment ${act.payment} chooses ${network}: ${
      typeof quote === 'string' ? quote : `${quote.amount} to ${quote.address}`
    }`,
    repeat(ledger, complain) {
      const { isWallet } = history;
      const wanted = { id, network, cents, addresses, isWallet, isLate, isRace, at: act.at };
      checkQuote(ledger, wanted, quote, complain);
    },
  };
}

/** Rows of the payments that are created in a step. */
export function newPayments(played: Played, acts: readonly Act[]) {
  return acts.flatMap(act => {
    if (act.kind !== 'open') return [];
    const { cents = 0, isFixed = false } = played.history.payments[act.payment] ?? {};
    const payee = payeeOf(played, act.payment);
    const row = {
      id: uuidv7(),
      merchant_id: payee.merchantId,
      branch_id: payee.branchId,
      created_by: 'truth',
      flow: 'crypto' as const,
      amount: cents,
      commission_amount: 0,
      commission_bps: 0,
      commission_payer: 'merchant' as const,
      settlement_model: 'direct' as const,
      offered_blockchain_ids: [played.history.network, played.history.other].filter(
        id => id !== null,
      ),
      expires_at: new Date(act.at + (isFixed ? DAY_MS : LONGEST_WINDOW_MS)),
      expiry_fixed: isFixed,
      created_at: new Date(act.at),
    };
    played.payments[act.payment] = { id: row.id, createdAt: act.at };
    played.taken.push([
      [
        {
          text: `payment ${act.payment} of ${cents} cents${isFixed ? ', open for a day' : ''}`,
          repeat: ledger =>
            ledger.open({ id: row.id, createdAt: act.at, isFixed, end: row.expires_at.getTime() }),
        },
      ],
    ]);
    return [row];
  });
}

/** The result, or the code of the refusal. */
async function refusable<T>(work: Promise<T>): Promise<T | string> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ApiError) return error.errorCode;
    if (error instanceof OperationRefused) return 'refused';
    throw error;
  }
}

function networkOf({ network, other }: History, act: Act): NetworkId {
  return act.kind === 'choose' && act.other && other !== null ? other : network;
}

function keyOf({ sent }: Played, transfer: number): string | undefined {
  const found = sent[transfer];
  return found === undefined ? undefined : `${found.hash} ${found.position}`;
}

async function findDeposit(db: Database, { sent }: Played, transfer: number) {
  const found = sent[transfer];
  if (found === undefined) return undefined;
  const row = await db
    .selectFrom('deposits')
    .select('id')
    .where('blockchain_id', '=', found.network)
    .where('transaction_hash', '=', found.hash)
    .where('position', '=', found.position)
    .executeTakeFirst();
  return row?.id;
}
