import { type Command, InvalidArgumentError, Option } from 'commander';
import { UUID } from '#schemas/uuid.ts';
import * as input from '../accounts/input.ts';
import { DATE_EXPECTED, parseDateBound, toInclusiveEnd } from '../time/date-bound.ts';

const PAGE_DEFAULT = 100;
const PAGE_MAXIMUM = 1000;

/** Flag of every command. */
export interface JsonFlag {
  readonly json?: true;
}

/** Adds a verb with `--json`. */
export function addVerb(noun: Command, name: string, description: string): Command {
  return addJsonFlag(noun.command(name).description(description));
}

export function addJsonFlag(command: Command): Command {
  return command.option('--json', 'print exactly one JSON document');
}

/** Flags of a list that is read page by page. */
export interface PageFlags extends JsonFlag {
  readonly limit: number;
  readonly before?: string;
}

/** @param noun What the list contains, in the singular. */
export function addPageFlags(command: Command, noun: string): Command {
  return command
    .option(
      '--limit <n>',
      `most rows to list, 1 to ${PAGE_MAXIMUM}`,
      integerFrom(1, PAGE_MAXIMUM),
      PAGE_DEFAULT,
    )
    .option('--before <id>', `only rows older than the ${noun} with this ID`, parseId);
}

/** After a full page, tells how to read the next one. */
export function pageNote(page: readonly { id: string }[], flags: PageFlags): string | undefined {
  const last = page.at(-1);
  if (last === undefined || page.length < flags.limit) return undefined;
  return `There may be more: --before ${last.id}`;
}

/** A flag whose value is one of a few words. */
export function choice(flags: string, description: string, values: readonly string[]): Option {
  return new Option(flags, description).choices(values);
}

/** Ends the command with wrong usage when none of these flags is given. */
export function requireFlag(command: Command, names: readonly string[]): void {
  if (names.some(name => command.getOptionValue(name) !== undefined)) return;
  const flags = command.options.filter(option => names.includes(option.attributeName()));
  command.error(`error: give at least one of ${flags.map(option => option.long).join(', ')}`);
}

/** Like every parser below, throws InvalidArgumentError for invalid text. */
export function parseId(text: string): string {
  if (!UUID.test(text)) throw new InvalidArgumentError('Must be an ID (UUID).');
  // Lower case, as in the database and the audit log.
  return text.toLowerCase();
}

/** Parses the ID of any object in the audit log: a UUID, a key ID or a network ID. */
export function parseObjectId(text: string): string {
  return UUID.test(text) ? parseId(text) : parseName(text);
}

export function parseKeyId(text: string): string {
  const keyId = input.parseKeyId(text);
  if (keyId !== undefined) return keyId;
  throw new InvalidArgumentError('Must be a key ID: mpk_ and 24 lower-case hex digits.');
}

export function parseName(text: string): string {
  const name = input.parseName(text);
  if (name !== undefined) return name;
  throw new InvalidArgumentError(
    `Must be 1 to ${input.NAME_MAXIMUM} characters, not all blank, without control characters.`,
  );
}

export function parseEmail(text: string): string {
  const email = input.parseEmail(text);
  if (email !== undefined) return email;
  throw new InvalidArgumentError('Must be an e-mail address, for example shop@example.com.');
}

export function parseContact(text: string): string {
  const contact = input.parseContact(text);
  if (contact !== undefined) return contact;
  throw new InvalidArgumentError('Must be an e-mail address or an https URL, or none.');
}

export function parseColor(text: string): string {
  const color = input.parseColor(text);
  if (color !== undefined) return color;
  throw new InvalidArgumentError('Must be a colour like #0f766e, or none.');
}

export function parseOnOff(text: string): boolean {
  if (text !== 'on' && text !== 'off') throw new InvalidArgumentError('Must be on or off.');
  return text === 'on';
}

/** Parses whole numbers in plain decimal digits. */
export function integerFrom(minimum: number, maximum: number): (text: string) => number {
  return text => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= minimum && value <= maximum) return value;
    throw new InvalidArgumentError(`Must be a whole number from ${minimum} to ${maximum}.`);
  };
}

export function parseDate(text: string): Date {
  const date = parseDateBound(text);
  if (date !== undefined) return date;
  throw new InvalidArgumentError(`Must be ${DATE_EXPECTED}.`);
}

/** Parses an inclusive end: a date alone is that whole UTC day. */
export function parseInclusiveEnd(text: string): Date {
  const end = toInclusiveEnd(text);
  if (end !== undefined) return end;
  throw new InvalidArgumentError(`Must be ${DATE_EXPECTED}.`);
}

/** Parses a comma-separated list of some of the words. */
export function listOf<T extends string>(words: readonly T[]): (text: string) => T[] {
  const isWord = (part: string): part is T => words.some(word => word === part);
  return text => {
    const parts = text.split(',').map(part => part.trim());
    if (parts.every(isWord)) return parts;
    throw new InvalidArgumentError(
      `Must be a comma-separated list of some of ${words.join(', ')}.`,
    );
  };
}
