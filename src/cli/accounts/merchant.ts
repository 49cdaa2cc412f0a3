import { inOneTransaction } from '#accounts/change-steps.ts';
import { setExampleAddresses } from '#accounts/example-addresses.ts';
import {
  ImageRefused,
  LOGO_BYTES_MAXIMUM,
  LOGO_PIXELS_MAXIMUM,
  type Logo,
  parseLogo,
} from '#accounts/logo.ts';
import {
  createMerchant,
  type MerchantChange,
  type NewMerchant,
  requireMerchant,
  setMerchant,
  TOLERANCE_BPS_MAXIMUM,
} from '#accounts/merchants.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import type { Connection } from '#storage/database/connection.ts';
import { listDepositAddresses } from '#storage/repositories/accounts/deposit-addresses.ts';
import { findLogoHash } from '#storage/repositories/accounts/merchant-logos.ts';
import { listBranches, listMerchants } from '#storage/repositories/accounts/merchants.ts';
import { listRedirectDomains } from '#storage/repositories/accounts/redirect-domains.ts';
import { type CliCommand, type PageFlags, pageNote } from '../cli-command.ts';
import { readNamedFile } from '../named-file.ts';
import { CommandFailed } from '../terminal.ts';
import {
  choice,
  integerFrom,
  parseColor,
  parseContact,
  parseEmail,
  parseId,
  parseName,
  parseOnOff,
} from '../values.ts';

/** 100 per cent in basis points. */
const COMMISSION_BPS_MAXIMUM = 10_000;

interface CreateFlags
  extends Omit<NewMerchant, 'partnerId' | 'withoutMainBranch' | 'environment' | 'twinOf'> {
  readonly partner?: string;
  readonly test?: true;
  /** False with --no-main-branch. */
  readonly mainBranch: boolean;
}

interface SetFlags
  extends Omit<
    MerchantChange,
    'partnerId' | 'supportContact' | 'accentColor' | 'showsNote' | 'logo'
  > {
  readonly partner?: string;
  readonly support?: string;
  readonly accent?: string;
  readonly showNote?: boolean;
  /** Name of a file. */
  readonly logo?: string;
}

/** Value that removes a setting: a partner, a contact, a colour, a logo. */
const NONE = 'none';

/** Defaults of a new merchant, as help texts show them. */
const TERM_DEFAULTS = {
  settlement: ' (default: "split")',
  commissionPayer: ' (default: "merchant")',
  commissionBps: ' (default: 0)',
  underpaymentToleranceBps: ' (default: 0)',
};

const TERMS = Object.keys(TERM_DEFAULTS);
const APPEARANCE = ['support', 'accent', 'logo', 'showNote'];
const SETTINGS = ['name', 'email', 'status', 'onboarding', 'partner', ...TERMS, ...APPEARANCE];

/** `mp merchant create | list | show | set` */
export function define(noun: CliCommand): void {
  addTerms(noun.verb('create', 'create a merchant and its main branch'), TERM_DEFAULTS)
    .requiredOption('--name <name>', 'name, up to 200 characters', parseName)
    .requiredOption('--email <address>', 'e-mail address', parseEmail)
    .addOption(
      choice('--kind <kind>', 'on-chain account, or regulated US account (default: "standard")', [
        'standard',
        'us',
      ]),
    )
    .option('--partner <id>', 'ID of its partner', parseId)
    .option(
      '--test',
      'test merchant: on test networks alone, with example addresses, in no report; it stays so, as a live one stays live',
    )
    .option('--no-main-branch', 'do not create the main branch, which API payments need')
    .onDatabase(async (session, { partner, mainBranch, test, ...flags }: CreateFlags) => {
      const input = {
        ...flags,
        partnerId: partner,
        withoutMainBranch: !mainBranch,
        environment: test ? ('test' as const) : ('live' as const),
      };
      const merchant = await inOneTransaction(session, async within => {
        const created = await createMerchant(within, input);
        const takesCrypto = mainBranch && input.kind !== 'us';
        if (test && takesCrypto) await setExampleAddresses(within, created.id);
        return created;
      });
      session.show(await merchantWithLogo(session.db, merchant));
    });

  noun
    .verb('list', 'list merchants, newest first')
    .paged('merchant')
    .onDatabase(async ({ db, showList }, flags: PageFlags) => {
      if (flags.before !== undefined) await requireMerchant(db, flags.before);
      const merchants = (await listMerchants(db, flags)).map(merchantObject);
      showList(
        merchants,
        [
          'id',
          'name',
          'environment',
          'email',
          'status',
          'accountKind',
          'onboardingStatus',
          'createdAt',
        ],
        pageNote(merchants, flags),
      );
    });

  noun
    .verb('show', 'show a merchant with its branches, addresses and redirect domains')
    .argument('<id>', 'merchant ID', parseId)
    .onDatabase(async ({ db, show }, id: string) => {
      show(await merchantWithBranches(db, await requireMerchant(db, id)));
    });

  addTerms(noun.verb('set', 'change a merchant; terms apply to payments created afterwards'))
    .argument('<id>', 'merchant ID', parseId)
    .option('--name <name>', 'name, up to 200 characters', parseName)
    .option('--email <address>', 'e-mail address', parseEmail)
    .addOption(choice('--status <status>', 'whether its keys work', ['active', 'inactive']))
    .addOption(
      choice('--onboarding <status>', 'status of its onboarding', [
        'approved',
        'pending',
        'rejected',
      ]),
    )
    .option('--partner <id|none>', 'ID of its partner, or none', unlessNone(parseId))
    .option(
      '--support <address|none>',
      'contact that payers see: an e-mail address or an https URL',
      unlessNone(parseContact),
    )
    .option(
      '--accent <#rrggbb|none>',
      'accent colour of the checkout; shades of it that can be read are used',
      unlessNone(parseColor),
    )
    .option(
      '--logo <file|none>',
      `PNG or WebP shown on the checkout, up to ${LOGO_BYTES_MAXIMUM / 1024} KiB and ${LOGO_PIXELS_MAXIMUM} pixels a side`,
    )
    .option('--show-note <on|off>', 'whether payers see the note of a payment', parseOnOff)
    .atLeastOneOf(...SETTINGS)
    .onDatabase(async (session, id: string, flags: SetFlags) => {
      const { partner, support, accent, showNote, logo: file, ...change } = flags;
      const merchant = await setMerchant(session, id, {
        ...change,
        partnerId: orNull(partner),
        supportContact: orNull(support),
        accentColor: orNull(accent),
        showsNote: showNote,
        logo: file === undefined || file === NONE ? orNull(file) : await readLogo(file),
      });
      session.show(await merchantWithLogo(session.db, merchant));
    });
}

