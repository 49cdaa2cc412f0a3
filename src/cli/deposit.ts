import type { Command } from 'commander';
import type { Deposit } from '../database/tables.ts';
import { listDeposits, listUnmatchedDeposits } from '../repositories/deposits.ts';
import { assignDeposit, dismissDeposit } from '../settlement/inbox.ts';
import { printList, printObject } from './print.ts';
import { withSession } from './session.ts';
import type { Terminal } from './terminal.ts';
import { addVerb, integerFrom, type JsonFlag, parseId } from './values.ts';

const LIST_DEFAULT = 100;
const LIST_MAXIMUM = 1000;

interface ListFlags extends JsonFlag {
  readonly unmatched?: true;
  readonly limit: number;
}

/** `mp deposit list | assign | dismiss` */
export function define(noun: Command, terminal: Terminal): void {
  addVerb(noun, 'list', 'list deposits, newest first')
    .option('--unmatched', 'only deposits without a payment, oldest first (the inbox)')
    .option(
      '--limit <n>',
      `most rows to list, 1 to ${LIST_MAXIMUM}`,
      integerFrom(1, LIST_MAXIMUM),
      LIST_DEFAULT,
    )
    .action((flags: ListFlags) =>
      withSession(terminal, async ({ db }) => {
        const list = flags.unmatched === true ? listUnmatchedDeposits : listDeposits;
        const deposits = (await list(db, flags.limit)).map(depositObject);
        printList(terminal, flags, deposits, [
          'id',
          'blockchainId',
          'tokenAmount',
          'state',
          'outcome',
          'paymentId',
          'observedAt',
        ]);
      }),
    );

  addVerb(noun, 'assign', 'assign an unmatched deposit to a pending payment')
    .argument('<deposit>', 'deposit ID', parseId)
    .argument('<payment>', 'payment ID', parseId)
    .action((deposit: string, payment: string, flags: JsonFlag) =>
      withSession(terminal, async session => {
        printObject(terminal, flags, depositObject(await assignDeposit(session, deposit, payment)));
      }),
    );

  addVerb(noun, 'dismiss', 'remove an unmatched deposit from the inbox')
    .argument('<deposit>', 'deposit ID', parseId)
    .action((deposit: string, flags: JsonFlag) =>
      withSession(terminal, async session => {
        printObject(terminal, flags, depositObject(await dismissDeposit(session, deposit)));
      }),
    );
}

/** `tokenAmount` is in the asset's smallest unit. */
export function depositObject(deposit: Deposit) {
  return {
    id: deposit.id,
    blockchainId: deposit.blockchain_id,
    transactionHash: deposit.transaction_hash,
    position: deposit.position,
    address: deposit.address,
    tokenAmount: deposit.token_amount,
    state: deposit.state,
    outcome: deposit.outcome,
    paymentId: deposit.payment_id,
    dismissedAt: deposit.dismissed_at,
    observedAt: deposit.observed_at,
  };
}
