import { Command } from 'commander';
import { readVersion } from '../docs/client-package/package-file.ts';
import type { Terminal } from './terminal.ts';

type Define = (command: Command, terminal: Terminal) => void;

interface Noun {
  readonly name: string;
  readonly description: string;
  /** Defines the noun's verbs, or the noun itself as a command. */
  readonly load: () => Promise<{ define: Define }>;
}

/** In the order of the help. */
const NOUNS: readonly Noun[] = [
  {
    name: 'migrate',
    description: 'apply pending migrations to the database',
    load: () => import('./migrate.ts'),
  },
  {
    name: 'network',
    description: 'blockchain networks, their payment windows, and how they are watched',
    load: () => import('./chains/network.ts'),
  },
  {
    name: 'node',
    description: 'nodes of providers, through which chains are watched',
    load: () => import('./chains/node.ts'),
  },
  {
    name: 'merchant',
    description: 'merchants and their settings',
    load: () => import('./accounts/merchant.ts'),
  },
  {
    name: 'doctor',
    description: "what is missing until a merchant's first payment can settle",
    load: () => import('./doctor.ts'),
  },
  {
    name: 'branch',
    description: 'branches of a merchant',
    load: () => import('./accounts/branch.ts'),
  },
  {
    name: 'address',
    description: 'deposit addresses of a branch',
    load: () => import('./accounts/address.ts'),
  },
  {
    name: 'domain',
    description: 'hostnames that a checkout may redirect to',
    load: () => import('./accounts/domain.ts'),
  },
  {
    name: 'user',
    description: 'users of a merchant and their keys of the older contract',
    load: () => import('./accounts/user.ts'),
  },
  {
    name: 'partner',
    description: 'partners and their settings',
    load: () => import('./accounts/partner.ts'),
  },
  {
    name: 'member',
    description: 'members of a partner, who hold its keys',
    load: () => import('./accounts/member.ts'),
  },
  {
    name: 'key',
    description: 'API keys of merchants and of partner members',
    load: () => import('./keys/key.ts'),
  },
  {
    name: 'master-key',
    description: 'the master key that secrets are sealed under',
    load: () => import('./keys/master-key.ts'),
  },
  {
    name: 'payment',
    description: 'payments with their history, and simulation in development',
    load: () => import('./payments/payment.ts'),
  },
  {
    name: 'evidence',
    description: 'signed documents on payments',
    load: () => import('./payments/evidence.ts'),
  },
  {
    name: 'deposit',
    description: 'on-chain deposits, and the inbox of unmatched ones',
    load: () => import('./payments/deposit.ts'),
  },
  {
    name: 'finding',
    description: 'what watchers of chains have found that an operator has to look at',
    load: () => import('./chains/finding.ts'),
  },
  {
    name: 'webhook',
    description: 'webhook endpoints and their deliveries',
    load: () => import('./webhooks/webhook.ts'),
  },
  {
    name: 'listen',
    description: 'send events of a merchant to a local server as they happen, in development',
    load: () => import('./integration/listen.ts'),
  },
  {
    name: 'legacy',
    description: 'usage of the older contract',
    load: () => import('./keys/legacy.ts'),
  },
  {
    name: 'request',
    description: 'send a signed request to the API and show the response',
    load: () => import('./integration/request.ts'),
  },
  {
    name: 'env',
    description: 'a demo key as variables of a shell, for the examples of the documentation',
    load: () => import('./env.ts'),
  },
  {
    name: 'explain',
    description: 'show how a signature is made, and why a refused one differs',
    load: () => import('./integration/explain.ts'),
  },
  {
    name: 'metrics',
    description: 'alerting rules for the metrics of the service',
    load: () => import('./metrics.ts'),
  },
  {
    name: 'audit',
    description: 'the audit log: who changed what, and when',
    load: () => import('./audit.ts'),
  },
];

/**
 * Builds the command line. It loads only the noun that `args` begins with, so that help and small
 * commands start fast.
 */
export async function buildProgram(args: readonly string[], terminal: Terminal): Promise<Command> {
  const program = new Command('mp')
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
  for (const { name, description, load } of NOUNS) {
    const command = program.command(name).description(description);
    if (name === noun) (await load()).define(command, terminal);
  }
  return program;
}

/** The noun of a command line, or the one that help is asked of. */
function nounOf(args: readonly string[]): string | undefined {
  const [first, second] = args.filter(arg => !arg.startsWith('-'));
  return first === 'help' ? second : first;
}
