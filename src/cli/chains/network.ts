import { type Command, InvalidArgumentError } from 'commander';
import { parseExplorer } from '../../accounts/explorer-url.ts';
import { WINDOW_MINUTES_MAXIMUM } from '../../accounts/networks.ts';
import type { Config } from '../../config/config.ts';
import type { Network } from '../../database/network-tables.ts';
import { listNetworks } from '../../repositories/chains/networks.ts';
import {
  CONFIGURABLE_CONTRACTS,
  configureNetwork,
  DEFAULT_FINALITY,
} from '../../watching/operate/configure-network.ts';
import { requireChain } from '../../watching/operate/node-tools.ts';
import { withSession } from '../accounts/session.ts';
import { printList, printObject } from '../print.ts';
import type { Terminal } from '../terminal.ts';
import { addVerb, integerFrom, type JsonFlag, parseOnOff, requireFlag } from '../values.ts';
import { defineAudit } from './network-audit.ts';
import { defineRescan, defineResume, defineStatus } from './network-status.ts';
import { toolsOf } from './node.ts';

/** `mp network list | set | status | rescan | audit | resume` */
export function define(noun: Command, terminal: Terminal): void {
  addVerb(noun, 'list', 'list all networks').action((flags: JsonFlag) =>
    withSession(terminal, async ({ db, config }) => {
      const networks = (await listNetworks(db)).map(network => networkObject(network, config));
      printList(terminal, flags, networks, [
        'id',
        'name',
        'environment',
        'assetSymbol',
        'windowMinutes',
        'settledBy',
        'isActive',
      ]);
    }),
  );

  addVerb(noun, 'set', 'switch a network on or off for all merchants, or change its settings')
    .argument('<id>', 'network ID, for example btc')
    .option('--active <on|off>', 'whether it is offered to customers', parseOnOff)
    .option(
      '--window-minutes <n>',
      `minutes from choosing the network to expiry, 1 to ${WINDOW_MINUTES_MAXIMUM}`,
      integerFrom(1, WINDOW_MINUTES_MAXIMUM),
    )
    .option(
      '--finality <rule>',
      `when transfers are final: N@CENTS,…,LAST, N blocks below so many cents; or ${DEFAULT_FINALITY}`,
    )
    .option(
      '--contract <address>',
      `the token's contract; for ${CONFIGURABLE_CONTRACTS.join(', ')} alone`,
    )
    .option(
      '--explorer <url>',
      'page of a transaction that customers may open, with {hash} in its place, or off',
      readExplorer,
    )
    .action((id: string, { json, ...flags }: SetFlags, command: Command) => {
      requireFlag(command, ['active', 'windowMinutes', 'finality', 'contract', 'explorer']);
      const change = { ...flags, explorer: flags.explorer === 'off' ? null : flags.explorer };
      return withSession(terminal, async session => {
        const network = await configureNetwork(session, toolsOf(session), id, change);
        printObject(terminal, json ? { json } : {}, networkObject(network, session.config));
      });
    });

  defineStatus(noun, terminal);
  defineRescan(noun, terminal);
  defineAudit(noun, terminal);
  defineResume(noun, terminal);
}

interface SetFlags extends JsonFlag {
  readonly active?: boolean;
  readonly windowMinutes?: number;
  readonly finality?: string;
  readonly contract?: string;
  readonly explorer?: string;
}

/** A chain without a node is simulated only where the process simulates; elsewhere nobody settles it. */
function networkObject(network: Network, { simulation }: Pick<Config, 'simulation'>) {
  const { settled_by: settledBy } = network;
  return {
    id: network.id,
    name: network.name,
    family: network.family,
    environment: network.environment,
    assetSymbol: network.asset_symbol,
    assetName: network.asset_name,
    assetDecimals: network.asset_decimals,
    windowMinutes: network.window_minutes,
    settledBy: settledBy === 'simulation' && !simulation ? 'nobody' : settledBy,
    explorer: network.explorer,
    isActive: network.is_active,
    chain: network.chain,
    contract: network.contract,
    finality: network.finality ?? requireChain(network.chain).finality,
  };
}

function readExplorer(text: string): string {
  if (text === 'off' || parseExplorer(text) !== undefined) return text;
  throw new InvalidArgumentError(
    'Must be an https URL with {hash} in place of the transaction, or off.',
  );
}
