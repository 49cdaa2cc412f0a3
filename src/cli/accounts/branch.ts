import { BRANCHES_MAXIMUM, createBranch, setMainBranch } from '#accounts/branches.ts';
import { requireMerchant } from '#accounts/merchants.ts';
import type { Branch } from '#storage/database/account-tables.ts';
import { listBranches } from '#storage/repositories/accounts/merchants.ts';
import type { CliCommand } from '../cli-command.ts';
import { parseId, parseName } from '../values.ts';

interface CreateFlags {
  readonly merchant: string;
  readonly name: string;
  readonly main?: true;
}

/** `mp branch create | set | list` */
export function define(noun: CliCommand): void {
  noun
    .verb('create', `add a branch to a merchant, at most ${BRANCHES_MAXIMUM}`)
    .requiredOption('--merchant <id>', 'merchant ID', parseId)
    .requiredOption('--name <name>', 'name, up to 200 characters', parseName)
    .option('--main', 'make it the main branch, on which API payments are created')
    .onDatabase(async (session, { merchant: merchantId, name, main }: CreateFlags) => {
      const branch = await createBranch(session, { merchantId, name, main: main === true });
      session.show(branchObject(branch));
    });

  noun
    .verb('set', 'make a branch the main one, on which API payments are created; at once')
    .argument('<id>', 'branch ID', parseId)
    .requiredOption('--main', 'make it the main branch')
    .onDatabase(async (session, id: string) => {
      session.show(branchObject(await setMainBranch(session, id)));
    });

  noun
    .verb('list', 'list the branches of a merchant, the main one first')
    .requiredOption('--merchant <id>', 'merchant ID', parseId)
    .onDatabase(async ({ db, showList }, { merchant }: Pick<CreateFlags, 'merchant'>) => {
      const { id } = await requireMerchant(db, merchant);
      const branches = (await listBranches(db, id)).map(branchObject);
      showList(branches, ['id', 'name', 'isMain', 'createdAt']);
    });
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
