import type { Command } from 'commander';
import { setNetwork, WINDOW_MINUTES_MAXIMUM } from '../accounts/networks.ts';
import type { Network } from '../database/tables.ts';
import { listNetworks } from '../repositories/networks.ts';
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
      ]);
    }),
  );

  addVerb(noun, 'set', 'switch a network on or off for all merchants, or set its payment window')
    .argument('<id>', 'network ID, for example btc')
    .option('--active <on|off>', 'whether it is offered to customers', parseOnOff)
    .option(
      '--window-minutes <n>',
      `minutes from choosing the network to expiry, 1 to ${WINDOW_MINUTES_MAXIMUM}`,
      integerFrom(1, WINDOW_MINUTES_MAXIMUM),
    )
    .action((id: string, flags: SetFlags, command: Command) => {
      requireFlag(command, ['active', 'windowMinutes']);
      return withSession(terminal, async session => {
        printObject(terminal, flags, networkObject(await setNetwork(session, id, flags)));
      });
    });
}

interface SetFlags extends JsonFlag {
  readonly active?: boolean;
  readonly windowMinutes?: number;
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
  };
}
