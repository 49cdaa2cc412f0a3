import { open } from 'node:fs/promises';
import { audited } from '#accounts/audit/audited-change.ts';
import { requireMerchant } from '#accounts/merchants.ts';
import type { FilePart } from '#payments/csv.ts';
import { accountingFile, FORMATS, type Format } from '#reports/accounting/file.ts';
import { closingOf, isClosed } from '#time/months.ts';
import type { CliCommand } from '../cli-command.ts';
import { type Report, withProgress } from '../progress.ts';
import type { Terminal } from '../terminal.ts';
import { CommandFailed } from '../terminal.ts';
import { choice, parseId, parseMonth } from '../values.ts';
import { refuseFile } from './evidence.ts';

interface ExportFlags {
  readonly merchant: string;
  readonly month: string;
  readonly format: Format;
  readonly out?: string;
}

/** `mp export accounting` */
export function define(noun: CliCommand): void {
  noun
    .command('accounting')
    .description("write a finished month of a merchant's movements, a row for each")
    .requiredOption('--merchant <id>', 'whose movements', parseId)
    .requiredOption('--month <month>', 'UTC month, for example 2026-10', parseMonth)
    .addOption(
      choice('--format <format>', 'jsonl ends with a signature', FORMATS).default(FORMATS[0]),
    )
    .option('--out <file>', 'file to write instead of standard output')
    .addHelpText(
      'after',
      '\nAmounts are US cents; the guide on evidence has the columns. In CSV all text is in quotes;\n' +
        "what a spreadsheet would take for a formula has an apostrophe (') before it.",
    )
    .onDatabase(async (session, { merchant: id, month, format, out }: ExportFlags) => {
      const { db, keyring, clock, config } = session;
      if (!isClosed(month, new Date(clock()))) {
        throw new CommandFailed(
          `${month} is not finished: it can be exported from ${closingOf(month).toISOString()} on.`,
        );
      }
      const merchant = await requireMerchant(db, id);
      const deps = { db, reports: db, keyring, clock, publicUrl: config.publicUrl };
      const parts = accountingFile(deps, merchant, month, format);
      const { terminal } = noun;
      const isShown = out === undefined && terminal.isOutShown;
      const rows = await withProgress(
        isShown ? { ...terminal, progressWidth: undefined } : terminal,
        'mp export, rows',
        report =>
          out === undefined ? print(terminal, parts, report) : writeParts(out, parts, report),
      );
      await audited(session, 'accounting.export', async () => ({
        result: undefined,
        objectId: id,
        detail: { filters: { month, format }, rows },
      }));
    });
}

/** @returns How many rows were printed: fewer than there are when the reader is gone. */
async function print(
  terminal: Terminal,
  parts: AsyncIterable<FilePart>,
  report: Report,
): Promise<number> {
  let printed = 0;
  for await (const { text, rows } of parts) {
    terminal.out(text);
    printed += rows;
    report(printed);
    if (terminal.isRead?.() === false) break;
  }
  return printed;
}

/** Writes the whole file or leaves it empty: a truncated file would look like a month with fewer rows. */
async function writeParts(
  out: string,
  parts: AsyncIterable<FilePart>,
  report: Report,
): Promise<number> {
  const file = await open(out, 'w').catch(refuseFile);
  let written = 0;
  try {
    for await (const { text, rows } of parts) {
      await file.writeFile(text).catch(refuseFile);
      written += rows;
      report(written);
    }
  } catch (error) {
    // Anything but a file, such as a terminal, cannot be truncated.
    await file.truncate().catch(() => undefined);
    throw error;
  } finally {
    await file.close();
  }
  return written;
}
