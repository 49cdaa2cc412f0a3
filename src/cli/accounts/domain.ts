import { requireMerchant } from '#accounts/merchants.ts';
import {
  addDomain,
  parseDomain,
  REDIRECT_DOMAINS_MAXIMUM,
  removeDomain,
} from '#accounts/redirect-domains.ts';
import { listRedirectDomains } from '#storage/repositories/accounts/redirect-domains.ts';
import type { CliCommand } from '../cli-command.ts';
import { parseId } from '../values.ts';

interface DomainFlags {
  readonly merchant: string;
  readonly domain: string;
}

/** `mp domain add | remove | list` */
export function define(noun: CliCommand): void {
  const verb = (name: string, description: string) =>
    noun.verb(name, description).requiredOption('--merchant <id>', 'merchant ID', parseId);

  verb('add', `allow a hostname, at most ${REDIRECT_DOMAINS_MAXIMUM} per merchant`)
    .requiredOption('--domain <hostname>', 'fully qualified, for example shop.example.com')
    .onDatabase(async (session, { merchant, domain }: DomainFlags) => {
      const hostname = parseDomain(domain, session.config.environment !== 'production');
      session.show(await addDomain(session, merchant, hostname));
    });

  verb('remove', 'stop allowing a hostname')
    .requiredOption('--domain <hostname>', 'hostname, as `mp domain list` shows it')
    .onDatabase(async (session, { merchant, domain }: DomainFlags) => {
      await requireMerchant(session.db, merchant);
      // Production must be able to remove a loopback host that was added before.
      const hostname = parseDomain(domain, true);
      session.show(await removeDomain(session, merchant, hostname), 'Removed.');
    });

  verb('list', "list a merchant's redirect domains").onDatabase(
    async ({ db, showList }, { merchant }: Pick<DomainFlags, 'merchant'>) => {
      const { id: merchantId } = await requireMerchant(db, merchant);
      const domains = await listRedirectDomains(db, merchantId);
      const rows = domains.map(domain => ({ merchantId, domain }));
      showList(rows, ['domain']);
    },
  );
}