/** Adds the terms of a merchant's payments. */
function addTerms(command: CliCommand, defaults: Partial<typeof TERM_DEFAULTS> = {}): CliCommand {
  const { settlement, commissionPayer, commissionBps, underpaymentToleranceBps } = defaults;
  const payer = `who pays the commission${commissionPayer ?? ''}`;
  return command
    .addOption(
      choice('--settlement <model>', `how payments settle${settlement ?? ''}`, ['split', 'direct']),
    )
    .addOption(choice('--commission-payer <who>', payer, ['merchant', 'shopper']))
    .option(
      '--commission-bps <n>',
      `commission on split payments in basis points, 0 to ${COMMISSION_BPS_MAXIMUM}${commissionBps ?? ''}`,
      integerFrom(0, COMMISSION_BPS_MAXIMUM),
    )
    .option(
      '--underpayment-tolerance-bps <n>',
      `how much too little still settles a payment, in basis points, 0 to ${TOLERANCE_BPS_MAXIMUM}; for open payments as well${underpaymentToleranceBps ?? ''}`,
      integerFrom(0, TOLERANCE_BPS_MAXIMUM),
    );
}

/** Accepts `none` in addition to what a parser accepts. */
function unlessNone(parse: (text: string) => string): (text: string) => string {
  return text => (text === NONE ? text : parse(text));
}

function orNull<T>(value: T | typeof NONE): T | null {
  return value === NONE ? null : value;
}

/** @throws CommandFailed for a file that cannot be read, and for an image that is refused. */
async function readLogo(file: string): Promise<Logo> {
  const bytes = await readNamedFile(file, 'The logo');
  try {
    return parseLogo(bytes);
  } catch (error) {
    if (!(error instanceof ImageRefused)) throw error;
    throw new CommandFailed(`The image "${file}" ${error.message}.`);
  }
}

function merchantObject(merchant: Merchant) {
  return {
    id: merchant.id,
    partnerId: merchant.partner_id,
    name: merchant.name,
    email: merchant.email,
    environment: merchant.environment,
    testOf: merchant.test_of,
    status: merchant.status,
    accountKind: merchant.account_kind,
    onboardingStatus: merchant.onboarding_status,
    settlementModel: merchant.settlement_model,
    commissionPayer: merchant.commission_payer,
    commissionBps: merchant.commission_bps,
    underpaymentToleranceBps: merchant.underpayment_tolerance_bps,
    supportContact: merchant.support_contact,
    accentColor: merchant.accent_color,
    showsNote: merchant.shows_note,
    createdAt: merchant.created_at,
  };
}

async function merchantWithLogo(db: Connection, merchant: Merchant) {
  return { ...merchantObject(merchant), logo: await findLogoHash(db, merchant.id) };
}

async function merchantWithBranches(db: Connection, merchant: Merchant) {
  const redirectDomains = await listRedirectDomains(db, merchant.id);
  const branches = [];
  for (const branch of await listBranches(db, merchant.id)) {
    const addresses = await listDepositAddresses(db, branch.id);
    branches.push({ id: branch.id, name: branch.name, isMain: branch.is_main, addresses });
  }
  return { ...(await merchantWithLogo(db, merchant)), redirectDomains, branches };
}
