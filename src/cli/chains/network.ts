import { InvalidArgumentError } from 'commander';
import { parseExplorer } from '#accounts/explorer-url.ts';
import { type NetworkChange, WINDOW_MINUTES_MAXIMUM } from '#accounts/networks.ts';
import type { Config } from '#config/config.ts';
import {
  CONFIGURABLE_CONTRACTS,
  configureNetwork,
  DEFAULT_FINALITY,
} from '#onchain/watching/operate/configure-network.ts';
import { requireChain } from '#onchain/watching/operate/node-tools.ts';
import { formatBaseUnits } from '#payments/token-amount.ts';
import type { Network } from '#storage/database/network-tables.ts';
import { listNetworks } from '#storage/repositories/chains/networks.ts';
import type { CliCommand } from '../cli-command.ts';
import { integerFrom, parseOnOff } from '../values.ts';
import { defineAudit } from './network-audit.ts';
import { defineRescan, defineResume, defineStatus } from './network-status.ts';
import { toolsOf } from './node.ts';

interface SetFlags extends Pick<NetworkChange, 'active' | 'windowMinutes' | 'contract'> {
  readonly finality?: string;
  readonly explorer?: string;
  readonly leastAmount?: string;
}

/** `mp network list | set | status | rescan | audit | resume` */
export function define(noun: CliCommand): void {
  noun.verb('list', 'list all networks').onDatabase(async ({ db, config, showList }) => {
    const networks = (await listNetworks(db)).map(network => networkObject(network, config));
    showList(networks, [
      ...(['id', 'name', 'environment', 'assetSymbol'] as const),
      ...(['windowMinutes', 'settledBy', 'isActive'] as const),
    ]);
  });

  noun
    .verb('set', 'switch a network on or off for all merchants, or change its settings')
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
    .option(
      '--least-amount <amount>',
      'the least that customers are asked for, as a decimal of the asset; or off for what the chain takes',
    )
    .atLeastOneOf('active', 'windowMinutes', 'finality', 'contract', 'explorer', 'leastAmount')
    .onDatabase(async (session, id: string, flags: SetFlags) => {
      const { active, windowMinutes, finality, contract, explorer: page, leastAmount } = flags;
      const explorer = page === 'off' ? null : page;
      const change = { active, windowMinutes, finality, contract, explorer, leastAmount };
      const network = await configureNetwork(session, toolsOf(session), id, change);
      session.show(networkObject(network, session.config));
    });

  defineStatus(noun);
  defineRescan(noun);
  defineAudit(noun);
  defineResume(noun);
}

/** A chain without a node is simulated only where the process simulates; elsewhere nothing settles it. */
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
    leastAmount:
      network.least_amount === null
        ? null
        : formatBaseUnits(BigInt(network.least_amount), network.asset_decimals),
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
