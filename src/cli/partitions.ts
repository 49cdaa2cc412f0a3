import { listPartitions, type PartitionSize } from '#storage/repositories/partitions.ts';
import type { CliCommand } from './cli-command.ts';
import type { JsonFlag } from './print.ts';
import { withProgress } from './progress.ts';

const MEBIBYTE = 2 ** 20;

/** `mp partitions` */
export function define(command: CliCommand): void {
  command
    .json()
    .addHelpText(
      'after',
      '\nRows are estimates of PostgreSQL. Sizes include indexes. What is older than the first month is one partition.',
    )
    .onDatabase(async ({ db, show, showList }, { json }: JsonFlag) => {
      const partitions = await withProgress(command.terminal, 'mp partitions', () =>
        listPartitions(db),
      );
      if (json) return show(partitions);
      showList(partitions.map(row), ['table', 'month', 'rows', 'MiB']);
    });
}

function row({ table, month, rows, bytes }: PartitionSize) {
  return { table, month: month ?? 'before', rows, MiB: Math.ceil(bytes / MEBIBYTE) };
}
