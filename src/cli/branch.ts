import type { Command } from 'commander';
import { createBranch } from '../accounts/merchants.ts';
import type { Branch } from '../database/tables.ts';
import { printObject } from './print.ts';
import { withSession } from './session.ts';
import type { Terminal } from './terminal.ts';
import { addVerb, type JsonFlag, parseId, parseName } from './values.ts';

interface CreateFlags extends JsonFlag {
  readonly merchant: string;
  readonly name: string;
  readonly main?: true;
}

/** `mp branch create` */
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
