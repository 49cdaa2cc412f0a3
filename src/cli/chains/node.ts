import {
  addNode,
  REQUESTS_PER_SECOND,
  removeNode,
  setNode,
  testNode,
  type VerifiedNode,
} from '#onchain/watching/operate/manage-nodes.ts';
import { type NodeTools, requireChain } from '#onchain/watching/operate/node-tools.ts';
import { describeIdentity } from '#onchain/watching/verify-identity.ts';
import type { Network } from '#storage/database/network-tables.ts';
import type { NodeRole, NodeRow } from '#storage/database/watching-tables.ts';
import { listNodes } from '#storage/repositories/chains/nodes.ts';
import type { CliCommand } from '../cli-command.ts';
import { readSecretFlag } from '../named-file.ts';
import type { Session } from '../session.ts';
import { choice, integerFrom, parseId, parseName } from '../values.ts';

const ROLES: readonly NodeRole[] = ['primary', 'check'];
const REQUESTS_MAXIMUM = 10_000;
const CALLS_MAXIMUM = 1_000_000_000;

interface SetFlags {
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
export function define(noun: CliCommand): void {
  addSettings(noun.verb('add', 'verify a node and let a chain be watched through it'))
    .argument('<chain>', 'chain ID, which is that of its native network, for example eth')
    .requiredOption('--url <url|@file>', 'URL, or a file that contains it; shown nowhere')
    .option(
      "--secret-header <'name: value'|@file>",
      'header of each request, or a file that contains it; may be repeated; shown nowhere',
      (value: string, before: string[] = []) => [...before, value],
    )
    .option('--name <label>', "what it is called (default: the URL's host)", parseName)
    .onDatabase(async (session, chain: string, { url, secretHeader = [], ...flags }: AddFlags) => {
      const headers = secretHeader.map(header => readSecretFlag(header, 'A header'));
      const added = await addNode(session, toolsOf(session), {
        chain,
        url: await readSecretFlag(url, 'The URL'),
        headers: await Promise.all(headers),
        label: flags.name,
        ...settingsOf(flags),
      });
      session.show(verifiedNodeObject(added));
    });

  noun
    .verb('list', 'list nodes in the order in which they are asked')
    .option('--chain <id>', 'only nodes of this chain')
    .onDatabase(async ({ db, showList }, { chain }: { chain?: string }) => {
      if (chain !== undefined) requireChain(chain);
      showList((await listNodes(db, chain)).map(nodeObject), [
        ...(['id', 'chain', 'label', 'role'] as const),
        ...(['requestsPerSecond', 'callsPerDay', 'verifiedAt'] as const),
      ]);
    });

  noun
    .verb('test', 'verify a node again, and show what it is able to do')
    .argument('<id>', 'node ID', parseId)
    .onDatabase(async (session, id: string) => {
      session.show(verifiedNodeObject(await testNode(session, toolsOf(session), id)));
    });

  addSettings(noun.verb('set', 'change how a node is asked'))
    .argument('<id>', 'node ID', parseId)
    .atLeastOneOf('role', 'requestsPerSecond', 'callsPerDay')
    .onDatabase(async (session, id: string, flags: SetFlags) => {
      const node = await setNode(session, toolsOf(session), id, settingsOf(flags));
      session.show(nodeObject(node));
    });

  noun
    .verb('remove', 'remove a node; without its last one, a chain is not watched any more')
    .argument('<id>', 'node ID', parseId)
    .onDatabase(async (session, id: string) => {
      session.show(nodeObject(await removeNode(session, id)), 'Removed.');
    });
}

/** What nodes are verified with, in the configured environment. */
export function toolsOf({ keyring, config }: Session): NodeTools {
  return { keyring, isProduction: config.environment === 'production' };
}

function addSettings(command: CliCommand): CliCommand {
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
      text => (text === 'none' ? text : integerFrom(1, CALLS_MAXIMUM)(text)),
    );
}

/** `none` means no limit. */
function settingsOf({ role, requestsPerSecond, callsPerDay }: SetFlags) {
  return { role, requestsPerSecond, callsPerDay: callsPerDay === 'none' ? null : callsPerDay };
}

/** A node as the command line shows it: never its URL or headers. */
function nodeObject(node: NodeRow) {
  return {
    id: node.id,
    chain: node.chain,
    label: node.label,
    role: node.role,
    requestsPerSecond: node.requests_per_second,
    callsPerDay: node.calls_per_day,
    abilities: node.abilities,
    verifiedAt: node.verified_at,
    createdAt: node.created_at,
  };
}

/** A node with the results of its verification. */
function verifiedNodeObject({ node, report, networks }: VerifiedNode) {
  return {
    ...nodeObject(node),
    identity: describeIdentity(report.identity),
    height: report.height,
    networks: networks.map(network => ({
      id: network.id,
      settledBy: network.settled_by,
      problem: problemOf(network, report.networks.find(({ id }) => id === network.id)?.problem),
    })),
  };
}

function problemOf({ settled_by, chain }: Network, found?: string | null): string | null {
  if (settled_by === 'chain') return null;
  return found ?? (settled_by === 'nobody' ? `${chain} has no primary node` : null);
}
