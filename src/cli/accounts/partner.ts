import { createPartner, requirePartner, setPartner } from '#accounts/partners.ts';
import { verifyPartner } from '#reports/partners/verify-rollups.ts';
import type { ActiveStatus, Partner } from '#storage/database/account-tables.ts';
import { listPartnerMembers, listPartners } from '#storage/repositories/accounts/partners.ts';
import { type CliCommand, type PageFlags, pageNote } from '../cli-command.ts';
import { CommandFailed } from '../terminal.ts';
import { choice, parseId, parseName, parseOnOff } from '../values.ts';
import { memberObject } from './member.ts';

const SELF_SERVICE = 'whether its merchants may use API keys of their own';
const STATUS = 'whether its keys and those of its merchants work';

/** `mp partner create | list | show | verify | set` */
export function define(noun: CliCommand): void {
  noun
    .verb('create', 'create a partner')
    .requiredOption('--name <name>', 'name, up to 200 characters', parseName)
    .option('--self-service <on|off>', `${SELF_SERVICE} (default: off)`, parseOnOff)
    .onDatabase(async (session, flags: { name: string; selfService?: boolean }) => {
      const { name, selfService = false } = flags;
      session.show(partnerObject(await createPartner(session, { name, selfService })));
    });

  noun
    .verb('list', 'list partners, newest first')
    .paged('partner')
    .onDatabase(async ({ db, showList }, flags: PageFlags) => {
      if (flags.before !== undefined) await requirePartner(db, flags.before);
      const partners = (await listPartners(db, flags)).map(partnerObject);
      const columns = ['id', 'name', 'status', 'selfServiceApiPayments', 'createdAt'] as const;
      showList(partners, columns, pageNote(partners, flags));
    });

  noun
    .verb('show', 'show a partner with its members')
    .argument('<id>', 'partner ID', parseId)
    .onDatabase(async ({ db, show }, id: string) => {
      const partner = partnerObject(await requirePartner(db, id));
      const members = (await listPartnerMembers(db, id)).map(memberObject);
      show({ ...partner, members });
    });

  noun
    .verb('verify', "check a partner's report figures against its payments")
    .argument('<id>', 'partner ID', parseId)
    .onDatabase(async ({ directUrl, show }, id: string) => {
      const { withoutTimeLimit } = await import('#runtime/storage.ts');
      const discrepancies = await withoutTimeLimit(directUrl, 'eps-mp', db =>
        verifyPartner(db, id),
      );
      const exact = discrepancies.length === 0;
      show({ id, exact, discrepancies });
      if (!exact) throw new CommandFailed('The figures differ from the payments.');
    });

  noun
    .verb('set', 'change a partner')
    .argument('<id>', 'partner ID', parseId)
    .addOption(choice('--status <status>', STATUS, ['active', 'inactive']))
    .option('--self-service <on|off>', SELF_SERVICE, parseOnOff)
    .atLeastOneOf('status', 'selfService')
    .onDatabase(
      async (session, id: string, flags: { status?: ActiveStatus; selfService?: boolean }) => {
        session.show(partnerObject(await setPartner(session, id, flags)));
      },
    );
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
