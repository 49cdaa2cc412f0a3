import type { Command } from 'commander';
import { requireMerchant } from '../../accounts/merchants.ts';
import {
  addDomain,
  parseDomain,
  REDIRECT_DOMAINS_MAXIMUM,
  removeDomain,
} from '../../accounts/redirect-domains.ts';
import { listRedirectDomains } from '../../repositories/accounts/redirect-domains.ts';
import { printList, printObject } from '../print.ts';
import type { Terminal } from '../terminal.ts';
import { addVerb, type JsonFlag, parseId } from '../values.ts';
import { withSession } from './session.ts';

interface MerchantFlags extends JsonFlag {
  readonly merchant: string;
}

interface DomainFlags extends MerchantFlags {
  readonly domain: string;
}

/** `mp domain add | remove | list` */
export function define(noun: Command, terminal: Terminal): void {
  addVerb(noun, 'add', `allow a hostname, at most ${REDIRECT_DOMAINS_MAXIMUM} per merchant`)
    .requiredOption('--merchant <id>', 'merchant ID', parseId)
    .requiredOption('--domain <hostname>', 'fully qualified, for example shop.example.com')
    .action(({ merchant, domain, ...flags }: DomainFlags) =>
      withSession(terminal, async session => {
        const hostname = parseDomain(domain, session.config.environment !== 'production');
        printObject(terminal, flags, await addDomain(session, merchant, hostname));
      }),
    );

  addVerb(noun, 'remove', 'stop allowing a hostname')
    .requiredOption('--merchant <id>', 'merchant ID', parseId)
    .requiredOption('--domain <hostname>', 'hostname, as `mp domain list` shows it')
    .action(({ merchant, domain, ...flags }: DomainFlags) =>
      withSession(terminal, async session => {
        await requireMerchant(session.db, merchant);
        // Production must be able to remove a loopback host that was added before.
        const hostname = parseDomain(domain, true);
        printObject(terminal, flags, await removeDomain(session, merchant, hostname), 'Removed.');
      }),
    );

  addVerb(noun, 'list', "list a merchant's redirect domains")
    .requiredOption('--merchant <id>', 'merchant ID', parseId)
    .action(({ merchant, ...flags }: MerchantFlags) =>
      withSession(terminal, async ({ db }) => {
        const { id: merchantId } = await requireMerchant(db, merchant);
        const domains = await listRedirectDomains(db, merchantId);
        const rows = domains.map(domain => ({ merchantId, domain }));
        printList(terminal, flags, rows, ['domain']);
      }),
    );
}
