import type { Command } from 'commander';
import { OperationRefused } from '../../audit/audited-change.ts';
import type { Deposit } from '../../database/deposit-tables.ts';
import { formatBaseUnits } from '../../payments/token-amount.ts';
import { listDeposits, listUnmatchedDeposits } from '../../repositories/deposits/deposits.ts';
import { type DustOfDay, listDust } from '../../repositories/deposits/dust.ts';
import { ConsentNeeded } from '../../settlement/assignment.ts';
import { assignDeposit, dismissDeposit, type RemedyOf } from '../../settlement/inbox.ts';
import { type Session, withSession } from '../accounts/session.ts';
import { printJson, printList, printObject } from '../print.ts';
import type { Terminal } from '../terminal.ts';
import { addVerb, integerFrom, type JsonFlag, parseId, parseName } from '../values.ts';
import { depositObjects, depositRow } from './deposit-object.ts';

const LIST_DEFAULT = 100;
const LIST_MAXIMUM = 1000;

interface ListFlags extends JsonFlag {
  readonly unmatched?: true;
  readonly limit: number;
}

interface AssignFlags extends JsonFlag {
  readonly otherOrder?: true;
  readonly arrived?: string;
  readonly due?: string;
}

interface DismissFlags extends JsonFlag {
  readonly returnedTo?: string;
  readonly returnHash?: string;
  readonly kept?: true;
  readonly note?: string;
}

/** Which flags consent to what an assignment is refused for. */
const CONSENT_FLAGS: Readonly<Record<ConsentNeeded['to'], string>> = {
  otherOrder: 'To assign it all the same, add --other-order.',
  amounts: 'To assign it all the same, add both amounts: --arrived and --due.',
};

/** `mp deposit list | dust | assign | dismiss` */
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

  addVerb(noun, 'dust', 'list what was too little to be a deposit, by day, the newest first')
    .option(
      '--limit <n>',
      `most rows to list, 1 to ${LIST_MAXIMUM}`,
      integerFrom(1, LIST_MAXIMUM),
      LIST_DEFAULT,
    )
    .action(({ limit, ...flags }: JsonFlag & { limit: number }) =>
      withSession(terminal, async ({ db }) => {
        const dust = (await listDust(db, limit)).map(dustObject);
        if (flags.json) return printJson(terminal, dust);
        const rows = dust.map(({ tokenAmount, assetSymbol, ...row }) => {
          return { ...row, amount: `${tokenAmount} ${assetSymbol}` };
        });
        printList(terminal, flags, rows, [
          ...(['day', 'blockchainId', 'address', 'transfers', 'amount'] as const),
          ...(['firstHash', 'lastHash'] as const),
        ]);
      }),
    );

  addVerb(noun, 'assign', 'assign an unmatched deposit to a pending payment')
    .argument('<deposit>', 'deposit ID', parseId)
    .argument('<payment>', 'payment ID', parseId)
    .option('--other-order', 'although another payment had asked for exactly this amount')
    .option('--arrived <amount>', 'with --due: settle the payment with too little, which is this')
    .option('--due <amount>', 'what is due')
    .action((deposit: string, payment: string, flags: AssignFlags) =>
      withSession(terminal, async session => {
        await print(terminal, flags, session, await assign(session, deposit, payment, flags));
      }),
    );

  const dismiss = addVerb(noun, 'dismiss', 'remove an unmatched deposit from the inbox')
    .argument('<deposit>', 'deposit ID', parseId)
    .option(
      '--returned-to <whom>',
      'the money was returned, to whom or to which address',
      parseName,
    )
    .option('--return-hash <hash>', 'transaction that returned it', parseName)
    .option('--kept', 'the money was kept')
    .option('--note <text>', 'anything to add; alone, what else was done', parseName);
  dismiss.action((deposit: string, flags: DismissFlags) => {
    const remedy = remedyOf(dismiss, flags);
    return withSession(terminal, async session => {
      await print(terminal, flags, session, await dismissDeposit(session, deposit, remedy));
    });
  });
}

async function assign(
  session: Session,
  deposit: string,
  payment: string,
  { otherOrder, arrived, due }: AssignFlags,
): Promise<Deposit> {
  const amounts = arrived === undefined || due === undefined ? undefined : { arrived, due };
  try {
    return await assignDeposit(session, deposit, payment, { otherOrder, amounts });
  } catch (error) {
    if (!(error instanceof ConsentNeeded)) throw error;
    throw new OperationRefused(`${error.message} ${CONSENT_FLAGS[error.to]}`);
  }
}

/** What was done with the money; ends the command with wrong usage unless the flags say one thing. */
function remedyOf(
  command: Command,
  { returnedTo: to, returnHash: hash, kept, note }: DismissFlags,
): RemedyOf {
  if (to !== undefined && hash !== undefined && kept === undefined) {
    return { remedy: 'returned', to, hash, note };
  }
  if (to === undefined && hash === undefined) {
    if (kept === true) return { remedy: 'kept', note };
    if (note !== undefined) return { remedy: 'other', note };
  }
  return command.error(
    'error: say what was done with the money: --returned-to and --return-hash, or --kept, or --note',
  );
}

/** Dust of a day as it is printed; the sum is a decimal string. */
function dustObject({ tokenAmount, assetDecimals, ...dust }: DustOfDay) {
  return { ...dust, tokenAmount: formatBaseUnits(BigInt(tokenAmount), assetDecimals) };
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
