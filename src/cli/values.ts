import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDateBound } from '../time/date-bound.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const KEY_ID = /^mpk_[0-9a-f]{24}$/;
/** Longest name of anything, in characters. */
const NAME_MAXIMUM = 200;
/** Longest e-mail address that SMTP can deliver to (RFC 5321, path without its brackets). */
const EMAIL_MAXIMUM = 254;
const EMAIL =
  /^[^\s@\p{Cc}"(),:;<>[\]\\]{1,64}@([\p{L}\p{N}]([\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+[\p{L}\p{N}-]{2,}$/u;
const PAGE_DEFAULT = 100;
const PAGE_MAXIMUM = 1000;
/** Characters that would move the cursor or break a line wherever the text is shown. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/** What every command that prints takes. */
export interface JsonFlag {
  readonly json?: true;
}

/** Adds a verb with its one-line description and `--json`. */
export function addVerb(noun: Command, name: string, description: string): Command {
  return addJsonFlag(noun.command(name).description(description));
}

/** Adds `--json` to a command. */
export function addJsonFlag(command: Command): Command {
  return command.option('--json', 'print exactly one JSON document');
}

/** What every bounded list takes. */
export interface PageFlags extends JsonFlag {
  readonly limit: number;
  readonly before?: string;
}

/** Adds what a bounded list takes. */
export function addPageFlags(command: Command, noun: string): Command {
  return command
    .option(
      '--limit <n>',
      `how many at most, 1 to ${PAGE_MAXIMUM}`,
      integerFrom(1, PAGE_MAXIMUM),
      PAGE_DEFAULT,
    )
    .option('--before <id>', `ID of a ${noun}: only older ones`, parseId);
}

/** How to see what a full page leaves out. */
export function pageNote(page: readonly { id: string }[], flags: PageFlags): string | undefined {
  const last = page.at(-1);
  if (last === undefined || page.length < flags.limit) return undefined;
  return `There may be more: --before ${last.id}`;
}

/** A flag that takes one of a few words. */
export function choice(flags: string, description: string, values: readonly string[]): Option {
  return new Option(flags, description).choices(values);
}

/** Ends with wrong usage when none of these flags is given; a `set` without one sets nothing. */
export function requireFlag(command: Command, names: readonly string[]): void {
  if (names.some(name => command.getOptionValue(name) !== undefined)) return;
  const flags = command.options.filter(option => names.includes(option.attributeName()));
  command.error(`error: give at least one of ${flags.map(option => option.long).join(', ')}`);
}

/** @throws InvalidArgumentError, as all of these do, for text that is no such value. */
export function parseId(text: string): string {
  if (!UUID.test(text)) throw new InvalidArgumentError('It takes an ID (UUID).');
  // The spelling that the database answers with, and that the audit log is searched by.
  return text.toLowerCase();
}

/** Reads the ID of anything that operators change: a UUID, a key ID, a network. */
export function parseObjectId(text: string): string {
  return UUID.test(text) ? parseId(text) : parseName(text);
}

export function parseKeyId(text: string): string {
  if (!KEY_ID.test(text)) {
    throw new InvalidArgumentError('It takes a key ID: mpk_ and 24 lower-case hex digits.');
  }
  return text;
}

export function parseName(text: string): string {
  const length = [...text].length;
  if (text.trim() === '' || length > NAME_MAXIMUM || UNPRINTABLE.test(text)) {
    throw new InvalidArgumentError(
      `It takes 1 to ${NAME_MAXIMUM} characters, not all blank, without control characters.`,
    );
  }
  return text;
}

export function parseEmail(text: string): string {
  if (text.length > EMAIL_MAXIMUM || !EMAIL.test(text)) {
    throw new InvalidArgumentError('It takes an e-mail address, as in shop@example.com.');
  }
  return text;
}

export function parseOnOff(text: string): boolean {
  if (text !== 'on' && text !== 'off') throw new InvalidArgumentError('It takes on or off.');
  return text === 'on';
}

/** Reads whole numbers in plain decimal digits. */
export function integerFrom(minimum: number, maximum: number): (text: string) => number {
  return text => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= minimum && value <= maximum) return value;
    throw new InvalidArgumentError(`It takes a whole number from ${minimum} to ${maximum}.`);
  };
}

export function parseDate(text: string): Date {
  const date = parseDateBound(text);
  if (date !== undefined) return date;
  throw new InvalidArgumentError(
    'It takes an RFC 3339 date-time, as in 2030-01-31T12:00:00Z, or a date.',
  );
}

/** Reads several of a few words, separated by commas. */
export function listOf(words: readonly string[]): (text: string) => string[] {
  return text => {
    const parts = text.split(',').map(part => part.trim());
    if (parts.every(part => words.includes(part))) return parts;
    throw new InvalidArgumentError(`It takes some of ${words.join(',')}.`);
  };
}
