import type { Command } from 'commander';
import { createBranch, requireMerchant } from '../../accounts/merchants.ts';
import type { Branch } from '../../database/account-tables.ts';
import { listBranches } from '../../repositories/accounts/merchants.ts';
import { printList, printObject } from '../print.ts';
import type { Terminal } from '../terminal.ts';
import { addVerb, type JsonFlag, parseId, parseName } from '../values.ts';
import { withSession } from './session.ts';

interface CreateFlags extends JsonFlag {
  readonly merchant: string;
  readonly name: string;
  readonly main?: true;
}

interface ListFlags extends JsonFlag {
  readonly merchant: string;
}

/** `mp branch create | list` */
export function define(noun: Command, terminal: Terminal): void {
  addVerb(noun, 'create', 'add a branch to a merchant')
    .requiredOption('--merchant <id>', 'merchant ID', parseId)
    .requiredOption('--name <name>', 'name, up to 200 characters', parseName)
    .option('--main', 'make it the main branch, on which API payments are created')
    .action(({ merchant: merchantId, name, main, ...flags }: CreateFlags) =>
      withSession(terminal, async session => {
        const branch = await createBranch(session, { merchantId, name, main: main === true });
        printObject(terminal, flags, branchObject(branch));
      }),
    );

  addVerb(noun, 'list', 'list the branches of a merchant, the main one first')
    .requiredOption('--merchant <id>', 'merchant ID', parseId)
    .action(({ merchant, ...flags }: ListFlags) =>
      withSession(terminal, async ({ db }) => {
        const { id } = await requireMerchant(db, merchant);
        const branches = (await listBranches(db, id)).map(branchObject);
        printList(terminal, flags, branches, ['id', 'name', 'isMain', 'createdAt']);
      }),
    );
}

function branchObject(branch: Branch) {
  return {
    id: branch.id,
    merchantId: branch.merchant_id,
    name: branch.name,
    isMain: branch.is_main,
    createdAt: branch.created_at,
  };
}
