import type { Network } from '../database/tables.ts';
import { updateNetwork } from '../repositories/networks.ts';
import { audited, columnsToSet, OperationRefused, type Operator } from './audited-change.ts';

/** Longest payment window: a day, in minutes. */
export const WINDOW_MINUTES_MAXIMUM = 1440;

/**
 * Switches a network on or off for all merchants, or sets its payment window in minutes.
 * @throws OperationRefused for an unknown network, or when nothing is to be set.
 */
export function setNetwork(
  operator: Operator,
  id: string,
  change: { active?: boolean | undefined; windowMinutes?: number | undefined },
): Promise<Network> {
  const columns = columnsToSet({ is_active: change.active, window_minutes: change.windowMinutes });
  return audited(operator, 'network.set', async tx => {
    const network = await updateNetwork(tx, id, columns);
    if (network === undefined) throw new OperationRefused(`There is no network ${id}.`);
    return { result: network, objectId: id, detail: columns };
  });
}
