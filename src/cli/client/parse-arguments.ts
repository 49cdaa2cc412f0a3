import { parseArgs } from 'node:util';
import { type ClientCommand, type Given, type Option, WrongUsage } from './command.ts';
import { longOf, nameOf, takesValue } from './options.ts';

/** The parsed arguments after the name of a command. */
export interface Parsed {
  readonly isHelp: boolean;
  /** Empty for help. */
  readonly given: Given;
}

/** @throws WrongUsage */
export function parseArguments(args: readonly string[], command: ClientCommand): Parsed {
  const { values, positionals } = read(args, command.options);
  if (values.help === true) return { isHelp: true, given: {} };
  const given: Record<string, unknown> = {};
  for (const [index, { name, parse, isOptional }] of command.positionals.entries()) {
    const text = positionals[index];
    if (text !== undefined) given[name] = parsed(`argument '${name}'`, text, parse);
    else if (!isOptional) throw new WrongUsage(`missing required argument '${name}'`);
  }
  if (positionals.length > command.positionals.length) {
    throw new WrongUsage(`there are too many arguments: ${positionals.length}`);
  }
  for (const option of command.options) {
    const value = values[longOf(option.flags)];
    if (typeof value === 'string') given[nameOf(option)] = optionValue(option, value);
    else if (value === true) given[nameOf(option)] = true;
    else if (option.isRequired) {
      throw new WrongUsage(`required option '${option.flags}' not specified`);
    }
  }
  return { isHelp: false, given };
}

/** The arguments before their values are parsed. */
interface Read {
  readonly values: Readonly<Record<string, unknown>>;
  readonly positionals: readonly string[];
}

function read(args: readonly string[], options: readonly Option[]): Read {
  const types = options.map(option => {
    const type = takesValue(option) ? ('string' as const) : ('boolean' as const);
    return [longOf(option.flags), { type }] as const;
  });
  try {
    return parseArgs({
      args: [...args],
      options: { ...Object.fromEntries(types), help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    });
  } catch (error) {
    if (error instanceof TypeError) throw new WrongUsage(error.message);
    throw error;
  }
}

function optionValue({ flags, choices, parse }: Option, text: string): unknown {
  if (choices !== undefined && !choices.includes(text)) {
    throw new WrongUsage(
      `option '${flags}' argument '${text}' is invalid. Allowed choices are ${choices.join(', ')}.`,
    );
  }
  return parsed(`option '${flags}'`, text, parse);
}

function parsed(what: string, text: string, parse?: (text: string) => unknown): unknown {
  if (parse === undefined) return text;
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof WrongUsage)) throw error;
    throw new WrongUsage(`${what}: ${error.message}`);
  }
}
