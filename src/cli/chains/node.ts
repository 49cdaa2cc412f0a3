import type { Command } from 'commander';
import type { NodeRole } from '../../database/watching-tables.ts';
import { listNodes } from '../../repositories/chains/nodes.ts';
import {
  addNode,
  REQUESTS_PER_SECOND,
  removeNode,
  setNode,
  testNode,
} from '../../watching/operate/manage-nodes.ts';
import { type NodeTools, requireChain } from '../../watching/operate/node-tools.ts';
import { type Session, withSession } from '../accounts/session.ts';
import { printList, printObject } from '../print.ts';
import { readSecretFlag } from '../secret-flag.ts';
import type { Terminal } from '../terminal.ts';
import {
  addVerb,
  choice,
  integerFrom,
  type JsonFlag,
  parseId,
  parseName,
  requireFlag,
} from '../values.ts';
import { nodeObject, verifiedNodeObject } from './node-object.ts';

const ROLES: readonly NodeRole[] = ['primary', 'check'];
const REQUESTS_MAXIMUM = 10_000;
const CALLS_MAXIMUM = 1_000_000_000;

interface SetFlags extends JsonFlag {
  readonly role?: NodeRole;
  readonly requestsPerSecond?: number;
  readonly callsPerDay?: number | 'none';
}

interface AddFlags extends SetFlags {
  readonly url: string;
  readonly secretHeader?: string[];
  readonly name?: string;
}

/** `mp node add | list | test | set | remove` */
export function define(noun: Command, terminal: Terminal): void {
  addSettings(addVerb(noun, 'add', 'verify a node and let a chain be watched through it'))
    .argument('<chain>', 'chain ID, which is that of its native network, for example eth')
    .requiredOption('--url <url|@file>', 'URL, or a file that contains it; shown nowhere')
    .option(
      "--secret-header <'name: value'|@file>",
      'header of each request, or a file that contains it; may be repeated; shown nowhere',
      collect,
    )
    .option('--name <label>', "what it is called (default: the URL's host)", parseName)
    .action((chain: string, { url, secretHeader = [], name, ...flags }: AddFlags) =>
      withSession(terminal, async session => {
        const headers = secretHeader.map(header => readSecretFlag(header, 'A header'));
        const added = await addNode(session, toolsOf(session), {
          chain,
          url: await readSecretFlag(url, 'The URL'),
          headers: await Promise.all(headers),
          role: flags.role,
          label: name,
          requestsPerSecond: flags.requestsPerSecond,
          callsPerDay: callsPerDayOf(flags),
        });
        printObject(terminal, flags, verifiedNodeObject(added));
      }),
    );

  addVerb(noun, 'list', 'list nodes in the order in which they are asked')
    .option('--chain <id>', 'only nodes of this chain')
    .action(({ chain, ...flags }: JsonFlag & { chain?: string }) =>
      withSession(terminal, async ({ db }) => {
        if (chain !== undefined) requireChain(chain);
        const nodes = (await listNodes(db, chain)).map(nodeObject);
        const columns = [
          'id',
          'chain',
          'label',
          'role',
          'requestsPerSecond',
          'callsPerDay',
          'verifiedAt',
        ] as const;
        printList(terminal, flags, nodes, columns);
      }),
    );

  addVerb(noun, 'test', 'verify a node again, and show what it is able to do')
    .argument('<id>', 'node ID', parseId)
    .action((id: string, flags: JsonFlag) =>
      withSession(terminal, async session => {
        const tested = await testNode(session, toolsOf(session), id);
        printObject(terminal, flags, verifiedNodeObject(tested));
      }),
    );

  addSettings(addVerb(noun, 'set', 'change how a node is asked'))
    .argument('<id>', 'node ID', parseId)
    .action((id: string, flags: SetFlags, command: Command) => {
      requireFlag(command, ['role', 'requestsPerSecond', 'callsPerDay']);
      const { role, requestsPerSecond } = flags;
      const change = { role, requestsPerSecond, callsPerDay: callsPerDayOf(flags) };
      return withSession(terminal, async session => {
        const node = await setNode(session, toolsOf(session), id, change);
        printObject(terminal, flags, nodeObject(node));
      });
    });

  addVerb(noun, 'remove', 'remove a node; without its last one, a chain is not watched any more')
    .argument('<id>', 'node ID', parseId)
    .action((id: string, flags: JsonFlag) =>
      withSession(terminal, async session => {
        const node = await removeNode(session, id);
        printObject(terminal, flags, nodeObject(node), 'Removed.');
      }),
    );
}

/** What nodes are verified with, in the configured environment. */
export function toolsOf({ keyring, config }: Session): NodeTools {
  return { keyring, isProduction: config.environment === 'production' };
}

function addSettings(command: Command): Command {
  return command
    .addOption(choice('--role <role>', 'what it is asked for: to watch, or to confirm', ROLES))
    .option(
      '--requests-per-second <n>',
      `calls a second, those of batches included, 1 to ${REQUESTS_MAXIMUM} (default: ${REQUESTS_PER_SECOND})`,
      integerFrom(1, REQUESTS_MAXIMUM),
    )
    .option(
      '--calls-per-day <n|none>',
      'calls that its plan has for a day (UTC), those of all processes together (default: none)',
      parseCallsPerDay,
    );
}

function parseCallsPerDay(text: string): number | 'none' {
  return text === 'none' ? text : integerFrom(1, CALLS_MAXIMUM)(text);
}

/** null for no limit, undefined where nothing is said of it. */
function callsPerDayOf({ callsPerDay }: SetFlags): number | null | undefined {
  return callsPerDay === 'none' ? null : callsPerDay;
}

function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}
