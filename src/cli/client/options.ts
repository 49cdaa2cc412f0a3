import { type Option, WrongUsage } from './command.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** In lower case, as in the API's responses. */
export function parseUuid(text: string): string {
  if (UUID.test(text)) return text.toLowerCase();
  throw new WrongUsage('Must be an ID (UUID).');
}

/** Parses a comma-separated list of some of the words. */
export function listOfWords<T extends string>(words: readonly T[]): (text: string) => T[] {
  const isWord = (part: string): part is T => words.some(word => word === part);
  return text => {
    const parts = text.split(',').map(part => part.trim());
    if (parts.every(isWord)) return parts;
    throw new WrongUsage(`Must be a comma-separated list of some of ${words.join(', ')}.`);
  };
}

/** Name of an option in what a command is given: `forwardTo` for `--forward-to <url>`. */
export function nameOf({ flags }: Option): string {
  return longOf(flags).replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** `forward-to` for `--forward-to <url>`. */
export function longOf(flags: string): string {
  return /^--([\w-]+)/.exec(flags)?.[1] ?? '';
}

export function takesValue({ flags }: Option): boolean {
  return flags.includes('<');
}
