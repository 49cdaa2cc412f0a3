import { InvalidArgumentError, Option } from 'commander';
import * as input from '#accounts/input.ts';
import { UUID } from '#schemas/uuid.ts';
import { DATE_EXPECTED, parseDateBound, toInclusiveEnd } from '#time/date-bound.ts';
import * as duration from '#time/duration.ts';
import { MONTH_PATTERN } from '#time/months.ts';

/** A flag whose value is one of a few words. */
export function choice(flags: string, description: string, values: readonly string[]): Option {
  return new Option(flags, description).choices(values);
}

/** Refuses text for which `parse` returns undefined. All parsers of this file throw InvalidArgumentError. */
function orRefuse<T>(parse: (text: string) => T | undefined, message: string): (text: string) => T {
  return text => {
    const value = parse(text);
    if (value === undefined) throw new InvalidArgumentError(message);
    return value;
  };
}

/** In lower case, as in the database and the audit log. */
export const parseId = orRefuse(
  text => (UUID.test(text) ? text.toLowerCase() : undefined),
  'Must be an ID (UUID).',
);

/** Parses the ID of any object in the audit log: a UUID, a key ID or a network ID. */
export function parseObjectId(text: string): string {
  return UUID.test(text) ? parseId(text) : parseName(text);
}

export const parseKeyId = orRefuse(
  input.parseKeyId,
  'Must be a key ID: mpk_ and 24 lower-case hex digits.',
);

export const parseName = orRefuse(
  input.parseName,
  `Must be 1 to ${input.NAME_MAXIMUM} characters, not all blank, without control characters.`,
);

export const parseEmail = orRefuse(
  input.parseEmail,
  'Must be an e-mail address, for example shop@example.com.',
);

export const parseContact = orRefuse(
  input.parseContact,
  'Must be an e-mail address or an https URL, or none.',
);

export const parseColor = orRefuse(input.parseColor, 'Must be a colour like #0f766e, or none.');

export const parseDate = orRefuse(parseDateBound, `Must be ${DATE_EXPECTED}.`);

/** Parses an inclusive end: a date alone is that whole UTC day. */
export const parseInclusiveEnd = orRefuse(toInclusiveEnd, `Must be ${DATE_EXPECTED}.`);

const MONTH = new RegExp(MONTH_PATTERN);
export const parseMonth = orRefuse(
  text => (MONTH.test(text) ? text : undefined),
  'Must be a month, for example 2026-10.',
);

const SWITCH = new Map([
  ['on', true],
  ['off', false],
]);
export const parseOnOff = orRefuse(text => SWITCH.get(text), 'Must be on or off.');

/** Parses whole numbers in plain decimal digits. */
export function integerFrom(minimum: number, maximum: number): (text: string) => number {
  return orRefuse(text => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return value >= minimum && value <= maximum ? value : undefined;
  }, `Must be a whole number from ${minimum} to ${maximum}.`);
}

/** In milliseconds. */
export const parseDuration = orRefuse(
  duration.parseDuration,
  `Must be ${duration.DURATION_EXPECTED}.`,
);

/** Parses a comma-separated list of some of the words. */
export function listOf<T extends string>(words: readonly T[]): (text: string) => T[] {
  const isWord = (part: string): part is T => words.some(word => word === part);
  return orRefuse(
    text => {
      const parts = text.split(',').map(part => part.trim());
      return parts.every(isWord) ? parts : undefined;
    },
    `Must be a comma-separated list of some of ${words.join(', ')}.`,
  );
}
