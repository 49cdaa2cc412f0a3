import type { Command } from 'commander';
import { listLegacyUsage } from '../../repositories/keys/legacy-usage.ts';
import { utcDay } from '../../time/days.ts';
import { withSession } from '../accounts/session.ts';
import { printList } from '../print.ts';
import type { Terminal } from '../terminal.ts';
import { addVerb, type JsonFlag, parseDate } from '../values.ts';

interface UsageFlags extends JsonFlag {
  readonly since?: Date;
}

/** `mp legacy usage` */
export function define(noun: Command, terminal: Terminal): void {
  addVerb(noun, 'usage', 'count requests to the older contract by merchant and route')
    .option('--since <date>', 'only since this UTC day (default: all days)', parseDate)
    .action(({ since, ...flags }: UsageFlags) =>
      withSession(terminal, async ({ db }) => {
        const usage = await listLegacyUsage(db, since && utcDay(since));
        printList(terminal, flags, usage, [
          'merchantId',
          'merchantName',
          'route',
          'requests',
          'firstDay',
          'lastDay',
        ]);
      }),
    );
}
