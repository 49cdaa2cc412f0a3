import { Command } from 'commander';
import type { Terminal } from './terminal.ts';

type Define = (command: Command, terminal: Terminal) => void;

interface Noun {
  readonly name: string;
  readonly description: string;
  /** Adds the verbs, or makes the noun a command itself. Loaded only when the noun is named. */
  readonly load: () => Promise<{ define: Define }>;
}

/** Every first word of the command line, in the order of the help. */
const NOUNS: readonly Noun[] = [
  {
    name: 'migrate',
    description: 'bring the database to the newest version',
    load: () => import('./migrate.ts'),
  },
  {
    name: 'network',
    description: 'blockchain networks: which are offered, and for how long a payment waits',
    load: () => import('./network.ts'),
  },
  {
    name: 'merchant',
    description: 'merchants: who is paid',
    load: () => import('./merchant.ts'),
  },
  {
    name: 'branch',
    description: 'branches of a merchant',
    load: () => import('./branch.ts'),
  },
  {
    name: 'address',
    description: 'deposit addresses: where payments on a network go',
    load: () => import('./address.ts'),
  },
  {
    name: 'domain',
    description: 'redirect domains: where a checkout may lead back to',
    load: () => import('./domain.ts'),
  },
  {
    name: 'user',
    description: 'users of a merchant, and their keys of the older contract',
    load: () => import('./user.ts'),
  },
  {
    name: 'partner',
    description: 'partners, who look after merchants',
    load: () => import('./partner.ts'),
  },
  {
    name: 'member',
    description: 'members of a partner, whose keys act for it',
    load: () => import('./member.ts'),
  },
  {
    name: 'key',
    description: 'API keys of merchants and of partner members',
    load: () => import('./key.ts'),
  },
  {
    name: 'payment',
    description:
      'payments: one with all that happened to it, and playing one through in development',
    load: () => import('./payment.ts'),
  },
  {
    name: 'deposit',
    description: 'transfers that arrived on chain, and the inbox of those no payment took',
    load: () => import('./deposit.ts'),
  },
  {
    name: 'webhook',
    description: "webhook endpoints: where a merchant's events are sent",
    load: () => import('./webhook.ts'),
  },
  {
    name: 'legacy',
    description: 'the older contract: who still uses it',
    load: () => import('./legacy.ts'),
  },
  {
    name: 'request',
    description: 'send one signed request to the API and show the answer',
    load: () => import('./request.ts'),
  },
  {
    name: 'explain',
    description: 'what a signature is made of, and why one that was refused differs',
    load: () => import('./explain.ts'),
  },
  {
    name: 'metrics',
    description: 'what to be called for: alerting rules over the metrics of the service',
    load: () => import('./metrics.ts'),
  },
  {
    name: 'audit',
    description: 'the audit log: who changed what, and when',
    load: () => import('./audit.ts'),
  },
];

/**
 * The grammar of the command line. A noun gets its verbs only when `args` names it, so that help and
 * light commands start without loading the rest.
 */
export async function buildProgram(args: readonly string[], terminal: Terminal): Promise<Command> {
  const program = new Command('mp')
    .description('Operates the External Payments Service.')
    .usage('NOUN VERB [flags]')
    .exitOverride()
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.err })
    .showHelpAfterError('Add --help to see the usage.')
    .addHelpText(
      'after',
      '\nExit status: 0 done, 1 refused or failed, 2 wrong usage. With --json, standard output is\n' +
        'exactly one JSON document. Changes are written to the audit log under MP_ACTOR, or the\n' +
        'name of the operating system user.',
    );
  for (const { name, description, load } of NOUNS) {
    const command = program.command(name).description(description);
    if (args.includes(name)) (await load()).define(command, terminal);
  }
  return program;
}
