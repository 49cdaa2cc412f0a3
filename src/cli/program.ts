import { readVersion } from '#surfaces/docs/client-package/package-file.ts';
import { CliCommand } from './cli-command.ts';
import { CLIENT_COMMANDS, type ClientCommandName } from './client/commands.ts';
import type { Terminal } from './terminal.ts';

/** Loads the module that defines the verbs of a noun, or the noun itself as a command. */
type Load = () => Promise<{ define(command: CliCommand): void }>;

/** A command that the client package has as well. */
function ofClient(name: ClientCommandName): readonly [description: string, load: Load] {
  const [description, load] = CLIENT_COMMANDS[name];
  return [
    description,
    async () => {
      const [{ command: shared }, { defineClientCommand }] = await Promise.all([
        load(),
        import('./integration/client-command.ts'),
      ]);
      return { define: command => defineClientCommand(command, shared) };
    },
  ];
}

/** In the order of the help. */
const NOUNS: Readonly<Record<string, readonly [description: string, load: Load]>> = {
  migrate: ['apply pending migrations to the database', () => import('./migrate.ts')],
  partitions: [
    'what each month of events, deliveries and requests takes',
    () => import('./partitions.ts'),
  ],
  restore: ['restores of the database to an earlier time', () => import('./restore.ts')],
  network: [
    'blockchain networks, their payment windows, and how they are watched',
    () => import('./chains/network.ts'),
  ],
  node: ['nodes of providers, through which chains are watched', () => import('./chains/node.ts')],
  merchant: ['merchants and their settings', () => import('./accounts/merchant.ts')],
  doctor: [
    "what is missing until a merchant's first payment can settle",
    () => import('./doctor.ts'),
  ],
  branch: ['branches of a merchant', () => import('./accounts/branch.ts')],
  address: ['deposit addresses of a branch', () => import('./accounts/address.ts')],
  domain: ['hostnames that a checkout may redirect to', () => import('./accounts/domain.ts')],
  user: [
    'users of a merchant and their keys of the older contract',
    () => import('./accounts/user.ts'),
  ],
  partner: ['partners and their settings', () => import('./accounts/partner.ts')],
  member: ['members of a partner, who hold its keys', () => import('./accounts/member.ts')],
  key: ['API keys of merchants and of partner members', () => import('./keys/key.ts')],
  'master-key': [
    'the master key that secrets are sealed under',
    () => import('./keys/master-key.ts'),
  ],
  payment: [
    'payments with their history, and simulation of those of test merchants',
    () => import('./payments/payment.ts'),
  ],
  clock: [
    'let time pass for one payment at once, where payments are simulated',
    () => import('./payments/clock.ts'),
  ],
  evidence: ['signed documents on payments', () => import('./payments/evidence.ts')],
  export: ["files of a merchant's movements, for its books", () => import('./payments/export.ts')],
  deposit: [
    'on-chain deposits, and the inbox of unmatched ones',
    () => import('./payments/deposit.ts'),
  ],
  finding: [
    'what watchers of chains have found that an operator has to look at',
    () => import('./chains/finding.ts'),
  ],
  webhook: ['webhook endpoints and their deliveries', () => import('./webhooks/webhook.ts')],
  listen: ofClient('listen'),
  events: ofClient('events'),
  resend: ofClient('resend'),
  legacy: ['usage of the older contract', () => import('./keys/legacy.ts')],
  request: ofClient('request'),
  env: [
    'a demo key as variables of a shell, for the examples of the documentation',
    () => import('./env.ts'),
  ],
  simulate: ofClient('simulate'),
  explain: ofClient('explain'),
  conformance: ofClient('conformance'),
  mcp: ofClient('mcp'),
  metrics: ['alerting rules for the metrics of the service', () => import('./metrics.ts')],
  audit: ['the audit log: who changed what, and when', () => import('./audit.ts')],
};

/**
 * Builds the command line. It loads only the noun that `args` begins with, so that help and small
 * commands start fast.
 */
export async function buildProgram(
  args: readonly string[],
  terminal: Terminal,
): Promise<CliCommand> {
  const program = new CliCommand(terminal, 'mp')
    .description('Operates the External Payments Service.')
    .usage('NOUN VERB [flags]')
    .version(readVersion(), '--version', 'print the version of the service')
    .exitOverride()
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.err })
    .showHelpAfterError('Add --help to see the usage.')
    .addHelpText(
      'after',
      '\nExit status: 0 done, 1 refused or failed, 2 wrong usage. With --json, standard output is\n' +
        'exactly one JSON document: the result, or {"error": {"exitStatus", "message"}}. Changes\n' +
        'are written to the audit log under MP_ACTOR, or the name of the operating system user.',
    );
  const noun = nounOf(args);
  for (const [name, [description, load]] of Object.entries(NOUNS)) {
    const command = program.command(name).description(description);
    if (name === noun) (await load()).define(command);
  }
  return program;
}

/** The noun of a command line, or the one that help is asked for. */
function nounOf(args: readonly string[]): string | undefined {
  const [first, second] = args.filter(arg => !arg.startsWith('-'));
  return first === 'help' ? second : first;
}
