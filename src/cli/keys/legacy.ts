import { listLegacyUsage } from '#storage/repositories/keys/legacy-usage.ts';
import { utcDay } from '#time/days.ts';
import type { CliCommand } from '../cli-command.ts';
import { parseDate } from '../values.ts';

/** `mp legacy usage` */
export function define(noun: CliCommand): void {
  noun
    .verb('usage', 'count requests to the older contract by merchant and route')
    .option('--since <date>', 'only since this UTC day (default: all days)', parseDate)
    .onDatabase(async ({ db, showList }, { since }: { since?: Date }) => {
      showList(await listLegacyUsage(db, since && utcDay(since)), [
        ...(['merchantId', 'merchantName', 'route', 'requests'] as const),
        ...(['firstDay', 'lastDay'] as const),
      ]);
    });
}
