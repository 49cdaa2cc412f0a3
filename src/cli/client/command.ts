import type { Credentials } from '#client/index.ts';
import { readServiceAddress } from '#client/service-address.ts';
import type { MismatchHints } from '#signing/mistakes/mistake.ts';
import type { Terminal } from '../terminal.ts';

/**
 * A command of `mp` that needs only an API key. The `mp` of the client package and that of the repository run
 * the same ones: the first parses arguments with `parse-arguments.ts`, since it has no dependencies, the
 * second with Commander.
 */
export interface ClientCommand {
  readonly positionals: readonly Positional[];
  readonly options: readonly Option[];
  /** Printed at the end of the help. */
  readonly notes?: string;
  run(context: ClientContext, given: Given): Promise<void>;
}

interface Value {
  readonly description: string;
  /** @throws WrongUsage */
  readonly parse?: (text: string) => unknown;
}

interface Positional extends Value {
  readonly name: string;
  readonly isOptional?: boolean;
}

export interface Option extends Value {
  /** `--name`, or `--name <value>` for an option that takes one. */
  readonly flags: string;
  readonly choices?: readonly string[];
  readonly isRequired?: boolean;
}

/** Values by name; those of options in camel case. */
export type Given = Readonly<Record<string, unknown>>;

/** Where a key comes from, and what goes with it. */
export interface ClientContext {
  readonly terminal: Terminal;
  /** What to do when the service does not respond; completes a sentence. */
  readonly whenSilent: string;
  /**
   * The key to sign with and the service that it goes to.
   * @throws CommandFailed when there is none.
   */
  connect(given: Given): Promise<Connection>;
  /**
   * The secret to check a signature against. Unlike for signing, the secret alone is enough.
   * @throws CommandFailed when there is none.
   */
  explainingKey(given: Given): Promise<ExplainingKey>;
}

export interface Connection {
  /** Scheme and host, and the prefix of a proxy. */
  readonly baseUrl: string;
  readonly credentials: Credentials;
}

/** The secret to check a signature against, and what else is known of its key. */
export interface ExplainingKey extends MismatchHints {
  readonly secret: string;
}

/** The command line is wrong: exit status 2. */
export class WrongUsage extends Error {}

/** Lets `run` take typed values; `G` has to match the positionals and options. */
export function defineCommand<G extends object>(
  command: Omit<ClientCommand, 'run'> & { run(context: ClientContext, given: G): Promise<void> },
): ClientCommand {
  return { ...command, run: (context, given) => command.run(context, given as G) };
}

export const JSON_OPTION: Option = {
  flags: '--json',
  description: 'print exactly one JSON document',
};

export const URL_OPTION: Option = {
  flags: '--url <url>',
  description: 'URL of the service (default: the one that belongs to the key)',
  parse: parseAddress,
};

/**
 * The address of a service, which may have the prefix of a proxy.
 * @throws WrongUsage for anything else.
 */
export function parseAddress(text: string): string {
  try {
    readServiceAddress(text);
  } catch {
    throw new WrongUsage(
      'The address of the service must be an http or https URL, for example https://payments.example.com.',
    );
  }
  return text.replace(/\/+$/, '');
}
