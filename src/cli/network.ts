import type { Command } from 'commander';
import { WINDOW_MINUTES_MAXIMUM } from '../accounts/networks.ts';
import type { Network } from '../database/tables.ts';
import { listNetworks } from '../repositories/networks.ts';
import {
  CONFIGURABLE_CONTRACTS,
  configureNetwork,
  DEFAULT_FINALITY,
} from '../watching/configure-network.ts';
import { requireChain } from '../watching/manage-nodes.ts';
import { toolsOf } from './node.ts';
import { printList, printObject } from './print.ts';
import { withSession } from './session.ts';
import type { Terminal } from './terminal.ts';
import { addVerb, integerFrom, type JsonFlag, parseOnOff, requireFlag } from './values.ts';

/** `mp network list | set` */
export function define(noun: Command, terminal: Terminal): void {
  addVerb(noun, 'list', 'list all networks').action((flags: JsonFlag) =>
    withSession(terminal, async ({ db }) => {
      const networks = (await listNetworks(db)).map(networkObject);
      printList(terminal, flags, networks, [
        'id',
        'name',
        'environment',
        'assetSymbol',
        'windowMinutes',
        'isActive',
        'settledBy',
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
    .action((id: string, { json, ...change }: SetFlags, command: Command) => {
      requireFlag(command, ['active', 'windowMinutes', 'finality', 'contract']);
      return withSession(terminal, async session => {
        const network = await configureNetwork(session, toolsOf(session), id, change);
        printObject(terminal, json ? { json } : {}, networkObject(network));
      });
    });
}

interface SetFlags extends JsonFlag {
  readonly active?: boolean;
  readonly windowMinutes?: number;
  readonly finality?: string;
  readonly contract?: string;
}

function networkObject(network: Network) {
  return {
    id: network.id,
    name: network.name,
    family: network.family,
    environment: network.environment,
    assetSymbol: network.asset_symbol,
    assetName: network.asset_name,
    assetDecimals: network.asset_decimals,
    windowMinutes: network.window_minutes,
    isActive: network.is_active,
    chain: network.chain,
    contract: network.contract,
    finality: network.finality ?? requireChain(network.chain).finality,
    settledBy: network.settled_by,
  };
}
