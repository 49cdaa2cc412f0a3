import { InvalidArgumentError, Option } from 'commander';
import { DEMO_ROLES } from '#runtime/development/demo-credentials.ts';
import type { CliCommand } from '../cli-command.ts';
import { type ClientCommand, type Given, WrongUsage } from '../client/command.ts';
import { takesValue } from '../client/options.ts';
import { demoOrOwnKey } from './demo-or-own-key.ts';

/** Defines a command of the client package for Commander; `--as` signs it with a demo key. */
export function defineClientCommand(command: CliCommand, shared: ClientCommand): void {
  const { terminal } = command;
  const { positionals, options, notes } = shared;
  for (const { name, description, parse, isOptional } of positionals) {
    command.argument(isOptional ? `[${name}]` : `<${name}>`, description, asCommander(parse));
  }
  for (const { flags, description, parse, choices, isRequired } of options) {
    const option = new Option(flags, description).makeOptionMandatory(isRequired === true);
    if (choices !== undefined) option.choices(choices);
    else if (takesValue({ flags, description })) option.argParser(asCommander(parse));
    command.addOption(option);
  }
  if (!LOCAL.includes(command.name())) {
    const description = 'demo key to use (default: the key of MP_KEY_ID, else merchant)';
    command.addOption(new Option('--as <account>', description).choices([...DEMO_ROLES]));
  }
  if (notes !== undefined) command.addHelpText('after', `\n${notes.trim()}`);
  command.action(async (...given: unknown[]) => {
    const named = positionals.map(({ name }, index) => [name, given[index]] as const);
    const values: Given = { ...command.opts(), ...Object.fromEntries(named) };
    try {
      await shared.run(demoOrOwnKey(terminal), values);
    } catch (error) {
      if (error instanceof WrongUsage) command.error(`error: ${error.message}`);
      throw error;
    }
  });
}

/** Commands that use no key. */
const LOCAL = ['conformance'];

function asCommander(parse: (text: string) => unknown = text => text) {
  return (text: string): unknown => {
    try {
      return parse(text);
    } catch (error) {
      throw error instanceof WrongUsage ? new InvalidArgumentError(error.message) : error;
    }
  };
}
