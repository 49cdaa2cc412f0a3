import type { Command } from 'commander';
import { createMerchant, requireMerchant, setMerchant } from '../accounts/merchants.ts';
import { listMerchants } from '../repositories/merchants.ts';
import { merchantObject, merchantWithBranches } from './merchant-object.ts';
import { printList, printObject } from './print.ts';
import { withSession } from './session.ts';
import type { Terminal } from './terminal.ts';
import {
  addPageFlags,
  addVerb,
  choice,
  integerFrom,
  type JsonFlag,
  type PageFlags,
  pageNote,
  parseEmail,
  parseId,
  parseName,
  requireFlag,
} from './values.ts';

/** Basis points of the whole: 100 per cent. */
const BASIS_POINTS = 10_000;

type New = Parameters<typeof createMerchant>[1];
type Change = Parameters<typeof setMerchant>[2];

interface CreateFlags extends JsonFlag, Omit<New, 'partnerId' | 'withoutMainBranch'> {
  readonly partner?: string;
  /** False with --no-main-branch. */
  readonly mainBranch: boolean;
}

interface SetFlags extends JsonFlag, Omit<Change, 'partnerId'> {
  readonly partner?: string;
}

/** Unlinks a merchant from its partner. */
const NO_PARTNER = 'none';

/** `mp merchant create | list | show | set` */
export function define(noun: Command, terminal: Terminal): void {
  addVerb(noun, 'create', 'create a merchant, with its Main branch')
    .requiredOption('--name <name>', 'name, up to 200 characters', parseName)
    .requiredOption('--email <address>', 'e-mail address', parseEmail)
    .addOption(
      choice('--kind <kind>', 'account: on-chain, or the regulated US flow (default: "standard")', [
        'standard',
        'us',
      ]),
    )
    .addOption(
      choice('--settlement <model>', 'how payments settle (default: "split")', ['split', 'direct']),
    )
    .addOption(
      choice('--commission-payer <who>', 'who bears the commission (default: "merchant")', [
        'merchant',
        'shopper',
      ]),
    )
    .option(
      '--commission-bps <n>',
      'commission of split payments in basis points, 0 to 10000 (default: 0)',
      integerFrom(0, BASIS_POINTS),
    )
    .option('--partner <id>', 'ID of the partner that looks after it', parseId)
    .option('--no-main-branch', 'leave out the branch that API payments are created on')
    .action(({ partner, mainBranch, ...flags }: CreateFlags) =>
      withSession(terminal, async session => {
        const merchant = await createMerchant(session, {
          ...flags,
          partnerId: partner,
          withoutMainBranch: !mainBranch,
        });
        printObject(terminal, flags, merchantObject(merchant));
      }),
    );

  addPageFlags(addVerb(noun, 'list', 'list merchants, newest first'), 'merchant').action(
    (flags: PageFlags) =>
      withSession(terminal, async ({ db }) => {
        if (flags.before !== undefined) await requireMerchant(db, flags.before);
        const merchants = (await listMerchants(db, flags)).map(merchantObject);
        printList(
          terminal,
          flags,
          merchants,
          ['id', 'name', 'email', 'status', 'accountKind', 'onboardingStatus', 'createdAt'],
          pageNote(merchants, flags),
        );
      }),
  );

  addVerb(noun, 'show', 'show a merchant with its branches, addresses and redirect domains')
    .argument('<id>', 'merchant ID', parseId)
    .action((id: string, flags: JsonFlag) =>
      withSession(terminal, async ({ db }) => {
        printObject(terminal, flags, await merchantWithBranches(db, await requireMerchant(db, id)));
      }),
    );

  addVerb(noun, 'set', 'change a merchant')
    .argument('<id>', 'merchant ID', parseId)
    .addOption(choice('--status <status>', 'whether its keys work', ['active', 'inactive']))
    .addOption(
      choice('--onboarding <status>', 'outcome of the onboarding', [
        'approved',
        'pending',
        'rejected',
      ]),
    )
    .option('--partner <id|none>', 'ID of the partner that looks after it, or none', parsePartner)
    .action((id: string, { partner, ...flags }: SetFlags, command: Command) => {
      requireFlag(command, ['status', 'onboarding', 'partner']);
      return withSession(terminal, async session => {
        const partnerId = partner === NO_PARTNER ? null : partner;
        const merchant = await setMerchant(session, id, { ...flags, partnerId });
        printObject(terminal, flags, merchantObject(merchant));
      });
    });
}

function parsePartner(text: string): string {
  return text === NO_PARTNER ? text : parseId(text);
}
