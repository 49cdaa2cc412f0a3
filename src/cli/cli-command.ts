import { Command } from 'commander';
import { type JsonFlag, printList, printObject } from './print.ts';
import { type Session, withSession } from './session.ts';
import type { Terminal } from './terminal.ts';
import { integerFrom, parseId } from './values.ts';

const PAGE_DEFAULT = 100;
const PAGE_MAXIMUM = 1000;

/** Flags of a list that is read page by page. */
export interface PageFlags extends JsonFlag {
  readonly limit: number;
  readonly before?: string;
}

/** What a command works with on the database, and how it prints its result. */
interface Opened extends Session {
  /** Prints an object: as JSON, or a line for each field and an optional note. */
  show(object: object, note?: string): void;
  /** Prints a list: a JSON array of the whole objects, or a table of some columns and an optional note. */
  showList<T extends object>(
    rows: readonly T[],
    columns: readonly (keyof T & string)[],
    note?: string,
  ): void;
}

/** A noun or a verb of `mp`. */
export class CliCommand extends Command {
  readonly terminal: Terminal;
  #mayBeRestored = false;

  constructor(terminal: Terminal, name?: string) {
    super(name);
    this.terminal = terminal;
  }

  override createCommand(name?: string): CliCommand {
    return new CliCommand(this.terminal, name);
  }

  /** Adds a verb with `--json`. */
  verb(name: string, description: string): CliCommand {
    const verb: CliCommand = this.command(name);
    return verb.description(description).json();
  }

  json(): this {
    return this.option('--json', 'print exactly one JSON document');
  }

  limit(most = PAGE_MAXIMUM, otherwise = PAGE_DEFAULT): this {
    const parse = integerFrom(1, most);
    return this.option('--limit <n>', `most rows to list, 1 to ${most}`, parse, otherwise);
  }

  /** @param noun What the list contains, in the singular. */
  paged(noun: string): this {
    const description = `only rows older than the ${noun} with this ID`;
    return this.limit().option('--before <id>', description, parseId);
  }

  /** Ends the command with wrong usage when none of these flags is given. */
  atLeastOneOf(...names: readonly string[]): this {
    return this.hook('preAction', () => {
      if (names.some(name => this.getOptionValue(name) !== undefined)) return;
      const flags = this.options.filter(option => names.includes(option.attributeName()));
      this.error(`error: give at least one of ${flags.map(option => option.long).join(', ')}`);
    });
  }

  /** Lets the command write even to a database whose restore is not confirmed. */
  whileRestored(): this {
    this.#mayBeRestored = true;
    return this;
  }

  /** Runs `work` on the configured database. It receives the arguments, then the flags. */
  onDatabase<A extends unknown[]>(work: (opened: Opened, ...given: A) => Promise<void>): this {
    const { terminal } = this;
    return this.action((...given: A) =>
      withSession(
        terminal,
        async session => {
          const flags: JsonFlag = this.opts();
          await work(
            {
              ...session,
              show: (object, note) => printObject(terminal, flags, object, note),
              showList: (rows, columns, note) => printList(terminal, flags, rows, columns, note),
            },
            ...given,
          );
        },
        { mayBeRestored: this.#mayBeRestored },
      ),
    );
  }
}

/** After a full page, tells how to read the next one. */
export function pageNote(page: readonly { id: string }[], flags: PageFlags): string | undefined {
  const last = page.at(-1);
  if (last === undefined || page.length < flags.limit) return undefined;
  return `There may be more: --before ${last.id}`;
}
