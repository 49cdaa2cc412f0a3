import type { Command } from 'commander';
import type { Deposit } from '../database/deposit-tables.ts';
import { listDeposits, listUnmatchedDeposits } from '../repositories/deposits.ts';
import { assignDeposit, dismissDeposit } from '../settlement/inbox.ts';
import { depositObjects, depositRow } from './deposit-object.ts';
import { printJson, printList, printObject } from './print.ts';
import { type Session, withSession } from './session.ts';
import type { Terminal } from './terminal.ts';
import { addVerb, integerFrom, type JsonFlag, parseId, parseName } from './values.ts';

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
        const deposits = await depositObjects(db, await list(db, flags.limit));
        if (flags.json) return printJson(terminal, deposits);
        printList(terminal, flags, deposits.map(depositRow), [
          ...(['id', 'blockchainId', 'amount', 'state', 'outcome'] as const),
          ...(['merchant', 'paymentId', 'fits', 'observedAt'] as const),
        ]);
      }),
    );

  addVerb(noun, 'assign', 'assign an unmatched deposit to a pending payment')
    .argument('<deposit>', 'deposit ID', parseId)
    .argument('<payment>', 'payment ID', parseId)
    .action((deposit: string, payment: string, flags: JsonFlag) =>
      withSession(terminal, async session => {
        await print(terminal, flags, session, await assignDeposit(session, deposit, payment));
      }),
    );

  addVerb(noun, 'dismiss', 'remove an unmatched deposit from the inbox')
    .argument('<deposit>', 'deposit ID', parseId)
    .option('--note <text>', 'how it was settled, for the audit log', parseName)
    .action((deposit: string, { note, ...flags }: JsonFlag & { note?: string }) =>
      withSession(terminal, async session => {
        await print(terminal, flags, session, await dismissDeposit(session, deposit, note));
      }),
    );
}

async function print(
  terminal: Terminal,
  flags: JsonFlag,
  { db }: Session,
  deposit: Deposit,
): Promise<void> {
  const [object] = await depositObjects(db, [deposit]);
  if (object === undefined) throw new Error('the deposit is gone');
  printObject(terminal, flags, object);
}
