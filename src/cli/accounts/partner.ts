import type { Command } from 'commander';
import { createPartner, requirePartner, setPartner } from '../../accounts/partners.ts';
import type { ActiveStatus, Partner } from '../../database/account-tables.ts';
import { verifyPartner } from '../../partners/verify-rollups.ts';
import { listPartnerMembers, listPartners } from '../../repositories/accounts/partners.ts';
import { printList, printObject } from '../print.ts';
import { CommandFailed, type Terminal } from '../terminal.ts';
import {
  addPageFlags,
  addVerb,
  choice,
  type JsonFlag,
  type PageFlags,
  pageNote,
  parseId,
  parseName,
  parseOnOff,
  requireFlag,
} from '../values.ts';
import { memberObject } from './member.ts';
import { withSession } from './session.ts';

const SELF_SERVICE = 'whether its merchants may use API keys of their own';

interface CreateFlags extends JsonFlag {
  readonly name: string;
  readonly selfService?: boolean;
}

interface SetFlags extends JsonFlag {
  readonly status?: ActiveStatus;
  readonly selfService?: boolean;
}

/** `mp partner create | list | show | verify | set` */
export function define(noun: Command, terminal: Terminal): void {
  addVerb(noun, 'create', 'create a partner')
    .requiredOption('--name <name>', 'name, up to 200 characters', parseName)
    .option('--self-service <on|off>', `${SELF_SERVICE} (default: off)`, parseOnOff)
    .action(({ name, selfService = false, ...flags }: CreateFlags) =>
      withSession(terminal, async session => {
        const partner = await createPartner(session, { name, selfService });
        printObject(terminal, flags, partnerObject(partner));
      }),
    );

  addPageFlags(addVerb(noun, 'list', 'list partners, newest first'), 'partner').action(
    (flags: PageFlags) =>
      withSession(terminal, async ({ db }) => {
        if (flags.before !== undefined) await requirePartner(db, flags.before);
        const partners = (await listPartners(db, flags)).map(partnerObject);
        printList(
          terminal,
          flags,
          partners,
          ['id', 'name', 'status', 'selfServiceApiPayments', 'createdAt'],
          pageNote(partners, flags),
        );
      }),
  );

  addVerb(noun, 'show', 'show a partner with its members')
    .argument('<id>', 'partner ID', parseId)
    .action((id: string, flags: JsonFlag) =>
      withSession(terminal, async ({ db }) => {
        const partner = partnerObject(await requirePartner(db, id));
        const members = (await listPartnerMembers(db, id)).map(memberObject);
        printObject(terminal, flags, { ...partner, members });
      }),
    );

  addVerb(noun, 'verify', "check a partner's report figures against its payments")
    .argument('<id>', 'partner ID', parseId)
    .action((id: string, flags: JsonFlag) =>
      withSession(terminal, async session => {
        const { withoutTimeLimit } = await import('../../runtime/storage.ts');
        const discrepancies = await withoutTimeLimit(session.directUrl, 'eps-mp', db =>
          verifyPartner(db, id),
        );
        const exact = discrepancies.length === 0;
        printObject(terminal, flags, { id, exact, discrepancies });
        if (!exact) throw new CommandFailed('The figures differ from the payments.');
      }),
    );

  addVerb(noun, 'set', 'change a partner')
    .argument('<id>', 'partner ID', parseId)
    .addOption(
      choice('--status <status>', 'whether its keys and those of its merchants work', [
        'active',
        'inactive',
      ]),
    )
    .option('--self-service <on|off>', SELF_SERVICE, parseOnOff)
    .action((id: string, flags: SetFlags, command: Command) => {
      requireFlag(command, ['status', 'selfService']);
      return withSession(terminal, async session => {
        printObject(terminal, flags, partnerObject(await setPartner(session, id, flags)));
      });
    });
}

function partnerObject(partner: Partner) {
  return {
    id: partner.id,
    name: partner.name,
    status: partner.status,
    selfServiceApiPayments: partner.self_service_api_payments,
    createdAt: partner.created_at,
  };
}
