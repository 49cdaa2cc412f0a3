import { ConsentNeeded } from '#onchain/settlement/assignment.ts';
import {
  assignDeposit,
  dismissDeposit,
  type RemedyOf,
  type Return,
} from '#onchain/settlement/inbox.ts';
import { recordReturn } from '#onchain/settlement/record-return.ts';
import { formatBaseUnits } from '#payments/token-amount.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import {
  findDepositById,
  listDeposits,
  listUnmatchedDeposits,
} from '#storage/repositories/deposits/deposits.ts';
import { type DustOfDay, listDust } from '#storage/repositories/deposits/dust.ts';
import type { CliCommand } from '../cli-command.ts';
import type { JsonFlag } from '../print.ts';
import type { Session } from '../session.ts';
import { CommandFailed } from '../terminal.ts';
import { parseId, parseName } from '../values.ts';
import { depositObjects, depositRow } from './deposit-object.ts';

interface ListFlags extends JsonFlag {
  readonly unmatched?: true;
  readonly limit: number;
}

interface AssignFlags {
  readonly otherOrder?: true;
  readonly arrived?: string;
  readonly due?: string;
}

interface DismissFlags {
  readonly returnedTo?: string;
  readonly returnHash?: string;
  readonly kept?: true;
  readonly note?: string;
}

/** The flags that consent to an assignment which is otherwise refused. */
const CONSENT_FLAGS: Readonly<Record<ConsentNeeded['to'], string>> = {
  otherOrder: 'To assign it all the same, add --other-order.',
  amounts: 'To assign it all the same, add both amounts: --arrived and --due.',
};

/** `mp deposit list | dust | assign | dismiss | return` */
export function define(noun: CliCommand): void {
  noun
    .verb('list', 'list deposits, newest first')
    .option('--unmatched', 'only deposits without a payment, oldest first (the inbox)')
    .limit()
    .onDatabase(async ({ db, show, showList }, flags: ListFlags) => {
      const list = flags.unmatched === true ? listUnmatchedDeposits : listDeposits;
      const deposits = await depositObjects(db, await list(db, flags.limit));
      if (flags.json) return show(deposits);
      showList(deposits.map(depositRow), [
        ...(['id', 'blockchainId', 'amount', 'state', 'outcome'] as const),
        ...(['merchant', 'paymentId', 'fits', 'observedAt'] as const),
      ]);
    });

  noun
    .verb('dust', 'list what was too little to be a deposit, by day, the newest first')
    .limit()
    .onDatabase(async ({ db, show, showList }, flags: ListFlags) => {
      const dust = (await listDust(db, flags.limit)).map(dustObject);
      if (flags.json) return show(dust);
      const rows = dust.map(({ tokenAmount, assetSymbol, ...row }) => {
        return { ...row, amount: `${tokenAmount} ${assetSymbol}` };
      });
      showList(rows, [
        ...(['day', 'blockchainId', 'address', 'transfers', 'amount'] as const),
        ...(['firstHash', 'lastHash'] as const),
      ]);
    });

  noun
    .verb('assign', 'assign an unmatched deposit to a pending payment')
    .argument('<deposit>', 'deposit ID', parseId)
    .argument('<payment>', 'payment ID', parseId)
    .option('--other-order', 'although it was meant for another payment')
    .option(
      '--arrived <amount>',
      'with --due: settle the payment with too little or too much, which is this',
    )
    .option('--due <amount>', 'what is due')
    .onDatabase(async (session, deposit: string, payment: string, flags: AssignFlags) => {
      session.show(await changedObject(session, await assign(session, deposit, payment, flags)));
    });

  const dismiss = noun.verb('dismiss', 'remove an unmatched deposit from the inbox');
  dismiss
    .argument('<deposit>', 'deposit ID', parseId)
    .option(
      '--returned-to <whom>',
      'the money was returned, to whom or to which address',
      parseName,
    )
    .option('--return-hash <hash>', 'transaction that returned it', parseName)
    .option('--kept', 'the money was kept')
    .option('--note <text>', 'anything to add; alone, what else was done', parseName)
    .hook('preAction', () => void remedyOf(dismiss))
    .onDatabase(async (session, deposit: string) => {
      const dismissed = await dismissDeposit(session, deposit, remedyOf(dismiss));
      session.show(await changedObject(session, dismissed));
    });

  noun
    .verb('return', 'record that a part of an ended payment was given back')
    .argument('<deposit>', 'deposit ID', parseId)
    .requiredOption('--to <whom>', 'to whom or to which address', parseName)
    .requiredOption('--hash <hash>', 'transaction that returned it', parseName)
    .option('--note <text>', 'anything to add', parseName)
    .onDatabase(async (session, id: string, { to, hash, note }: Return) => {
      await recordReturn(session, id, { to, hash, note });
      session.show(await changedObject(session, await findDepositById(session.db, id)));
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
    throw new CommandFailed(`${error.message} ${CONSENT_FLAGS[error.to]}`);
  }
}

/** What was done with the money. Ends the command with wrong usage unless the flags say exactly one thing. */
function remedyOf(dismiss: CliCommand): RemedyOf {
  const { returnedTo: to, returnHash: hash, kept, note } = dismiss.opts<DismissFlags>();
  if (to !== undefined && hash !== undefined && kept === undefined) {
    return { remedy: 'returned', to, hash, note };
  }
  if (to === undefined && hash === undefined) {
    if (kept === true) return { remedy: 'kept', note };
    if (note !== undefined) return { remedy: 'other', note };
  }
  return dismiss.error(
    'error: say what was done with the money: --returned-to and --return-hash, or --kept, or --note',
  );
}

/** A day's dust as it is printed; the sum is a decimal string. */
function dustObject({ tokenAmount, assetDecimals, ...dust }: DustOfDay) {
  return { ...dust, tokenAmount: formatBaseUnits(BigInt(tokenAmount), assetDecimals) };
}

async function changedObject({ db }: Session, deposit: Deposit | undefined) {
  const [object] = deposit === undefined ? [] : await depositObjects(db, [deposit]);
  if (object === undefined) throw new Error('the deposit is gone');
  return object;
}
